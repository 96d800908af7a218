/// Attributes of one kind in one expression.
#pragma once

#include "ringkernel/op.hpp"

namespace ringkernel::test {

[[nodiscard]] inline OpAttributes reducing(IntList axes, bool keepdims = false) {
  OpAttributes attributes;
  attributes.axes = axes;
  attributes.keepdims = keepdims;
  return attributes;
}

[[nodiscard]] inline OpAttributes shaped(IntList shape) {
  OpAttributes attributes;
  attributes.shape = shape;
  return attributes;
}

}  // namespace ringkernel::test
