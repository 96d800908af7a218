/// Functions in MLIR as graphs (docs/MLIR.md).
///
///     RK_TRY(scores, mlir::read(text, {.function = "scores"}));
///     RK_TRY(function, runtime.compile(scores));
///
/// MLIR itself reads the text, or the bytecode, with its parser and its passes. Its library is
/// loaded at the first use; a program that reads no MLIR needs none.
///
/// Threading: any thread. A call has a context of its own, without threads.
/// Ownership: the graph owns all that it needs; the text may go.
/// Errors: library_not_found, with every path that was tried and why it would not do;
/// symbol_not_found; unsupported (a version of MLIR that is neither 19 nor 22); invalid_argument
/// (text that MLIR refuses, with its own words and the place; no such function; several, and none
/// is named; more than one block; an extent that is open; a state that is no argument, or no
/// result); E6003 with every op that is not read and its place; E2005 (element types); those of
/// Graph.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "ringkernel/diagnostic.hpp"
#include "ringkernel/graph.hpp"
#include "ringkernel/result.hpp"
#include "ringkernel/runtime.hpp"

namespace ringkernel::mlir {

/// How a module is read.
struct Options {
  /// Of the graph, and of the text in errors; empty: the function's name, and "-".
  std::string name{};
  /// Which function; empty: the only one that has a body and is public.
  std::string function{};
  /// Arguments that the function keeps, and the results that they become for the next execution,
  /// both by their places from 0 on: the state of a recurrent network. They are no inputs then, and
  /// no outputs; zeros at first.
  std::map<std::size_t, std::size_t> state{};
  /// The library with MLIR's C API; empty: it is looked for.
  std::string library{};
  /// Gets everything that is said about the text, warnings too; may be null.
  Diagnostics* diagnostics = nullptr;
};

/// Inputs in the order of the function's arguments, outputs in that of its results. A memref that
/// the function writes is an output, behind the results; it is an input as well where the function
/// reads it before it has written the whole of it.
[[nodiscard]] Result<Graph> read(std::string_view text, const Options& options = {});

/// The function of a text for inputs of these shapes: read and compiled at the first use, then
/// remembered as RingKernelRuntime::get_or_compile says; the graph also on the disk, with built
/// programs, for later processes. What is remembered needs no MLIR and has no diagnostics. The text
/// is the key, so a call takes the time to hash it. Errors: those of `read` and of
/// get_or_compile.
[[nodiscard]] Result<CompiledFunction> get_or_compile(RingKernelRuntime& runtime,
                                                      std::string_view text,
                                                      std::span<const TensorDesc> inputs,
                                                      const Options& options = {},
                                                      const FunctionOptions& function_options = {});

/// What reads the text.
struct LibraryInfo {
  std::string path{};
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
};

/// Finds and loads it, as `read` does.
[[nodiscard]] Result<LibraryInfo> find_library(const std::string& path = {});

}  // namespace ringkernel::mlir
