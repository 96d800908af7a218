#include <algorithm>

#include "ops/rules.hpp"

namespace ringkernel::ops {

namespace {

constexpr std::int64_t inferred = -1;

/// A shape from the user's numbers; errors carry the op. More than `rank_max` extents: E3002.
Result<Shape> user_shape(const OpCall& call, std::span<const std::int64_t> dims) {
  const IntList& list = call.attributes.shape;
  if (!list.fits())
    return call_error(Errc::rank_mismatch, call,
                      "rank " + std::to_string(list.count()) + " exceeds the limit of " +
                          std::to_string(rank_max));
  auto shape = Shape::make(dims);
  if (shape) return shape;
  return call_error(static_cast<Errc>(shape.error().code.value()), call, shape.error().detail);
}

}  // namespace

/// `shape`, at most one extent inferred. E3002, E3006, E3007, E6004.
Result<Inference> infer_reshape(const OpCall& call) {
  const std::span<const std::int64_t> wanted = call.attributes.shape.values();
  std::array<std::int64_t, rank_max> dims{};
  std::ranges::copy(wanted, dims.begin());
  const auto hole = std::ranges::find(std::span(dims).first(wanted.size()), inferred);
  const bool has_hole = hole != std::span(dims).first(wanted.size()).end();
  if (has_hole) *hole = 1;
  RK_TRY(known, user_shape(call, std::span(dims).first(wanted.size())));

  const std::uint64_t count = call.inputs[0].element_count();
  if (has_hole && count % known.element_count() == 0)
    *hole = static_cast<std::int64_t>(count / known.element_count());
  RK_TRY(shape, user_shape(call, std::span(dims).first(wanted.size())));
  if (shape.element_count() != count)
    return call_error(Errc::element_count_mismatch, call,
                      std::to_string(count) + " elements do not fill " +
                          (has_hole ? "a multiple of " : "") + known.text() + ", " +
                          std::to_string(known.element_count()) + " elements");
  return Inference{{call.inputs[0].dtype, shape}, {}};
}

/// `shape`. E3002, E3006, E6004.
Result<Inference> infer_fill(const OpCall& call) {
  RK_TRY(shape, user_shape(call, call.attributes.shape.values()));
  return Inference{{call.inputs[0].dtype, shape}, {}};
}

}  // namespace ringkernel::ops
