/// Every op of the table by its definition, in plain C++ and double precision: what the kernels are
/// compared with. Written from docs/OPS.md, never from a kernel; slow and simple on purpose.
///
/// Errors: none. Callers pass operands that the op accepts.
#pragma once

#include <span>
#include <vector>

#include "ringkernel/op.hpp"

namespace ringkernel::test {

/// A tensor of exact numbers; f32 elements are represented without loss.
struct Values {
  Shape shape;
  std::vector<double> elements;
};

/// The result of `op`, its shape included, which is derived here and not by `infer`.
[[nodiscard]] Values reference(Op op, std::span<const Values> inputs,
                               const OpAttributes& attributes);

}  // namespace ringkernel::test
