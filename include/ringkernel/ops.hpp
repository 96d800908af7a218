/// One function per op that builds its `Request`. Nothing is checked or copied here: the kernel
/// that takes the request checks it (E-codes in docs/OPS.md) before anything reaches a ring.
///
/// Threading: any thread; pure.
/// Ownership: the result borrows the operands' elements; see message.hpp.
#pragma once

#include "ringkernel/message.hpp"

namespace ringkernel::ops {

namespace detail {
[[nodiscard]] inline Request unary(Op op, const TensorView& x) noexcept {
  Request request;
  request.op = op;
  request.input_count = 1;
  request.inputs[0] = x;
  return request;
}
[[nodiscard]] inline Request binary(Op op, const TensorView& a, const TensorView& b) noexcept {
  Request request = unary(op, a);
  request.input_count = 2;
  request.inputs[1] = b;
  return request;
}
}  // namespace detail

/// Elementwise with broadcasting; integers wrap.
[[nodiscard]] inline Request add(const TensorView& a, const TensorView& b) noexcept {
  return detail::binary(Op::add, a, b);
}
/// The product, as `add`.
[[nodiscard]] inline Request mul(const TensorView& a, const TensorView& b) noexcept {
  return detail::binary(Op::mul, a, b);
}
/// The difference, as `add`.
[[nodiscard]] inline Request sub(const TensorView& a, const TensorView& b) noexcept {
  return detail::binary(Op::sub, a, b);
}
/// The quotient, as `add`.
[[nodiscard]] inline Request div(const TensorView& a, const TensorView& b) noexcept {
  return detail::binary(Op::div, a, b);
}
/// The larger and the smaller of both, with broadcasting; b where they are equal; NaN if one is.
[[nodiscard]] inline Request max(const TensorView& a, const TensorView& b) noexcept {
  return detail::binary(Op::max, a, b);
}
/// As `max`.
[[nodiscard]] inline Request min(const TensorView& a, const TensorView& b) noexcept {
  return detail::binary(Op::min, a, b);
}
/// 1 where it holds, else 0, as i32, with broadcasting. NaN is only `not_equal`, to all.
[[nodiscard]] inline Request compare(const TensorView& a, const TensorView& b,
                                     Comparison comparison) noexcept {
  Request request = detail::binary(Op::compare, a, b);
  request.attributes.comparison = comparison;
  return request;
}
/// `a` where `condition`, which is i32, is not 0, and `b` elsewhere; all three broadcast.
[[nodiscard]] inline Request select(const TensorView& condition, const TensorView& a,
                                    const TensorView& b) noexcept {
  Request request = detail::binary(Op::select, condition, a);
  request.input_count = 3;
  request.inputs[2] = b;
  return request;
}
/// x if x > 0, else +0 (NaN and -0 give +0).
[[nodiscard]] inline Request relu(const TensorView& x) noexcept {
  return detail::unary(Op::relu, x);
}
/// -x: the sign bit flipped, of NaN as well.
[[nodiscard]] inline Request neg(const TensorView& x) noexcept { return detail::unary(Op::neg, x); }
/// e to the power of x.
[[nodiscard]] inline Request exp(const TensorView& x) noexcept { return detail::unary(Op::exp, x); }
/// Natural logarithm; NaN below 0, -infinity at 0.
[[nodiscard]] inline Request log(const TensorView& x) noexcept { return detail::unary(Op::log, x); }
/// The square root, rounded correctly; NaN below 0.
[[nodiscard]] inline Request sqrt(const TensorView& x) noexcept {
  return detail::unary(Op::sqrt, x);
}
/// The hyperbolic tangent, and the error function: from -1 to 1.
[[nodiscard]] inline Request tanh(const TensorView& x) noexcept {
  return detail::unary(Op::tanh, x);
}
/// As `tanh`.
[[nodiscard]] inline Request erf(const TensorView& x) noexcept { return detail::unary(Op::erf, x); }
/// [..., M, K] x [..., K, N] -> [..., M, N]; batch dims broadcast.
[[nodiscard]] inline Request matmul(const TensorView& a, const TensorView& b) noexcept {
  return detail::binary(Op::matmul, a, b);
}
/// [n] x [n] -> [], [m, n] x [n] -> [m], [m] x [m, n] -> [n], and matmul of matrices.
[[nodiscard]] inline Request dot(const TensorView& a, const TensorView& b) noexcept {
  return detail::binary(Op::dot, a, b);
}
/// Of one `conv2d`.
struct Conv2dOptions {
  IntList strides = {1, 1};  ///< vertical, horizontal
  Padding padding = Padding::valid;
  IntList pads = {};        ///< with Padding::custom: top, bottom, left, right
  std::int64_t groups = 1;  ///< of channels, each with outputs of its own
};
/// Images [N, H, W, C] x filter [rows, columns, C / groups, outputs] -> [N, H', W', outputs]. With
/// as many groups as channels and outputs it is depthwise.
[[nodiscard]] inline Request conv2d(const TensorView& images, const TensorView& filter,
                                    const Conv2dOptions& options = {}) noexcept {
  Request request = detail::binary(Op::conv2d, images, filter);
  request.attributes.strides = options.strides;
  request.attributes.padding = options.padding;
  request.attributes.pads = options.pads;
  request.attributes.groups = options.groups;
  return request;
}
/// Of one pooling op.
struct PoolOptions {
  IntList strides = {1, 1};  ///< vertical, horizontal
  Padding padding = Padding::valid;
  IntList pads = {};  ///< with Padding::custom: top, bottom, left, right; less than the window
};
/// The largest of each window of images [N, H, W, C], channel by channel -> [N, H', W', C]. NaN
/// where the window has one; padding takes no part.
[[nodiscard]] inline Request max_pool(const TensorView& images, IntList window,
                                      const PoolOptions& options = {}) noexcept {
  Request request = detail::unary(Op::max_pool, images);
  request.attributes.window = window;
  request.attributes.strides = options.strides;
  request.attributes.padding = options.padding;
  request.attributes.pads = options.pads;
  return request;
}
/// Over `axes`, each in [-rank, rank); empty = all axes, result rank 0 whatever `keepdims` says.
[[nodiscard]] inline Request sum(const TensorView& x, IntList axes,
                                 bool keepdims = false) noexcept {
  Request request = detail::unary(Op::sum, x);
  request.attributes.axes = axes;
  request.attributes.keepdims = keepdims;
  return request;
}
/// The mean, as `sum`.
[[nodiscard]] inline Request mean(const TensorView& x, IntList axes,
                                  bool keepdims = false) noexcept {
  Request request = sum(x, axes, keepdims);
  request.op = Op::mean;
  return request;
}
/// The largest; NaN if one is.
[[nodiscard]] inline Request reduce_max(const TensorView& x, IntList axes,
                                        bool keepdims = false) noexcept {
  Request request = sum(x, axes, keepdims);
  request.op = Op::reduce_max;
  return request;
}
/// exp(x), divided by its sum along `axes`; large x do no harm. Empty = all axes.
[[nodiscard]] inline Request softmax(const TensorView& x, IntList axes = {-1}) noexcept {
  Request request = sum(x, axes);
  request.op = Op::softmax;
  return request;
}
/// The sum of all elements.
[[nodiscard]] inline Request sum_all(const TensorView& x) noexcept {
  return detail::unary(Op::sum_all, x);
}
/// The mean of all elements.
[[nodiscard]] inline Request mean_all(const TensorView& x) noexcept {
  return detail::unary(Op::mean_all, x);
}
/// Same elements, new shape; at most one extent may be -1.
[[nodiscard]] inline Request reshape(const TensorView& x, IntList shape) noexcept {
  Request request = detail::unary(Op::reshape, x);
  request.attributes.shape = shape;
  return request;
}
/// Inserts dims of extent 1: `axes` are dims of the result.
[[nodiscard]] inline Request expand_dims(const TensorView& x, IntList axes) noexcept {
  Request request = detail::unary(Op::expand_dims, x);
  request.attributes.axes = axes;
  return request;
}
/// Removes the dims `axes`, which have extent 1; empty = all that have.
[[nodiscard]] inline Request squeeze(const TensorView& x, IntList axes = {}) noexcept {
  Request request = expand_dims(x, axes);
  request.op = Op::squeeze;
  return request;
}
/// Dim d of the result is dim `permutation[d]` of `x`.
[[nodiscard]] inline Request transpose(const TensorView& x, IntList permutation) noexcept {
  Request request = detail::unary(Op::transpose, x);
  request.attributes.permutation = permutation;
  return request;
}
/// One element, rank 0.
[[nodiscard]] inline Request index(const TensorView& x, IntList indices) noexcept {
  Request request = detail::unary(Op::index, x);
  request.attributes.indices = indices;
  return request;
}
/// In each dim the elements from its start on, step by step, below its end.
[[nodiscard]] inline Request slice(const TensorView& x, const SliceRanges& ranges) noexcept {
  Request request = detail::unary(Op::slice, x);
  request.attributes.slice = ranges;
  return request;
}
/// Rows of `x`, which are its parts along dim 0, in the order of `indices` (i32 or i64, any rank).
/// An index out of range is found where the op runs: E6001, and nothing is written.
[[nodiscard]] inline Request gather(const TensorView& x, const TensorView& indices) noexcept {
  return detail::binary(Op::gather, x, indices);
}
/// `b` behind `a` along dim `axis`, in [-rank, rank); their other extents agree.
[[nodiscard]] inline Request concat(const TensorView& a, const TensorView& b,
                                    std::int64_t axis) noexcept {
  Request request = detail::binary(Op::concat, a, b);
  request.attributes.axes = {axis};
  return request;
}
/// `x` with low[d] elements before it and high[d] behind it in each dim d, all the first element of
/// `value`, which has x's element type. Counts from 0 on.
[[nodiscard]] inline Request pad(const TensorView& x, const TensorView& value, IntList low,
                                 IntList high) noexcept {
  Request request = detail::binary(Op::pad, x, value);
  request.attributes.low = low;
  request.attributes.high = high;
  return request;
}
/// The same numbers as `dtype`. f32 to integers: towards 0, NaN as 0, beyond the range its end.
/// i64 to i32: the lower 32 bits.
[[nodiscard]] inline Request cast(const TensorView& x, DType dtype) noexcept {
  Request request = detail::unary(Op::cast, x);
  request.attributes.dtype = dtype;
  return request;
}
/// The same elements.
[[nodiscard]] inline Request copy(const TensorView& x) noexcept {
  return detail::unary(Op::copy, x);
}
/// A tensor of `shape` whose elements all are the first element of `value`.
[[nodiscard]] inline Request fill(const TensorView& value, IntList shape) noexcept {
  Request request = detail::unary(Op::fill, value);
  request.attributes.shape = shape;
  return request;
}

}  // namespace ringkernel::ops
