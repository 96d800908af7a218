#include "mlir/loops.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace ringkernel::mlir {
namespace {

Error refused_map(const std::string& why) { return {Errc::unsupported_operation, why}; }

/// So many indices are written down as a constant.
constexpr std::int64_t backwards_max = 1 << 20;

/// A sum of loops, each a number of times, and of a number.
struct Sum {
  std::map<std::size_t, std::int64_t> times{};
  std::int64_t number = 0;

  [[nodiscard]] bool is_number() const noexcept { return times.empty(); }
};

/// Nothing where it is none: divisions, products of loops. `depth`: how deep it may be nested.
std::optional<Sum> sum_of(const Api& api, MlirAffineExpr expression, int depth = 64) {
  if (depth == 0) return std::nullopt;
  if (api.mlirAffineExprIsADim(expression))
    return Sum{{{static_cast<std::size_t>(api.mlirAffineDimExprGetPosition(expression)), 1}}, 0};
  if (api.mlirAffineExprIsAConstant(expression))
    return Sum{{}, api.mlirAffineConstantExprGetValue(expression)};
  const bool is_sum = api.mlirAffineExprIsAAdd(expression);
  if (!is_sum && !api.mlirAffineExprIsAMul(expression)) return std::nullopt;
  auto a = sum_of(api, api.mlirAffineBinaryOpExprGetLHS(expression), depth - 1);
  auto b = sum_of(api, api.mlirAffineBinaryOpExprGetRHS(expression), depth - 1);
  if (!a || !b) return std::nullopt;
  if (is_sum) {
    for (const auto& [loop, times] : b->times) a->times[loop] += times;
    std::erase_if(a->times, [](const auto& loop) { return loop.second == 0; });
    a->number += b->number;
    return a;
  }
  if (!b->is_number()) std::swap(a, b);
  if (!b->is_number()) return std::nullopt;
  for (auto& [loop, times] : a->times) times *= b->number;
  std::erase_if(a->times, [](const auto& loop) { return loop.second == 0; });
  a->number *= b->number;
  return a;
}

}  // namespace

bool has(const Loops& loops, std::size_t loop) {
  return std::ranges::find(loops, loop) != loops.end();
}

Loops both(const Loops& a, const Loops& b) {
  Loops result;
  std::ranges::copy_if(a, std::back_inserter(result), [&](auto loop) { return has(b, loop); });
  return result;
}

Loops but(const Loops& a, const Loops& b) {
  Loops result;
  std::ranges::copy_if(a, std::back_inserter(result), [&](auto loop) { return !has(b, loop); });
  return result;
}

Loops together(const Loops& a, const Loops& b) {
  Loops result = a;
  std::ranges::copy(but(b, a), std::back_inserter(result));
  std::ranges::sort(result);
  return result;
}

std::int64_t turns(const Loops& loops, const Integers& extents) {
  std::int64_t count = 1;
  for (const std::size_t loop : loops) count *= extents[loop];
  return count;
}

bool OperandMap::has_windows() const noexcept {
  return std::ranges::any_of(dims, [](const DimMap& dim) { return dim.window.has_value(); });
}

Result<Integers> loop_extents(const Api& api, const std::vector<MlirAffineMap>& maps,
                              const std::vector<Integers>& dims) {
  Integers extents(
      maps.empty() ? 0 : static_cast<std::size_t>(api.mlirAffineMapGetNumDims(maps[0])), 0);
  for (std::size_t operand = 0; operand < maps.size(); ++operand) {
    for (std::size_t dim = 0; dim < dims[operand].size(); ++dim) {
      const auto sum =
          sum_of(api, api.mlirAffineMapGetResult(maps[operand], static_cast<std::intptr_t>(dim)));
      if (sum && sum->times.size() == 1 && sum->times.begin()->second == 1 && sum->number == 0)
        extents[sum->times.begin()->first] = dims[operand][dim];
    }
  }
  if (std::ranges::find(extents, 0) != extents.end())
    return refused_map("a loop that walks no dim of an operand by itself");
  std::int64_t all = 1;
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(all, extent, &all))
      return Error(Errc::limit_exceeded, "more turns than can be counted");
  return extents;
}

