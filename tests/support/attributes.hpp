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

[[nodiscard]] inline OpAttributes permuting(IntList permutation) {
  OpAttributes attributes;
  attributes.permutation = permutation;
  return attributes;
}

[[nodiscard]] inline OpAttributes indexing(IntList indices) {
  OpAttributes attributes;
  attributes.indices = indices;
  return attributes;
}

[[nodiscard]] inline OpAttributes slicing(const SliceRanges& ranges) {
  OpAttributes attributes;
  attributes.slice = ranges;
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

[[nodiscard]] inline OpAttributes comparing(Comparison comparison) {
  OpAttributes attributes;
  attributes.comparison = comparison;
  return attributes;
}

[[nodiscard]] inline OpAttributes casting(DType dtype) {
  OpAttributes attributes;
  attributes.dtype = dtype;
  return attributes;
}

[[nodiscard]] inline OpAttributes enclosing(IntList low, IntList high) {
  OpAttributes attributes;
  attributes.low = low;
  attributes.high = high;
  return attributes;
}

[[nodiscard]] inline OpAttributes grouped(std::int64_t groups, OpAttributes attributes) {
  attributes.groups = groups;
  return attributes;
}

[[nodiscard]] inline OpAttributes pooling(IntList window, OpAttributes attributes) {
  attributes.window = window;
  return attributes;
}

}  // namespace ringkernel::test
