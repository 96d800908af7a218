#include "mlir/contract.hpp"

#include <algorithm>
#include <vector>

namespace ringkernel::mlir {
namespace {

Error refused_sum(const std::string& why) { return {Errc::unsupported_operation, why}; }

/// The term summed over those of its loops that are in `loops`.
Result<Term> summed(Builder& builder, const Term& term, const Loops& loops) {
  if (both(term.loops, loops).empty()) return term;
  std::vector<bool> goes;
  for (const std::size_t loop : term.loops) goes.push_back(has(loops, loop));
  RK_TRY(value, builder.reduce(Op::sum, term.value, goes));
  return Term{value, but(term.loops, loops)};
}

/// The product of both, over the loops of both.
Result<Term> product(Builder& builder, const Term& a, const Term& b, const Integers& extents) {
  const Loops all = together(a.loops, b.loops);
  RK_TRY(x, over(builder, a, all, extents));
  RK_TRY(y, over(builder, b, all, extents));
  RK_TRY(value, builder.binary(Op::mul, x, y));
  return Term{value, all};
}

/// Images as [N, H, W, C], and which loops that makes of them.
struct Images {
  Value value;
  std::vector<Window> windows;  ///< vertical, horizontal; a line has the last one only
  Loops batch;                  ///< of N
  Loops groups;                 ///< of C, the slower part
  Loops channels;               ///< of C, the faster part
};

/// `reduced`: loops of channels that are summed up; `shared`: those that the filter has as well.
Result<Images> images_of(Builder& builder, const Walked& images, const Loops& reduced,
                         const Loops& shared) {
  Images result;
  std::vector<Integers> places(4);  // of batch, windows, groups, channels: dims of the operand
  std::vector<bool> stays;
  std::int64_t dim = 0;
  for (const DimMap& place : images.map.dims) {
    stays.push_back(place.loop || place.window);
    if (!stays.back()) continue;
    std::size_t kind = 1;
    if (place.window) {
      result.windows.push_back(*place.window);
    } else {
      const bool is_reduced = has(reduced, *place.loop);
      kind = is_reduced ? 3 : has(shared, *place.loop) ? 2 : 0;
      Loops& loops = is_reduced ? result.channels : kind == 2 ? result.groups : result.batch;
      loops.push_back(*place.loop);
    }
    places[kind].push_back(dim++);
  }
  Loops all = together(together(result.batch, result.groups), result.channels);
  for (const Window& window : result.windows) all.insert(all.end(), {window.outer, window.inner});
  std::ranges::sort(all);
  if (std::ranges::adjacent_find(all) != all.end())
    return refused_sum("a loop that walks two dims of an image");
  if (result.windows.size() > 2) return refused_sum("windows of more than two dims");
  RK_TRY(inner, builder.without(images.value, stays));
  Integers permutation;
  Integers dims{1, 1, 1, 1};
  for (std::size_t kind = 0; kind < places.size(); ++kind) {
    for (const std::int64_t from : places[kind]) {
      permutation.push_back(from);
      const std::int64_t extent = inner.dims[static_cast<std::size_t>(from)];
      if (kind != 1) dims[kind == 0 ? 0 : 3] *= extent;
    }
  }
  for (std::size_t i = 0; i < places[1].size(); ++i)
    dims[3 - places[1].size() + i] = inner.dims[static_cast<std::size_t>(places[1][i])];
  RK_TRY(whole, builder.spread(inner));
  RK_TRY(turned, builder.permuted(whole, permutation));
  RK_TRY(value, builder.reshaped(turned, dims));
  result.value = value;
  return result;
}

/// Loops and strides of the windows: vertical, horizontal.
struct Steps {
  Loops outer;
  Loops inner;
  Integers strides{1, 1};
  Integers dilations{1, 1};
};

/// E6003 where an inner loop belongs to two windows, or an outer one to what is summed up.
Result<Steps> steps_of(const std::vector<Window>& windows, const Loops& reduced,
                       const Integers& extents) {
  Steps steps;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    Window window = windows[i];
    if (has(reduced, window.outer)) {  // MLIR has them in either order
      std::swap(window.outer, window.inner);
      std::swap(window.stride, window.dilation);
    }
    if (has(reduced, window.outer) || !has(reduced, window.inner))
      return refused_sum("a window whose elements are not taken together");
    const std::size_t dim = 2 - windows.size() + i;
    steps.outer.push_back(window.outer);
    steps.inner.push_back(window.inner);
    steps.strides[dim] = window.stride;
    steps.dilations[dim] = extents[window.inner] == 1 ? 1 : window.dilation;
  }
  return steps;
}

/// A filter [rows, columns, ...] with zeros between its rows, or columns.
Result<Value> dilated(Builder& builder, const Value& filter, std::size_t dim,
                      std::int64_t dilation) {
  if (dilation == 1) return filter;
  const auto at = static_cast<std::ptrdiff_t>(dim);
  Integers apart = filter.dims;
  apart.insert(apart.begin() + at + 1, 1);
  RK_TRY(rows, builder.reshaped(filter, apart));
  Integers between = apart;
  between[dim + 1] = dilation - 1;
  RK_TRY(spaced, builder.concat({rows, Value::number(filter.dtype, 0, between)}, dim + 1));
  Integers dims = filter.dims;
  dims[dim] *= dilation;
  RK_TRY(longer, builder.reshaped(spaced, dims));
  dims[dim] -= dilation - 1;
  return builder.slice(longer, Integers(dims.size(), 0), dims, Integers(dims.size(), 1));
}

/// [N, H', W', groups * outputs] as a term.
Result<Term> term_of_images(Builder& builder, const Graph::Value& made, const Images& images,
                            const Steps& steps, const Loops& outputs, const Integers& extents) {
  return ungrouped(builder, Value::of(made), {images.batch, steps.outer, images.groups, outputs},
                   extents);
}

/// Whether the first of `a` is in front of the first of `b`.
bool comes_before(const Loops& order, const Loops& a, const Loops& b) {
  if (a.empty() || b.empty()) return false;
  return std::ranges::find(order, a[0]) < std::ranges::find(order, b[0]);
}

/// Loops of the dims behind the windows: channels, which stay where they are.
Loops behind_windows(const OperandMap& map) {
  Loops loops;
  for (auto dim = map.dims.rbegin(); dim != map.dims.rend() && !dim->window; ++dim)
    if (dim->loop) loops.push_back(*dim->loop);
  return loops;
}

}  // namespace

