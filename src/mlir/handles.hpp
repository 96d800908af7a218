/// MLIR's C types, laid out as in its headers (mlir-c/, versions 19 and 22), which nobody needs in
/// order to build us. A test holds them beside the real ones.
///
/// Threading: values; what they name is safe as MLIR says, for one thread at a time.
/// Ownership: none. They are copied like the pointers that they are; module.hpp owns.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringkernel::mlir {

#define RK_MLIR_HANDLE(name, pointer)                                      \
  struct name {                                                            \
    pointer ptr = nullptr;                                                 \
    [[nodiscard]] bool is_null() const noexcept { return ptr == nullptr; } \
  }

RK_MLIR_HANDLE(MlirContext, void*);
RK_MLIR_HANDLE(MlirDialectRegistry, void*);
RK_MLIR_HANDLE(MlirDiagnostic, void*);
RK_MLIR_HANDLE(MlirPassManager, void*);
RK_MLIR_HANDLE(MlirOpPassManager, void*);
RK_MLIR_HANDLE(MlirOperation, void*);
RK_MLIR_HANDLE(MlirOpOperand, void*);
RK_MLIR_HANDLE(MlirRegion, void*);
RK_MLIR_HANDLE(MlirBlock, void*);
RK_MLIR_HANDLE(MlirModule, const void*);
RK_MLIR_HANDLE(MlirLocation, const void*);
RK_MLIR_HANDLE(MlirIdentifier, const void*);
RK_MLIR_HANDLE(MlirValue, const void*);
RK_MLIR_HANDLE(MlirType, const void*);
RK_MLIR_HANDLE(MlirAttribute, const void*);
RK_MLIR_HANDLE(MlirAffineMap, const void*);
RK_MLIR_HANDLE(MlirAffineExpr, const void*);
#undef RK_MLIR_HANDLE

/// Borrowed characters, without a zero at their end.
struct MlirStringRef {
  const char* data = nullptr;
  std::size_t length = 0;
};

struct MlirLogicalResult {
  std::int8_t value = 0;  ///< 0: failed
};

// NOLINTBEGIN(readability-identifier-naming): as MLIR names them.
enum MlirDiagnosticSeverity : unsigned {
  MlirDiagnosticError,
  MlirDiagnosticWarning,
  MlirDiagnosticNote,
  MlirDiagnosticRemark,
};
// NOLINTEND(readability-identifier-naming)

using MlirStringCallback = void (*)(MlirStringRef, void*);
using MlirDiagnosticHandler = MlirLogicalResult (*)(MlirDiagnostic, void*);
using MlirDiagnosticHandlerID = std::uint64_t;

}  // namespace ringkernel::mlir
