#include "ops/rules.hpp"

namespace ringkernel::ops {

namespace {

constexpr std::uint32_t all_axes(std::size_t rank) noexcept { return (1u << rank) - 1u; }

Inference reduced(const OpCall& call, std::uint32_t mask, bool keepdims) {
  const Shape& input = call.inputs[0].shape;
  std::array<std::int64_t, rank_max> dims{};
  std::size_t rank = 0;
  for (std::size_t dim = 0; dim < input.rank(); ++dim) {
    const bool is_reduced = ((mask >> dim) & 1u) != 0;
    if (!is_reduced) dims[rank++] = input[dim];
    if (is_reduced && keepdims) dims[rank++] = 1;
  }
  Inference result{{call.inputs[0].dtype, Shape::make(std::span(dims).first(rank)).value()}, {}};
  result.attrs.reduce = {.axis_mask = mask, .keepdims = keepdims ? 1u : 0u};
  return result;
}

}  // namespace

Result<std::uint32_t> axis_mask(const OpCall& call, std::int64_t lowest) {
  const auto rank = static_cast<std::int64_t>(call.inputs[0].shape.rank());
  const IntList& axes = call.attributes.axes;
  std::uint32_t mask = 0;
  // The list remembers rank_max axes, and the one behind them; if those were all different and in
  // range, that one is neither.
  const std::size_t count = axes.values().size() + (axes.fits() ? 0 : 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t axis = i < rank_max ? axes.values()[i] : axes.first_beyond();
    if (axis < lowest || axis >= rank)
      return call_error(Errc::invalid_axis, call,
                        "axis " + std::to_string(axis) + " is outside [" + std::to_string(lowest) +
                            ", " + std::to_string(rank) + ") of rank " + std::to_string(rank));
    const std::uint32_t bit = 1u << (axis < 0 ? axis + rank : axis);
    if ((mask & bit) != 0)
      return call_error(Errc::duplicate_axis, call,
                        "axis " + std::to_string(axis) + " names a dim twice");
    mask |= bit;
  }
  return mask;
}

/// Drops the dims in `axes`, or keeps them as 1; no axes: rank 0. E3004, E3005.
Result<Inference> infer_reduce(const OpCall& call) {
  if (call.attributes.axes.count() == 0) return infer_reduce_all(call);
  RK_TRY(mask, axis_mask(call, -static_cast<std::int64_t>(call.inputs[0].shape.rank())));
  return reduced(call, mask, call.attributes.keepdims);
}

/// Output like the input; `axes` as for a reduction. E3004, E3005.
Result<Inference> infer_softmax(const OpCall& call) {
  const std::size_t rank = call.inputs[0].shape.rank();
  std::uint32_t mask = all_axes(rank);
  if (call.attributes.axes.count() != 0) {
    RK_TRY(named, axis_mask(call, -static_cast<std::int64_t>(rank)));
    mask = named;
  }
  Inference result{call.inputs[0], {}};
  result.attrs.reduce.axis_mask = mask;
  return result;
}

/// Rank 0, whatever the attributes say.
Result<Inference> infer_reduce_all(const OpCall& call) {
  return reduced(call, all_axes(call.inputs[0].shape.rank()), false);
}

}  // namespace ringkernel::ops