Result<Term> contracted(Builder& builder, const Term& a, const Term& b, const Loops& reduced,
                        const Loops& wanted, const Integers& extents) {
  RK_TRY(x, essence(builder, a));
  RK_TRY(y, essence(builder, b));
  // What only one of them has is summed up before.
  RK_TRY(left, summed(builder, x, but(reduced, y.loops)));
  RK_TRY(right, summed(builder, y, but(reduced, x.loops)));
  const std::int64_t repeated =
      turns(but(reduced, together(x.loops, y.loops)), extents);  // what neither of them has
  const Loops inner = both(both(left.loops, right.loops), reduced);
  Term result;
  if (inner.empty() || left.value.dtype != DType::f32) {
    RK_TRY(products, product(builder, left, right, extents));
    RK_TRY(sums, summed(builder, products, inner));
    result = sums;
  } else {
    const Loops batch = but(both(left.loops, right.loops), reduced);
    if (comes_before(wanted, but(right.loops, left.loops), but(left.loops, right.loops)))
      std::swap(left, right);
    const Loops rows = but(left.loops, right.loops);
    const Loops columns = but(right.loops, left.loops);
    // Without batches they are matrices.
    const auto with_batch = [&](std::vector<Loops> order) {
      if (!batch.empty()) order.insert(order.begin(), batch);
      return order;
    };
    RK_TRY(m, grouped(builder, left, with_batch({rows, inner}), extents));
    RK_TRY(n, grouped(builder, right, with_batch({inner, columns}), extents));
    RK_TRY(mk, builder.kept(m));
    RK_TRY(kn, builder.kept(n));
    RK_TRY(made, builder.add(ops::matmul(mk, kn)));
    RK_TRY(apart, ungrouped(builder, Value::of(made), with_batch({rows, columns}), extents));
    result = apart;
  }
  if (repeated == 1) return result;
  RK_TRY(times, builder.binary(
                    Op::mul, result.value,
                    Value::number(result.value.dtype, repeated, Integers(result.value.rank(), 1))));
  return Term{times, result.loops};
}

