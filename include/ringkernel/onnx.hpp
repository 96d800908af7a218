/// Models in ONNX files as graphs (docs/ONNX.md).
///
///     RK_TRY(model, onnx::read_file("scores.onnx", {.outputs = {"probabilities"}}));
///     RK_TRY(function, runtime.compile(model));
///
/// Threading: any thread; pure but for the file that is read.
/// Ownership: the graph owns all that it needs; the file may go.
/// Errors: truncated_message, malformed_message (what is no ONNX file); invalid_argument (an output
/// or an extent that the options name wrongly, an extent that is open); E6003 with every node whose
/// op is not read, or the first one whose attributes or operands are not; limit_exceeded (constants
/// many times as large as the file's); E2005 (element types); those of Graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ringkernel/graph.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::onnx {

/// How a file is read.
struct Options {
  /// Of the graph; empty: as the file calls it.
  std::string name{};
  /// Extents of inputs by their names. Needed where the file leaves extents open.
  std::map<std::string, std::vector<std::int64_t>, std::less<>> inputs{};
  /// Inputs that the function keeps, and the outputs that they become for the next execution: the
  /// state of a recurrent network. They are no inputs then, and outputs only where
  /// `outputs` names them; zeros at first.
  std::map<std::string, std::string, std::less<>> state{};
  /// Which outputs, in this order; empty: all that are no state, in the file's order. What they do
  /// not depend on is left out, and need not be known.
  std::vector<std::string> outputs{};
};

/// Inputs and outputs in the order of the file, or of `outputs`; without inputs that no output
/// depends on.
[[nodiscard]] Result<Graph> read(std::span<const std::byte> file, const Options& options = {});
/// Also invalid_argument for a file that cannot be read.
[[nodiscard]] Result<Graph> read_file(const std::string& path, const Options& options = {});

}  // namespace ringkernel::onnx
