// Ops that compare elements or choose between them. ONNX has truth values of a type of their own;
// here they are i32, 0 or 1.
#include "onnx/rules.hpp"
#include "ringkernel/ops.hpp"

namespace ringkernel::onnx {
namespace {

/// All operands, one after the other.
template <Request (*build)(const TensorView&, const TensorView&) noexcept>
Result<Value> of_all(const Operation& operation) {
  RK_TRY(given, alike(operation, operation.input_count()));
  Graph::Value result = given.operands[0];
  for (std::size_t i = 1; i < given.operands.size(); ++i) {
    RK_TRY(next, operation.add(build(result, given.operands[i])));
    result = next;
  }
  return given.as_they(result);
}

template <Comparison comparison, bool is_swapped = false>
Result<Value> compared(const Operation& operation) {
  RK_TRY(given, alike(operation, 2));
  const Graph::Value& a = given.operands[is_swapped ? 1 : 0];
  const Graph::Value& b = given.operands[is_swapped ? 0 : 1];
  RK_TRY(y, operation.add(ops::compare(a, b, comparison)));
  return given.as_they(y);
}

/// 1 where an element is zero, or where it is not.
Result<Graph::Value> compared_with_zero(const Operation& operation, const Graph::Value& x,
                                        Comparison comparison) {
  constexpr std::int64_t zero = 0;  // of any type
  return operation.add(ops::compare(x, {{x.desc().dtype, {}}, &zero}, comparison));
}

/// As `position_of_largest`; of an operand or, with `is_least`, of its opposite.
Result<Graph::Value> lower_arg(const Operation& operation, bool is_least) {
  const auto axis = axis_of(operation.node().integer("axis", 0), operation.rank(0));
  if (!axis) return operation.refusal("no such axis");
  RK_TRY(x, operation.operand(0));
  if (is_least) {
    RK_TRY(mirrored, mirror(operation, x));
    x = mirrored;
  }
  RK_TRY(position, position_of_largest(operation, x, *axis,
                                       operation.node().integer("select_last_index", 0) != 0));
  if (operation.node().integer("keepdims", 1) == 0) return position;
  return operation.add(ops::expand_dims(position, {*axis}));
}

}  // namespace

Result<Graph::Value> mirror(const Operation& operation, const Graph::Value& x) {
  constexpr std::int64_t last = -1;
  if (x.desc().dtype == DType::f32) return operation.add(ops::neg(x));
  return operation.add(ops::sub({{x.desc().dtype, {}}, &last}, x));
}

/// Each position has a number, the larger the better; what lies below the largest has 0.
Result<Graph::Value> position_of_largest(const Operation& operation, const Graph::Value& x,
                                         std::int64_t axis, bool is_last) {
  constexpr std::uint32_t extent_max = 1 << 22;
  const Shape& shape = x.desc().shape;
  if (shape[static_cast<std::size_t>(axis)] > extent_max)
    return operation.refusal("of so many elements in a row");
  const auto extent = static_cast<std::int32_t>(shape[static_cast<std::size_t>(axis)]);
  std::vector<std::int32_t> ranks(static_cast<std::size_t>(extent));
  for (std::int32_t i = 0; i < extent; ++i)
    ranks[static_cast<std::size_t>(i)] = is_last ? i + 1 : extent - i;
  Integers dims(shape.rank() - static_cast<std::size_t>(axis), 1);
  dims[0] = extent;
  RK_TRY(ranks_shape, Shape::make(dims));
  RK_TRY(numbers, operation.constant({ranks_shape, ranks}));
  constexpr std::int32_t none = 0;
  RK_TRY(most, operation.add(ops::reduce_max(x, {axis}, true)));
  RK_TRY(is_less, operation.add(ops::compare(x, most, Comparison::less)));
  RK_TRY(candidates, operation.add(ops::select(is_less, {{DType::i32, {}}, &none}, numbers)));
  RK_TRY(best, operation.add(ops::reduce_max(candidates, {axis})));
  const std::int32_t from = is_last ? 1 : extent;
  const TensorView edge({DType::i32, {}}, &from);
  RK_TRY(position, operation.add(is_last ? ops::sub(best, edge) : ops::sub(edge, best)));
  return operation.add(ops::cast(position, DType::i64));
}

Result<Graph::Value> lower_arg_max(const Operation& operation) {
  return lower_arg(operation, false);
}
Result<Graph::Value> lower_arg_min(const Operation& operation) {
  return lower_arg(operation, true);
}

Result<Value> lower_max(const Operation& operation) { return of_all<ops::max>(operation); }
Result<Value> lower_min(const Operation& operation) { return of_all<ops::min>(operation); }
Result<Value> lower_sum(const Operation& operation) { return of_all<ops::add>(operation); }

/// Either bound may be left out; of two that cross, the upper one counts.
Result<Value> lower_clip(const Operation& operation) {
  RK_TRY(given, alike(operation, 1));
  Graph::Value result = given.operands[0];
  const auto bounded = [&](std::size_t position, const char* attribute,
                           auto build) -> Result<void> {
    if (operation.has(position)) {
      if (operation.rank(position) != 0) return operation.refusal("a bound that is no scalar");
      RK_TRY(bound, operation.operand(position));
      RK_TRY(next, operation.add(build(result, bound)));
      result = next;
    } else if (const Attribute* const given_bound = operation.node().find(attribute)) {
      RK_TRY(next,
             operation.add(build(result, TensorView({DType::f32, {}}, &given_bound->number))));
      result = next;
    }
    return {};
  };
  RK_TRY_VOID(bounded(1, "min", ops::max));
  RK_TRY_VOID(bounded(2, "max", ops::min));
  return given.as_they(result);
}

Result<Value> lower_equal(const Operation& operation) {
  return compared<Comparison::equal>(operation);
}
Result<Value> lower_less(const Operation& operation) {
  return compared<Comparison::less>(operation);
}
Result<Value> lower_less_or_equal(const Operation& operation) {
  return compared<Comparison::less_equal>(operation);
}
Result<Value> lower_greater(const Operation& operation) {
  return compared<Comparison::less, true>(operation);
}
Result<Value> lower_greater_or_equal(const Operation& operation) {
  return compared<Comparison::less_equal, true>(operation);
}

Result<Value> lower_and(const Operation& operation) { return of_all<ops::min>(operation); }
Result<Value> lower_or(const Operation& operation) { return of_all<ops::max>(operation); }
Result<Value> lower_xor(const Operation& operation) {
  return compared<Comparison::not_equal>(operation);
}
Result<Value> lower_not(const Operation& operation) {
  RK_TRY(given, alike(operation, 1));
  RK_TRY(y, compared_with_zero(operation, given.operands[0], Comparison::equal));
  return given.as_they(y);
}

Result<Value> lower_where(const Operation& operation) {
  RK_TRY(given, alike(operation, 3));
  RK_TRY(y, operation.add(ops::select(given.operands[0], given.operands[1], given.operands[2])));
  return given.as_they(y);
}

Result<Value> lower_cast(const Operation& operation) {
  RK_TRY(given, alike(operation, 1));
  const Graph::Value& x = given.operands[0];
  const auto type = static_cast<ElementType>(operation.node().integer("to", 0));
  const DType dtype = dtype_of(type);
  if (type == ElementType::boolean) {
    RK_TRY(y, compared_with_zero(operation, x, Comparison::not_equal));
    return given.as_they(y);
  }
  if (dtype == DType::none) return operation.refusal("to " + name_of(type));
  if (dtype == x.desc().dtype) return given.as_they(x);
  RK_TRY(y, operation.add(ops::cast(x, dtype)));
  return given.as_they(y);
}

}  // namespace ringkernel::onnx