Result<Term> convolved(Builder& builder, const Walked& images, const Term& filter,
                       const Loops& reduced, const Integers& extents) {
  if (images.value.dtype != DType::f32) return refused_sum("windows of integers");
  RK_TRY(from, images_of(builder, images, reduced, filter.loops));
  RK_TRY(steps, steps_of(from.windows, reduced, extents));
  const Loops outputs = but(but(but(filter.loops, reduced), from.groups), steps.outer);
  const Loops known = together(together(steps.inner, from.channels), reduced);
  if (!both(filter.loops, steps.outer).empty() || !both(filter.loops, from.batch).empty() ||
      known.size() != steps.inner.size() + from.channels.size())
    return refused_sum("a sum over windows that is no convolution");
  std::vector<Loops> order;
  if (steps.inner.size() < 2) order.emplace_back();  // a line has one row
  for (const std::size_t loop : steps.inner) order.push_back({loop});
  order.push_back(from.channels);
  Loops of_groups = from.groups;
  of_groups.insert(of_groups.end(), outputs.begin(), outputs.end());
  order.push_back(of_groups);
  RK_TRY(dense, grouped(builder, filter, order, extents));
  RK_TRY(rows, dilated(builder, dense, 0, steps.dilations[0]));
  RK_TRY(weights, dilated(builder, rows, 1, steps.dilations[1]));
  RK_TRY(x, builder.kept(from.value));
  RK_TRY(w, builder.kept(weights));
  RK_TRY(made,
         builder.add(ops::conv2d(
             x, w, {.strides = IntList(steps.strides), .groups = turns(from.groups, extents)})));
  return term_of_images(builder, made, from, steps, outputs, extents);
}

Result<Term> pooled(Builder& builder, Op op, const Walked& images, const Loops& reduced,
                    const Integers& extents) {
  const Loops channels = behind_windows(images.map);
  if (!both(channels, reduced).empty()) return refused_sum("windows together with channels");
  if (op == Op::add) {  // every channel by itself: they are groups of a convolution with ones
    Term ones{Value::number(images.value.dtype, 1), channels};
    for (const std::size_t loop : channels) ones.value.dims.push_back(extents[loop]);
    ones.value.held.assign(ones.value.rank(), 1);
    return convolved(builder, images, ones, reduced, extents);
  }
  if (images.value.dtype != DType::f32) return refused_sum("windows of integers");
  RK_TRY(from, images_of(builder, images, reduced, channels));
  RK_TRY(steps, steps_of(from.windows, reduced, extents));
  if (!from.channels.empty()) return refused_sum("windows together with channels");
  if (steps.dilations != Integers{1, 1}) return refused_sum("a dilated window of a maximum");
  RK_TRY(x, builder.kept(from.value));
  Integers window{1, 1};
  for (std::size_t i = 0; i < steps.inner.size(); ++i)
    window[2 - steps.inner.size() + i] = extents[steps.inner[i]];
  RK_TRY(made, builder.add(ops::max_pool(x, IntList(window), {.strides = IntList(steps.strides)})));
  return term_of_images(builder, made, from, steps, {}, extents);
}

}  // namespace ringkernel::mlir
