/// The library with MLIR's C API: found, loaded and checked once in a process.
///
/// Threading: any thread.
/// Ownership: a library stays loaded for the life of the process.
/// Errors: library_not_found, with every path that was tried and why it would not do;
/// symbol_not_found; unsupported, for a version that is neither 19 nor 22.
#pragma once

#include <cstdint>
#include <string>

#include "mlir/handles.hpp"
#include "ringkernel/mlir.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::mlir {

/// The functions of api.def, under their names.
struct Api {
#define RK_MLIR(result, name, arguments) result(*name) arguments = nullptr;
#include "mlir/api.def"
#undef RK_MLIR
};

struct Library {
  Api api;
  LibraryInfo info;

  /// The one at `path`, or, if that is empty, the first that is found: in `MLIR_LIBRARY_PATH`,
  /// beside this library, and where the system looks (docs/MLIR.md). One that was found is
  /// remembered.
  [[nodiscard]] static Result<const Library*> find(const std::string& path);
};

}  // namespace ringkernel::mlir
