/// The functions that ops.def names.
///
/// Threading: any thread; pure but for the graph of their operation.
/// Errors: E6003 for what an op has and we do not; those of Graph::add.
#pragma once

#include <optional>

#include "onnx/importer.hpp"

namespace ringkernel::onnx {

#define RK_ONNX(domain, name, since, until, operands, gives, lower, fold) \
  Result<gives> lower(const Operation& operation);                        \
  std::optional<Tensor> fold(const Operation& operation);
#include "onnx/ops.def"
#undef RK_ONNX

/// Operands of which elements at the same place go together: with their channels last if one of
/// them lies so and the others can.
struct Alike {
  std::vector<Graph::Value> operands;
  bool is_channels_last = false;
  bool is_line = false;

  /// What an op has made of them.
  [[nodiscard]] Value as_they(const Graph::Value& result) const;
};
[[nodiscard]] Result<Alike> alike(const Operation& operation,
                                  std::span<const std::size_t> positions);
/// The first ones.
[[nodiscard]] Result<Alike> alike(const Operation& operation, std::size_t count);

/// Where a dim of ONNX is with the channels last.
[[nodiscard]] std::int64_t place_with_channels_last(std::int64_t dim, bool is_line);

/// 1 / (1 + exp(-x)): 0 and 1 at the infinities.
[[nodiscard]] Result<Graph::Value> sigmoid(const Operation& operation, const Graph::Value& x);
/// |x|, of any type.
[[nodiscard]] Result<Graph::Value> magnitude(const Operation& operation, const Graph::Value& x);
/// -x; of integers -1 - x, which does not wrap: what was least is largest. Its own inverse.
[[nodiscard]] Result<Graph::Value> mirror(const Operation& operation, const Graph::Value& x);
/// Where along an axis the largest lies, as i64: the first or the last of equals; if one is NaN,
/// the first or the last of all. The axis is left out.
[[nodiscard]] Result<Graph::Value> position_of_largest(const Operation& operation,
                                                       const Graph::Value& x, std::int64_t axis,
                                                       bool is_last);
/// One behind the other along an axis: neighbours in pairs, then pairs of pairs, so that few
/// elements move more than once. There is one at least.
[[nodiscard]] Result<Graph::Value> joined(const Operation& operation,
                                          std::vector<Graph::Value> parts, std::int64_t axis);
/// Along an axis, elements in the order of `indices`, which lie inside of it.
[[nodiscard]] Result<Graph::Value> taken(const Operation& operation, const Graph::Value& x,
                                         std::int64_t axis, const Integers& indices);

// What an operation says, for both of its functions; nothing: it says what does not fit.

/// The new extents, 0 and -1 resolved.
[[nodiscard]] std::optional<Integers> reshaped_dims(const Operation& operation);
/// Ascending axes of the operand; all that have extent 1 where none are named.
[[nodiscard]] std::optional<Integers> squeezed_axes(const Operation& operation);
/// Ascending axes of the result.
[[nodiscard]] std::optional<Integers> unsqueezed_axes(const Operation& operation);
/// By default all dims, the last first.
[[nodiscard]] std::optional<Integers> permutation_of(const Operation& operation);
/// For each dim of the operand, inside of it, steps above 0; results are not empty.
struct Ranges {
  Integers starts;
  Integers ends;
  Integers steps;
};
[[nodiscard]] std::optional<Ranges> sliced_ranges(const Operation& operation);
/// Dim d of the result is dim `permutation[d]`. What no constant can be made of stays as it is.
[[nodiscard]] Tensor transposed(const Tensor& tensor, const Integers& permutation);

}  // namespace ringkernel::onnx