Result<Walked> walked(const Api& api, Builder& builder, MlirAffineMap map, const Value& value,
                      const Integers& extents) {
  Walked result{{}, value};
  Integers starts(value.rank(), 0);
  Integers counts = value.dims;
  Integers steps(value.rank(), 1);
  for (std::size_t dim = 0; dim < value.rank(); ++dim) {
    const auto sum = sum_of(api, api.mlirAffineMapGetResult(map, static_cast<std::intptr_t>(dim)));
    const auto goes_back = [](const auto& loop) { return loop.second < 1; };
    if (!sum || (sum->times.size() != 1 && std::ranges::any_of(sum->times, goes_back)))
      return refused_map(
          "a map that is no sum of loops: a division, say, or a window that goes backwards");
    DimMap& place = result.map.dims.emplace_back();
    starts[dim] = sum->number;
    if (sum->is_number()) {
      counts[dim] = 1;
    } else if (sum->times.size() == 1) {
      place.loop = sum->times.begin()->first;
      steps[dim] = sum->times.begin()->second;
      counts[dim] = extents[*place.loop];
    } else if (sum->times.size() == 2) {
      const auto [a, a_times] = *sum->times.begin();
      const auto [b, b_times] = *std::next(sum->times.begin());
      place.window = Window{a, a_times, b, b_times};
      counts[dim] = (extents[a] - 1) * a_times + (extents[b] - 1) * b_times + 1;
    } else {
      return refused_map("a dim that more than two loops walk");
    }
    const std::int64_t last = starts[dim] + (counts[dim] - 1) * steps[dim];
    if (std::min(starts[dim], last) < 0 || std::max(starts[dim], last) >= value.dims[dim])
      return refused_map("a map that leaves its operand");
    if (steps[dim] > 0) continue;
    if (counts[dim] > backwards_max)
      return Error(Errc::limit_exceeded, "so many elements are not turned round");
    place.is_backwards = true;
    Integers backwards;
    for (std::int64_t i = 0; i < counts[dim]; ++i)
      backwards.push_back(starts[dim] + i * steps[dim]);
    RK_TRY(turned, builder.taken(result.value, dim, backwards));
    result.value = turned;
    starts[dim] = 0;
    steps[dim] = 1;
  }
  RK_TRY(cut, builder.slice(result.value, starts, counts, steps));
  result.value = cut;
  return result;
}

Result<Term> term_of(Builder& builder, const Walked& operand) {
  Term term;
  std::vector<bool> stays;
  for (const DimMap& dim : operand.map.dims) {
    stays.push_back(dim.loop.has_value());
    if (!dim.loop) continue;
    if (has(term.loops, *dim.loop)) return refused_map("a loop that walks two dims of an operand");
    term.loops.push_back(*dim.loop);
  }
  RK_TRY(value, builder.without(operand.value, stays));
  term.value = value;
  return term;
}

Result<Value> over(Builder& builder, const Term& term, const Loops& loops,
                   const Integers& extents) {
  std::vector<std::size_t> places;
  Integers dims;
  Integers permutation;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    dims.push_back(extents[loops[i]]);
    const auto own = std::ranges::find(term.loops, loops[i]);
    if (own == term.loops.end()) continue;
    places.push_back(i);
    permutation.push_back(own - term.loops.begin());
  }
  RK_TRY(turned, builder.permuted(term.value, permutation));
  return builder.with_dims(turned, places, dims);
}

Result<Term> essence(Builder& builder, const Term& term) {
  Term result;
  std::vector<bool> stays;
  for (std::size_t dim = 0; dim < term.loops.size(); ++dim) {
    stays.push_back(term.value.held[dim] > 1);
    if (stays.back()) result.loops.push_back(term.loops[dim]);
  }
  RK_TRY(value, builder.without(term.value, stays));
  result.value = value;
  return result;
}

Result<Value> grouped(Builder& builder, const Term& term, const std::vector<Loops>& order,
                      const Integers& extents) {
  Loops flat;
  Integers dims;
  for (const Loops& group : order) {
    flat.insert(flat.end(), group.begin(), group.end());
    dims.push_back(turns(group, extents));
  }
  RK_TRY(all, over(builder, term, flat, extents));
  RK_TRY(whole, builder.spread(all));
  return builder.reshaped(whole, dims);
}

Result<Term> ungrouped(Builder& builder, const Value& value, const std::vector<Loops>& order,
                       const Integers& extents) {
  Term term;
  Integers dims;
  for (const Loops& group : order) {
    for (const std::size_t loop : group) {
      term.loops.push_back(loop);
      dims.push_back(extents[loop]);
    }
  }
  RK_TRY(apart, builder.reshaped(value, dims));
  term.value = apart;
  return term;
}

}  // namespace ringkernel::mlir
