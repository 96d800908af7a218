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
/// [..., M, K] x [..., K, N] -> [..., M, N]. E3001, E3002, E3003, E6004.
[[nodiscard]] Result<Inference> infer_matmul(const OpCall& call);
/// Images NHWC x filter [rows, columns, C, outputs]. E3002, E3003 (the filter is larger than the
/// padded image), E4009, E4010, E6004; invalid_argument: pads that are not four numbers from 0 on,
/// or with which an image has 2^32 rows or columns.
[[nodiscard]] Result<Inference> infer_conv2d(const OpCall& call);
/// Drops the dims in `axes`, or keeps them as 1; no axes: rank 0. E3004, E3005.
[[nodiscard]] Result<Inference> infer_reduce(const OpCall& call);
/// Rank 0, whatever the attributes say.
[[nodiscard]] Result<Inference> infer_reduce_all(const OpCall& call);
/// `shape`, at most one extent inferred. E3002, E3006, E3007, E6004.
[[nodiscard]] Result<Inference> infer_reshape(const OpCall& call);
/// `shape`. E3002, E3006, E6004.
[[nodiscard]] Result<Inference> infer_fill(const OpCall& call);

/// Right-aligned broadcast of two shapes. E3001 names the dim of the aligned shape, 0 = leftmost;
/// E6004.
[[nodiscard]] Result<Shape> broadcast(const OpCall& call, std::span<const std::uint32_t> a,
                                      std::span<const std::uint32_t> b);

/// An error whose detail is "<op>(<inputs>): <what>".
[[nodiscard]] Error call_error(Errc code, const OpCall& call, const std::string& what);

}  // namespace ringkernel::ops
