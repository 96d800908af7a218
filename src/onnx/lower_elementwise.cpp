// Ops that go element by element.
#include <cmath>
#include <cstring>
#include <numeric>

#include "onnx/rules.hpp"
#include "ringkernel/ops.hpp"

namespace ringkernel::onnx {
namespace {

template <Request (*build)(const TensorView&) noexcept>
Result<Value> unary(const Operation& operation) {
  RK_TRY(given, alike(operation, 1));
  RK_TRY(y, operation.add(build(given.operands[0])));
  return given.as_they(y);
}

template <Request (*build)(const TensorView&, const TensorView&) noexcept>
Result<Value> binary(const Operation& operation) {
  RK_TRY(given, alike(operation, 2));
  RK_TRY(y, operation.add(build(given.operands[0], given.operands[1])));
  return given.as_they(y);
}

/// Whether it can lie with the channels last beside images of that rank.
bool can_follow(const Value& value, std::int64_t rank) {
  const auto own = static_cast<std::int64_t>(value.dims().size());
  return own == rank || (value.is_known() && own < rank);
}

}  // namespace

Value Alike::as_they(const Graph::Value& result) const {
  return is_channels_last ? Value::with_channels_last(result, is_line) : Value(result);
}

Result<Alike> alike(const Operation& operation, std::span<const std::size_t> positions) {
  Alike result;
  std::int64_t rank = 0;
  for (const std::size_t i : positions)
    if (operation.has(i) && operation.value(i).is_channels_last()) rank = operation.rank(i);
  result.is_channels_last = rank != 0;
  for (const std::size_t i : positions)
    if (operation.has(i)) result.is_channels_last &= can_follow(operation.value(i), rank);
  result.is_line = rank == 3;
  for (const std::size_t i : positions) {
    RK_TRY(operand,
           result.is_channels_last ? operation.channels_last(i, rank) : operation.operand(i));
    result.operands.push_back(operand);
  }
  return result;
}

Result<Alike> alike(const Operation& operation, std::size_t count) {
  std::vector<std::size_t> positions(count);
  std::iota(positions.begin(), positions.end(), 0);
  return alike(operation, positions);
}

Result<Value> lower_add(const Operation& operation) { return binary<ops::add>(operation); }
Result<Value> lower_sub(const Operation& operation) { return binary<ops::sub>(operation); }
Result<Value> lower_mul(const Operation& operation) { return binary<ops::mul>(operation); }

/// By one number that the file knows: a product with its reciprocal, which costs a fraction.
Result<Value> lower_div(const Operation& operation) {
  const Value& divisor = operation.value(1);
  if (!divisor.is_known() || divisor.known->type != ElementType::f32 ||
      divisor.known->is_external || divisor.known->element_count() != 1 ||
      divisor.dims().size() > operation.dims(0).size())
    return binary<ops::div>(operation);
  float number = 0;
  std::memcpy(&number, divisor.known->bytes.data(), sizeof number);
  const float reciprocal = 1 / number;
  if (!std::isnormal(reciprocal)) return binary<ops::div>(operation);
  RK_TRY(given, alike(operation, 1));
  RK_TRY(y, operation.add(ops::mul(given.operands[0], {{DType::f32, {}}, &reciprocal})));
  return given.as_they(y);
}

Result<Value> lower_relu(const Operation& operation) { return unary<ops::relu>(operation); }
Result<Value> lower_neg(const Operation& operation) { return unary<ops::neg>(operation); }
Result<Value> lower_exp(const Operation& operation) { return unary<ops::exp>(operation); }
Result<Value> lower_log(const Operation& operation) { return unary<ops::log>(operation); }
Result<Value> lower_sqrt(const Operation& operation) { return unary<ops::sqrt>(operation); }
Result<Value> lower_tanh(const Operation& operation) { return unary<ops::tanh>(operation); }
Result<Value> lower_erf(const Operation& operation) { return unary<ops::erf>(operation); }

/// What it gives is what it takes.
Result<Graph::Value> lower_identity(const Operation& operation) { return operation.operand(0); }

/// Those that are known, or refused.
Result<Graph::Value> lower_known(const Operation& operation) {
  return operation.refusal("its operands have to be known when it is read");
}

Result<Graph::Value> lower_constant(const Operation& operation) {
  return operation.refusal("a constant of text, or sparse");
}

}  // namespace ringkernel::onnx
