#include <algorithm>
#include <numeric>

#include "vectors/adapters.hpp"

namespace ringkernel::test::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

/// Counts a negative number, an axis or an index, from the end of `extent`.
std::int64_t from_the_end(Session& session, std::int64_t number, std::int64_t extent) {
  if (number >= 0) return number;
  session.adapt();
  return number + extent;
}

Integers axes_of(Session& session, Integers axes, std::size_t rank) {
  for (std::int64_t& axis : axes)
    axis = from_the_end(session, axis, static_cast<std::int64_t>(rank));
  return axes;
}

/// The dims in order, but for `first`, which comes first.
Integers with_first(std::size_t rank, std::int64_t first) {
  Integers order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + first, order.begin() + first + 1);
  return order;
}

/// A start or an end as a number from 0 to `extent`.
std::int64_t clamped(Session& session, std::int64_t bound, std::int64_t extent) {
  const std::int64_t inside =
      std::clamp<std::int64_t>(from_the_end(session, bound, extent), 0, extent);
  if (inside != bound) session.adapt();
  return inside;
}

}  // namespace

/// Broadcasts, which `mul` does too.
Tensor adapt_expand(Session& session, const Node&, Inputs inputs) {
  const float one = 1;
  const Tensor ones =
      session.run(ops::fill({{}, std::span(&one, 1)}, IntList(inputs[1].integers())));
  return session.run(ops::mul(view(inputs[0]), view(ones)));
}

/// Along any axis; ours gathers along the first one.
Tensor adapt_gather(Session& session, const Node& node, Inputs inputs) {
  const std::size_t rank = inputs[0].dims.size();
  const std::int64_t axis =
      from_the_end(session, node.integer("axis", 0), static_cast<std::int64_t>(rank));
  const std::int64_t extent = inputs[0].dims[static_cast<std::size_t>(axis)];
  Integers indices = inputs[1].integers();
  for (std::int64_t& index : indices) index = from_the_end(session, index, extent);
  const Shape shape = Shape::make(inputs[1].dims).value();
  if (axis == 0) return session.run(ops::gather(view(inputs[0]), {shape, indices}));

  const Tensor front =
      session.run(ops::transpose(view(inputs[0]), IntList(with_first(rank, axis))));
  const Tensor parts = session.run(ops::gather(view(front), {shape, indices}));
  // The dims of the indices are in front, where they take the place of the axis: behind `axis`
  // dims.
  Integers back(parts.dims.size());
  std::iota(back.begin(), back.end(), 0);
  const auto index_rank = static_cast<std::ptrdiff_t>(shape.rank());
  std::rotate(back.begin(), back.begin() + index_rank, back.begin() + index_rank + axis);
  return session.run(ops::transpose(view(parts), IntList(back)));
}

/// Where 0 stands for the operand's extent.
Tensor adapt_reshape(Session& session, const Node& node, Inputs inputs) {
  Integers shape = inputs[1].integers();
  if (node.integer("allowzero", 0) == 0) {
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      if (shape[dim] != 0) continue;
      session.adapt();
      shape[dim] = inputs[0].dims.at(dim);
    }
  }
  return session.run(ops::reshape(view(inputs[0]), IntList(shape)));
}

/// Of some axes, with bounds that may lie outside.
Tensor adapt_slice(Session& session, const Node&, Inputs inputs) {
  const Integers& dims = inputs[0].dims;
  const Integers given_starts = inputs[1].integers();
  const Integers given_ends = inputs[2].integers();
  Integers axes(given_starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (inputs.size() > 3) axes = axes_of(session, inputs[3].integers(), dims.size());
  Integers starts(dims.size(), 0);
  Integers ends = dims;
  Integers steps(dims.size(), 1);
  if (axes.size() != dims.size()) session.adapt();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    starts.at(axis) = clamped(session, given_starts[i], dims.at(axis));
    ends[axis] = clamped(session, given_ends.at(i), dims[axis]);
    if (inputs.size() > 4) steps[axis] = inputs[4].integers().at(i);
    if (steps[axis] < 1) throw NotExpressible{"a negative step"};
    if (starts[axis] >= ends[axis]) throw NotExpressible{"a result with an extent of 0"};
  }
  return session.run(ops::slice(view(inputs[0]), {IntList(starts), IntList(ends), IntList(steps)}));
}

Tensor adapt_squeeze(Session& session, const Node& node, Inputs inputs) {
  const Integers axes = axes_of(session, list_of(node, inputs, 1, "axes"), inputs[0].dims.size());
  return session.run(ops::squeeze(view(inputs[0]), IntList(axes)));
}

/// By default it reverses the dims.
Tensor adapt_transpose(Session& session, const Node& node, Inputs inputs) {
  Integers permutation = node.integers("perm");
  if (permutation.empty()) {
    session.adapt();
    permutation.resize(inputs[0].dims.size());
    std::iota(permutation.rbegin(), permutation.rend(), 0);
  }
  return session.run(ops::transpose(view(inputs[0]), IntList(permutation)));
}

/// The axes are dims of the result.
Tensor adapt_unsqueeze(Session& session, const Node& node, Inputs inputs) {
  const Integers given = list_of(node, inputs, 1, "axes");
  const Integers axes = axes_of(session, given, inputs[0].dims.size() + given.size());
  return session.run(ops::expand_dims(view(inputs[0]), IntList(axes)));
}

}  // namespace ringkernel::test::onnx
