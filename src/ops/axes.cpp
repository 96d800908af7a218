#include <algorithm>

#include "ops/rules.hpp"

namespace ringkernel::ops {

namespace {

Inference with_dims(const OpCall& call, std::span<const std::int64_t> dims) {
  return {{call.inputs[0].dtype, Shape::make(dims).value()}, {}};
}

/// Each dim of extent 1.
std::uint32_t unit_dims(const Shape& shape) noexcept {
  std::uint32_t mask = 0;
  for (std::size_t dim = 0; dim < shape.rank(); ++dim)
    if (shape[dim] == 1) mask |= 1u << dim;
  return mask;
}

}  // namespace

/// Extent 1 at each of `axes`, which are dims of the output. E3002, E3004, E3005.
Result<Inference> infer_expand_dims(const OpCall& call) {
  const Shape& input = call.inputs[0].shape;
  const IntList& list = call.attributes.axes;
  std::array<std::int64_t, rank_max> storage{};
  const std::span axes = std::span(storage).first(list.values().size());
  std::ranges::copy(list.values(), axes.begin());
  std::ranges::sort(axes);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    // Inserted in ascending order, so that each may lie at the end of what those before it made.
    const auto last = static_cast<std::int64_t>(input.rank() + i);
    if (axes[i] < 0 || axes[i] > last)
      return call_error(Errc::invalid_axis, call,
                        "axis " + std::to_string(axes[i]) + " is outside [0, " +
                            std::to_string(last) + "] of rank " + std::to_string(last));
    if (i > 0 && axes[i] == axes[i - 1])
      return call_error(Errc::duplicate_axis, call,
                        "axis " + std::to_string(axes[i]) + " is named twice");
  }
  const std::size_t rank = input.rank() + list.count();
  if (rank > rank_max)
    return call_error(
        Errc::rank_mismatch, call,
        "rank " + std::to_string(rank) + " exceeds the limit of " + std::to_string(rank_max));
  std::uint32_t mask = 0;
  for (const std::int64_t axis : axes) mask |= 1u << axis;
  std::array<std::int64_t, rank_max> dims{};
  std::size_t from = 0;
  for (std::size_t dim = 0; dim < rank; ++dim)
    dims[dim] = ((mask >> dim) & 1u) != 0 ? 1 : input[from++];
  Inference result = with_dims(call, std::span(dims).first(rank));
  result.attrs.axes.axis_mask = mask;
  return result;
}

/// Without the dims in `axes`; no axes: without all of extent 1. E3004, E3005, E3009.
Result<Inference> infer_squeeze(const OpCall& call) {
  const Shape& input = call.inputs[0].shape;
  RK_TRY(named, axis_mask(call, 0));
  const std::uint32_t mask = call.attributes.axes.count() == 0 ? unit_dims(input) : named;
  std::array<std::int64_t, rank_max> dims{};
  std::size_t rank = 0;
  for (std::size_t dim = 0; dim < input.rank(); ++dim) {
    const bool is_removed = ((mask >> dim) & 1u) != 0;
    if (is_removed && input[dim] != 1)
      return call_error(
          Errc::not_squeezable, call,
          "axis " + std::to_string(dim) + " has extent " + std::to_string(input[dim]));
    if (!is_removed) dims[rank++] = input[dim];
  }
  Inference result = with_dims(call, std::span(dims).first(rank));
  result.attrs.axes.axis_mask = mask;
  return result;
}

/// Inputs of equal extents but along one axis, whose extents add up. E3002, E3003, E3004, E6004.
Result<Inference> infer_concat(const OpCall& call) {
  const Shape& a = call.inputs[0].shape;
  const Shape& b = call.inputs[1].shape;
  if (a.rank() != b.rank() || a.rank() == 0)
    return call_error(Errc::rank_mismatch, call,
                      "expected equal ranks of 1 or more, got ranks " + std::to_string(a.rank()) +
                          " and " + std::to_string(b.rank()));
  if (call.attributes.axes.count() != 1)
    return call_error(Errc::invalid_axis, call,
                      std::to_string(call.attributes.axes.count()) + " axes, expected one");
  RK_TRY(mask, axis_mask(call, -static_cast<std::int64_t>(a.rank())));
  std::array<std::int64_t, rank_max> dims{};
  for (std::size_t dim = 0; dim < a.rank(); ++dim) {
    const bool is_axis = ((mask >> dim) & 1u) != 0;
    dims[dim] = std::int64_t{a[dim]} + (is_axis ? b[dim] : 0);
    if (!is_axis && a[dim] != b[dim])
      return call_error(Errc::dimension_mismatch, call,
                        "extents " + std::to_string(a[dim]) + " and " + std::to_string(b[dim]) +
                            " at dim " + std::to_string(dim));
  }
  auto shape = Shape::make(std::span(dims).first(a.rank()));
  if (!shape) return call_error(Errc::allocation_failure, call, shape.error().detail);
  Inference result{{call.inputs[0].dtype, *shape}, {}};
  result.attrs.axes.axis_mask = mask;
  return result;
}

/// Dims in the order of `permutation`. E3008.
Result<Inference> infer_transpose(const OpCall& call) {
  const Shape& input = call.inputs[0].shape;
  const IntList& permutation = call.attributes.permutation;
  if (permutation.count() != input.rank())
    return call_error(Errc::invalid_permutation, call,
                      "the permutation has " + std::to_string(permutation.count()) +
                          " entries for rank " + std::to_string(input.rank()));
  const auto rank = static_cast<std::int64_t>(input.rank());
  std::array<std::int64_t, rank_max> dims{};
  rk_op_attrs attrs{};
  std::uint32_t seen = 0;
  for (std::size_t dim = 0; dim < input.rank(); ++dim) {
    const std::int64_t from = permutation.values()[dim];
    const std::string entry =
        "entry " + std::to_string(dim) + " of the permutation is " + std::to_string(from);
    if (from < 0 || from >= rank)
      return call_error(Errc::invalid_permutation, call,
                        entry + ", outside [0, " + std::to_string(rank) + ")");
    if (((seen >> from) & 1u) != 0)
      return call_error(Errc::invalid_permutation, call, entry + ", as one before it");
    seen |= 1u << from;
    attrs.transpose.permutation[dim] = static_cast<rk_u32>(from);
    dims[dim] = input[static_cast<std::size_t>(from)];
  }
  Inference result = with_dims(call, std::span(dims).first(input.rank()));
  result.attrs = attrs;
  return result;
}

}  // namespace ringkernel::ops
