#include <algorithm>

#include "ops/rules.hpp"

namespace ringkernel::ops {

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

}  // namespace ringkernel::ops
