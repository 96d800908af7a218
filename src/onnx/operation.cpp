// What an operation's operands and attributes say about axes, extents and ranges.
#include <algorithm>
#include <array>
#include <numeric>

#include "onnx/rules.hpp"

namespace ringkernel::onnx {
namespace {

/// Ascending, each once; nothing where one is outside of `rank`.
std::optional<Integers> axes_in(Integers axes, std::int64_t rank) {
  for (std::int64_t& axis : axes) {
    const auto inside = axis_of(axis, rank);
    if (!inside) return std::nullopt;
    axis = *inside;
  }
  std::ranges::sort(axes);
  if (std::ranges::adjacent_find(axes) != axes.end()) return std::nullopt;
  return axes;
}

}  // namespace

std::int64_t place_with_channels_last(std::int64_t dim, bool is_line) {
  constexpr std::array<std::int64_t, 4> of_images{0, 3, 1, 2};
  constexpr std::array<std::int64_t, 3> of_lines{0, 3, 2};
  return is_line ? of_lines.at(static_cast<std::size_t>(dim))
                 : of_images.at(static_cast<std::size_t>(dim));
}

std::optional<Integers> reshaped_dims(const Operation& operation) {
  const auto wanted = operation.integers(1);
  if (!wanted) return std::nullopt;
  const Integers from = operation.dims(0);
  Integers dims = *wanted;
  const bool keeps_zeros = operation.node().integer("allowzero", 0) != 0;
  std::optional<std::size_t> open;
  std::int64_t known = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !keeps_zeros) {
      if (i >= from.size()) return std::nullopt;
      dims[i] = from[i];
    }
    if (dims[i] == -1) {
      if (open) return std::nullopt;
      open = i;
    } else if (dims[i] < 0 || __builtin_mul_overflow(known, dims[i], &known)) {
      return std::nullopt;
    }
  }
  if (!open) return dims;
  std::int64_t count = 1;
  for (const std::int64_t dim : from)
    if (__builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  if (known == 0 || count % known != 0) return std::nullopt;
  dims[*open] = count / known;
  return dims;
}

std::optional<Integers> squeezed_axes(const Operation& operation) {
  const auto given = operation.list(1, "axes");
  if (!given) return std::nullopt;
  if (!given->empty()) return axes_in(*given, operation.rank(0));
  Integers axes;
  const Integers dims = operation.dims(0);
  for (std::size_t dim = 0; dim < dims.size(); ++dim)
    if (dims[dim] == 1) axes.push_back(static_cast<std::int64_t>(dim));
  return axes;
}

std::optional<Integers> unsqueezed_axes(const Operation& operation) {
  const auto given = operation.list(1, "axes");
  if (!given) return std::nullopt;
  return axes_in(*given, operation.rank(0) + static_cast<std::int64_t>(given->size()));
}

std::optional<Integers> permutation_of(const Operation& operation) {
  Integers permutation = operation.node().integers("perm");
  if (permutation.empty()) {
    permutation.resize(operation.dims(0).size());
    std::iota(permutation.rbegin(), permutation.rend(), 0);
  }
  if (static_cast<std::int64_t>(permutation.size()) != operation.rank(0)) return std::nullopt;
  if (!axes_in(permutation, operation.rank(0))) return std::nullopt;
  return permutation;
}

std::optional<Ranges> sliced_ranges(const Operation& operation) {
  const auto starts = operation.integers(1);
  const auto ends = operation.integers(2);
  const auto axes = operation.has(3) ? operation.integers(3) : Result<Integers>(Integers());
  const auto steps = operation.has(4) ? operation.integers(4) : Result<Integers>(Integers());
  if (!starts || !ends || !axes || !steps || starts->size() != ends->size()) return std::nullopt;
  const Integers dims = operation.dims(0);
  Ranges ranges{Integers(dims.size(), 0), dims, Integers(dims.size(), 1)};
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const auto axis =
        axis_of(i < axes->size() ? (*axes)[i] : static_cast<std::int64_t>(i), operation.rank(0));
    if (!axis) return std::nullopt;
    const auto at = static_cast<std::size_t>(*axis);
    const std::int64_t extent = dims[at];
    const auto bound = [extent](std::int64_t number) {
      return std::clamp<std::int64_t>(number < 0 ? number + extent : number, 0, extent);
    };
    ranges.starts[at] = bound((*starts)[i]);
    ranges.ends[at] = bound((*ends)[i]);
    if (i < steps->size()) ranges.steps[at] = (*steps)[i];
    if (ranges.steps[at] < 1 || ranges.starts[at] >= ranges.ends[at]) return std::nullopt;
  }
  return ranges;
}

}  // namespace ringkernel::onnx
