/// Operands and attributes for every op of the table, drawn by the op's rule: an op whose rule has
/// no cases does not compile, and one that gets none fails `Cases.CoverEveryOpThatComputes`. An op
/// that takes integers gets each case a second and a third time with i32 and i64.
///
/// Threading: distinct objects safe, shared objects unsafe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ringkernel/message.hpp"
#include "support/reference_ops.hpp"
#include "support/stress.hpp"

namespace ringkernel::test {

/// Every run draws the same cases; change it to draw others.
inline constexpr std::uint64_t cases_seed = 20261121;

/// Floats, or integers that floats represent exactly.
struct Tensor {
  Shape shape;
  std::vector<float> elements;
  DType dtype = DType::f32;
  std::vector<std::byte> integers{};  ///< unless f32: the elements as they lie in memory

  /// The same numbers, which are whole, as elements of another type.
  [[nodiscard]] Tensor as(DType other) const;
  /// Borrows the elements.
  [[nodiscard]] TensorView view() const;
  [[nodiscard]] Values values() const { return {shape, {elements.begin(), elements.end()}}; }
};

struct Case {
  Op op;
  std::vector<Tensor> inputs;
  OpAttributes attributes;

  /// Borrows the elements.
  [[nodiscard]] Request request() const;
  [[nodiscard]] DType result_dtype() const;
  /// By the definition of the op.
  [[nodiscard]] Values expected() const;
  /// The same without signs: what rounding can do to a result in which terms cancel.
  [[nodiscard]] Values magnitudes() const;
  /// "matmul [2, 3] [3, 4]".
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] std::string_view name_of(Op op);

/// Elements from -1 to 1, or from 0 to 1, of 24 random bits.
[[nodiscard]] Tensor random_tensor(const std::vector<std::int64_t>& dims, Dice& dice,
                                   bool is_signed = true);

/// Always the same for an op; none for noop, which has neither operands nor a result.
[[nodiscard]] std::vector<Case> cases_of(Op op);

}  // namespace ringkernel::test
