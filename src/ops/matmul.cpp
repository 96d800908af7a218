#include <algorithm>

#include "ops/rules.hpp"

namespace ringkernel::ops {

/// [..., M, K] x [..., K, N] -> [..., M, N]. E3001, E3002, E3003, E6004.
Result<Inference> infer_matmul(const OpCall& call) {
  const std::span<const std::uint32_t> a = call.inputs[0].shape.dims();
  const std::span<const std::uint32_t> b = call.inputs[1].shape.dims();
  if (a.size() < 2 || b.size() < 2)
    return call_error(Errc::rank_mismatch, call,
                      "expected rank 2 or more, got ranks " + std::to_string(a.size()) + " and " +
                          std::to_string(b.size()));
  const std::uint32_t a_depth = a[a.size() - 1];
  const std::uint32_t b_depth = b[b.size() - 2];
  if (a_depth != b_depth)
    return call_error(Errc::dimension_mismatch, call,
                      "K is " + std::to_string(a_depth) + " in the left operand and " +
                          std::to_string(b_depth) + " in the right one");
  RK_TRY(batch, broadcast(call, a.first(a.size() - 2), b.first(b.size() - 2)));
  std::array<std::int64_t, rank_max> dims{};
  std::ranges::copy(batch.dims(), dims.begin());
  dims[batch.rank()] = a[a.size() - 2];
  dims[batch.rank() + 1] = b[b.size() - 1];
  auto shape = Shape::make(std::span(dims).first(batch.rank() + 2));
  if (!shape) return call_error(Errc::allocation_failure, call, shape.error().detail);
  return Inference{{call.inputs[0].dtype, *shape}, {}};
}

/// matmul of vectors and matrices; a vector's missing dim is missing in the output. E3002, E3003,
/// E6004.
Result<Inference> infer_dot(const OpCall& call) {
  const Shape& a = call.inputs[0].shape;
  const Shape& b = call.inputs[1].shape;
  if (a.rank() == 2 && b.rank() == 2) return infer_matmul(call);
  const bool is_scalar = a.rank() == 0 || b.rank() == 0;
  if (is_scalar || a.rank() + b.rank() > 3)
    return call_error(Errc::rank_mismatch, call,
                      "expected ranks 1 and 1, 2 and 1, 1 and 2 or 2 and 2, got " +
                          std::to_string(a.rank()) + " and " + std::to_string(b.rank()));
  const std::uint32_t a_depth = a[a.rank() - 1];
  if (a_depth != b[0])
    return call_error(Errc::dimension_mismatch, call,
                      "K is " + std::to_string(a_depth) + " in the left operand and " +
                          std::to_string(b[0]) + " in the right one");
  Shape shape;
  if (a.rank() == 2) shape = {a[0]};
  if (b.rank() == 2) shape = {b[1]};
  return Inference{{call.inputs[0].dtype, shape}, {}};
}

}  // namespace ringkernel::ops
