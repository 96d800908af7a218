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

[[nodiscard]] inline OpAttributes sliding(IntList strides, Padding padding = Padding::valid,
                                          IntList pads = {}) {
  OpAttributes attributes;
  attributes.strides = strides;
  attributes.padding = padding;
  attributes.pads = pads;
  return attributes;
}

}  // namespace ringkernel::test
