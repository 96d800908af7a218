/// The shape rules named in protocol/ops.def, and the checks that they share.
///
/// A rule looks at operands that `infer` has checked already: right in number, one element type,
/// positive extents, at most 2^32-1 elements. It checks what its family of ops demands and gives
/// the output.
///
/// Threading: any thread; pure.
/// Errors: each rule names its E-codes; details carry the op, the shapes and the failing index.
#pragma once

#include <span>
#include <string>

#include "ringkernel/op.hpp"

namespace ringkernel::ops {

/// One use of an op, as a rule sees it.
struct OpCall {
  const OpInfo& op;
  std::span<const TensorDesc> inputs;
  const OpAttributes& attributes;
};

/// No operands, no output: dtype `none`.
[[nodiscard]] Result<Inference> infer_none(const OpCall& call);
/// Output like the input.
[[nodiscard]] Result<Inference> infer_unary(const OpCall& call);
/// Output is the broadcast of both inputs. E3001, E6004.
[[nodiscard]] Result<Inference> infer_binary(const OpCall& call);
/// Output i32, the broadcast of both inputs. E3001, E6004; invalid_argument: no such comparison.
[[nodiscard]] Result<Inference> infer_compare(const OpCall& call);
/// Output of the second input's type, the broadcast of all three. E3001, E6004.
[[nodiscard]] Result<Inference> infer_select(const OpCall& call);
/// Output like the input, of the type that the attributes name. E2005.
[[nodiscard]] Result<Inference> infer_cast(const OpCall& call);
/// Inputs of equal extents but along one axis, whose extents add up. E3002, E3003, E3004, E6004.
[[nodiscard]] Result<Inference> infer_concat(const OpCall& call);
/// [..., M, K] x [..., K, N] -> [..., M, N]. E3001, E3002, E3003, E6004.
[[nodiscard]] Result<Inference> infer_matmul(const OpCall& call);
/// Images NHWC x filter [rows, columns, C / groups, outputs]. E3002, E3003 (the filter is larger
/// than the padded image), E4009, E4010, E6004; invalid_argument: pads that are not four numbers
/// from 0 on, or with which an image has 2^32 rows or columns; groups that do not divide the
/// outputs.
[[nodiscard]] Result<Inference> infer_conv2d(const OpCall& call);
/// Windows over images NHWC. E3002, E3003, E4010, E6004; invalid_argument: a window that is not two
/// positive numbers, pads as above or not below the window.
[[nodiscard]] Result<Inference> infer_pool(const OpCall& call);
/// Drops the dims in `axes`, or keeps them as 1; no axes: rank 0. E3004, E3005.
[[nodiscard]] Result<Inference> infer_reduce(const OpCall& call);
/// Output like the input; `axes` as for a reduction. E3004, E3005.
[[nodiscard]] Result<Inference> infer_softmax(const OpCall& call);
/// Rank 0, whatever the attributes say.
[[nodiscard]] Result<Inference> infer_reduce_all(const OpCall& call);
/// `shape`, at most one extent inferred. E3002, E3006, E3007, E6004.
[[nodiscard]] Result<Inference> infer_reshape(const OpCall& call);
/// `shape`. E3002, E3006, E6004.
[[nodiscard]] Result<Inference> infer_fill(const OpCall& call);

/// matmul of vectors and matrices; a vector's missing dim is missing in the output. E3002, E3003,
/// E6004.
[[nodiscard]] Result<Inference> infer_dot(const OpCall& call);
/// Extent 1 at each of `axes`, which are dims of the output. E3002, E3004, E3005.
[[nodiscard]] Result<Inference> infer_expand_dims(const OpCall& call);
/// Without the dims in `axes`; no axes: without all of extent 1. E3004, E3005, E3009.
[[nodiscard]] Result<Inference> infer_squeeze(const OpCall& call);
/// Dims in the order of `permutation`. E3008.
[[nodiscard]] Result<Inference> infer_transpose(const OpCall& call);
/// Rank 0. E4006, E6001.
[[nodiscard]] Result<Inference> infer_index(const OpCall& call);
/// How many elements `slice` takes in each dim. E3006, E4007, E4008, E6001.
[[nodiscard]] Result<Inference> infer_slice(const OpCall& call);
/// The shape of the indices, then that of the first operand without dim 0. E3002, E6004. The device
/// checks the indices.
[[nodiscard]] Result<Inference> infer_gather(const OpCall& call);

/// `axes` as a bit mask of dims of the input; each lies in [lowest, rank), negative ones count from
/// the end. E3004, E3005.
[[nodiscard]] Result<std::uint32_t> axis_mask(const OpCall& call, std::int64_t lowest);

/// Right-aligned broadcast of two shapes. E3001 names the dim of the aligned shape, 0 = leftmost;
/// E6004.
[[nodiscard]] Result<Shape> broadcast(const OpCall& call, std::span<const std::uint32_t> a,
                                      std::span<const std::uint32_t> b);

/// Whether each element of the result depends on one element of each operand, so that the result
/// may take the place of an operand of its shape.
[[nodiscard]] bool is_elementwise(Op op) noexcept;

/// Whether the result has the elements of the first operand, in their order, by another shape.
[[nodiscard]] bool is_view(Op op) noexcept;

/// Whether there can be a tensor like this; its extents may be unchecked. E2005, E3002, E3006,
/// E6004.
[[nodiscard]] Result<void> check_desc(const TensorDesc& desc);

/// An error whose detail is "<op>(<inputs>): <what>".
[[nodiscard]] Error call_error(Errc code, const OpCall& call, const std::string& what);

}  // namespace ringkernel::ops
