/// The ops of dialects arith and math, on numbers or on whole tensors, element by element.
///
/// Threading: any thread; pure but for the builder's graph.
/// Errors: E6003, with what the op asks that we do not have; those of Builder.
#pragma once

#include <string_view>
#include <vector>

#include "mlir/ir.hpp"
#include "mlir/value.hpp"

namespace ringkernel::mlir {

[[nodiscard]] bool is_scalar_op(std::string_view name);

/// `operands`: as many as the op has, of the same rank, with dims that are alike or 1.
[[nodiscard]] Result<Value> apply_scalar_op(const Ir& ir, Builder& builder, MlirOperation operation,
                                            const std::vector<Value>& operands);

}  // namespace ringkernel::mlir
