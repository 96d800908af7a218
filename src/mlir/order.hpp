/// Orders of dims: what a value's are in what is made of it.
///
/// Threading: any thread; pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "mlir/value.hpp"

namespace ringkernel::mlir {

[[nodiscard]] inline bool is_identity(const Integers& permutation) {
  return std::ranges::is_sorted(permutation);
}

/// Dim d of the result is dim `permutation[d]`.
[[nodiscard]] inline Integers picked(const Integers& of, const Integers& permutation) {
  Integers dims;
  for (const std::int64_t from : permutation) dims.push_back(of[static_cast<std::size_t>(from)]);
  return dims;
}

[[nodiscard]] inline Integers in_place(std::size_t rank) {
  Integers order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Where the dims of a value are in what is made of it.
[[nodiscard]] inline Integers order_of(const Value& value) {
  return value.order.empty() ? in_place(value.rank()) : value.order;
}

[[nodiscard]] inline Integers inverse_of(const Integers& permutation) {
  Integers inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    inverse[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  return inverse;
}

/// Dims that are in an order where others are left out: the same order of those that stay.
[[nodiscard]] inline Integers closed_up(const Integers& order) {
  Integers result;
  for (const std::int64_t place : order)
    result.push_back(std::ranges::count_if(order, [&](auto other) { return other < place; }));
  return result;
}

/// A value of that kind with nothing in it yet.
[[nodiscard]] inline Value like(const Value& value, Integers dims, Integers held) {
  return {value.dtype, value.is_truth, std::move(dims), std::move(held), {}, {}, {}};
}

/// The order that the longest of these has, of which others may have to be turned.
[[nodiscard]] inline Integers common_order(std::span<const Value> values) {
  const Value* longest = nullptr;
  for (const Value& value : values)
    if (value.made &&
        (longest == nullptr || element_count(value.held) > element_count(longest->held)))
      longest = &value;
  return order_of(longest == nullptr ? values.front() : *longest);
}

}  // namespace ringkernel::mlir
