// Ops that go element by element.
#include <cstring>

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

/// What several ops make of one operand.
template <class Compose>
Result<Value> composed(const Operation& operation, Compose compose) {
  RK_TRY(given, alike(operation, 1));
  RK_TRY(y, compose(given.operands[0]));
  return given.as_they(y);
}

constexpr float one = 1;
TensorView ones() { return {{DType::f32, {}}, &one}; }

/// Whether it can lie with the channels last beside images of that rank.
bool can_follow(const Value& value, std::int64_t rank) {
  const auto own = static_cast<std::int64_t>(value.dims().size());
  return own == rank || (value.is_known() && own < rank);
}

}  // namespace

Value Alike::as_they(const Graph::Value& result) const {
  return is_channels_last ? Value::with_channels_last(result, is_line) : Value(result);
}

Result<Alike> alike(const Operation& operation, std::size_t count) {
  Alike result;
  std::int64_t rank = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (operation.has(i) && operation.value(i).is_channels_last()) rank = operation.rank(i);
  result.is_channels_last = rank != 0;
  for (std::size_t i = 0; i < count; ++i)
    if (operation.has(i)) result.is_channels_last &= can_follow(operation.value(i), rank);
  result.is_line = rank == 3;
  for (std::size_t i = 0; i < count; ++i) {
    RK_TRY(operand,
           result.is_channels_last ? operation.channels_last(i, rank) : operation.operand(i));
    result.operands.push_back(operand);
  }
  return result;
}

Result<Value> lower_add(const Operation& operation) { return binary<ops::add>(operation); }
Result<Value> lower_sub(const Operation& operation) { return binary<ops::sub>(operation); }
Result<Value> lower_mul(const Operation& operation) { return binary<ops::mul>(operation); }
Result<Value> lower_div(const Operation& operation) { return binary<ops::div>(operation); }
Result<Value> lower_relu(const Operation& operation) { return unary<ops::relu>(operation); }
Result<Value> lower_neg(const Operation& operation) { return unary<ops::neg>(operation); }
Result<Value> lower_exp(const Operation& operation) { return unary<ops::exp>(operation); }
Result<Value> lower_log(const Operation& operation) { return unary<ops::log>(operation); }

Result<Value> lower_reciprocal(const Operation& operation) {
  return composed(operation,
                  [&](const Graph::Value& x) { return operation.add(ops::div(ones(), x)); });
}

Result<Value> lower_sigmoid(const Operation& operation) {
  return composed(operation, [&](const Graph::Value& x) { return sigmoid(operation, x); });
}

Result<Graph::Value> sigmoid(const Operation& operation, const Graph::Value& x) {
  RK_TRY(negative, operation.add(ops::neg(x)));
  RK_TRY(power, operation.add(ops::exp(negative)));
  RK_TRY(below, operation.add(ops::add(power, ones())));
  return operation.add(ops::div(ones(), below));
}

Result<Value> lower_tanh(const Operation& operation) {
  return composed(operation,
                  [&](const Graph::Value& x) { return hyperbolic_tangent(operation, x); });
}

Result<Graph::Value> hyperbolic_tangent(const Operation& operation, const Graph::Value& x) {
  RK_TRY(doubled, operation.add(ops::add(x, x)));
  RK_TRY(curve, sigmoid(operation, doubled));
  RK_TRY(twice, operation.add(ops::add(curve, curve)));
  return operation.add(ops::sub(twice, ones()));
}

/// exp(log(x) / 2), within 1e-6 of it: 0 of 0, NaN below.
Result<Value> lower_sqrt(const Operation& operation) {
  return composed(operation, [&](const Graph::Value& x) -> Result<Graph::Value> {
    constexpr float half = 0.5f;
    RK_TRY(power, operation.add(ops::log(x)));
    RK_TRY(halved, operation.add(ops::mul(power, {{DType::f32, {}}, &half})));
    return operation.add(ops::exp(halved));
  });
}

/// Squares, cubes and so on: exporters write products so.
Result<Value> lower_pow(const Operation& operation) {
  constexpr int most = 4;
  int wanted = 0;
  if (const Value& given = operation.value(1); given.is_known() && !given.known->is_external &&
                                               given.known->element_count() == 1 &&
                                               given.dims().size() <= operation.dims(0).size()) {
    float power = 0;
    if (given.known->type == ElementType::f32)
      std::memcpy(&power, given.known->bytes.data(), sizeof power);
    else if (const Integers number = given.known->integers(); !number.empty())
      power = static_cast<float>(number[0]);
    for (int n = 1; n <= most; ++n)
      if (power == static_cast<float>(n)) wanted = n;
  }
  if (wanted == 0) return operation.refusal("a power that is not 1, 2, 3 or 4");
  return composed(operation, [&](const Graph::Value& x) -> Result<Graph::Value> {
    Graph::Value product = x;
    for (int n = 1; n < wanted; ++n) {
      RK_TRY(next, operation.add(ops::mul(product, x)));
      product = next;
    }
    return product;
  });
}

/// What it gives is what it takes.
Result<Graph::Value> lower_identity(const Operation& operation) { return operation.operand(0); }

Result<Graph::Value> lower_cast(const Operation& operation) {
  RK_TRY(x, operation.operand(0));
  const auto type = static_cast<ElementType>(operation.node().integer("to", 0));
  if (dtype_of(type) == x.desc().dtype) return x;
  return operation.refusal("from " + std::string(name(x.desc().dtype)) + " to " + name_of(type));
}

/// Those that are known, or refused.
Result<Graph::Value> lower_known(const Operation& operation) {
  return operation.refusal("its operands have to be known when it is read");
}

Result<Graph::Value> lower_constant(const Operation& operation) {
  return operation.refusal("a constant of text, or sparse");
}

}  // namespace ringkernel::onnx
