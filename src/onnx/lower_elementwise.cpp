// Ops that go element by element.
#include <cstring>

#include "onnx/rules.hpp"
#include "ringkernel/ops.hpp"

namespace ringkernel::onnx {
namespace {

template <Request (*build)(const TensorView&) noexcept>
Result<Graph::Value> unary(const Operation& operation) {
  RK_TRY(x, operation.operand(0));
  return operation.add(build(x));
}

template <Request (*build)(const TensorView&, const TensorView&) noexcept>
Result<Graph::Value> binary(const Operation& operation) {
  RK_TRY(a, operation.operand(0));
  RK_TRY(b, operation.operand(1));
  return operation.add(build(a, b));
}

constexpr float one = 1;
TensorView ones() { return {{DType::f32, {}}, &one}; }

}  // namespace

Result<Graph::Value> lower_add(const Operation& operation) { return binary<ops::add>(operation); }
Result<Graph::Value> lower_sub(const Operation& operation) { return binary<ops::sub>(operation); }
Result<Graph::Value> lower_mul(const Operation& operation) { return binary<ops::mul>(operation); }
Result<Graph::Value> lower_div(const Operation& operation) { return binary<ops::div>(operation); }
Result<Graph::Value> lower_relu(const Operation& operation) { return unary<ops::relu>(operation); }
Result<Graph::Value> lower_neg(const Operation& operation) { return unary<ops::neg>(operation); }
Result<Graph::Value> lower_exp(const Operation& operation) { return unary<ops::exp>(operation); }
Result<Graph::Value> lower_log(const Operation& operation) { return unary<ops::log>(operation); }

Result<Graph::Value> lower_reciprocal(const Operation& operation) {
  RK_TRY(x, operation.operand(0));
  return operation.add(ops::div(ones(), x));
}

Result<Graph::Value> lower_sigmoid(const Operation& operation) {
  RK_TRY(x, operation.operand(0));
  return sigmoid(operation, x);
}

Result<Graph::Value> sigmoid(const Operation& operation, const Graph::Value& x) {
  RK_TRY(negative, operation.add(ops::neg(x)));
  RK_TRY(power, operation.add(ops::exp(negative)));
  RK_TRY(below, operation.add(ops::add(power, ones())));
  return operation.add(ops::div(ones(), below));
}

Result<Graph::Value> lower_tanh(const Operation& operation) {
  RK_TRY(x, operation.operand(0));
  return hyperbolic_tangent(operation, x);
}

Result<Graph::Value> hyperbolic_tangent(const Operation& operation, const Graph::Value& x) {
  RK_TRY(doubled, operation.add(ops::add(x, x)));
  RK_TRY(curve, sigmoid(operation, doubled));
  RK_TRY(twice, operation.add(ops::add(curve, curve)));
  return operation.add(ops::sub(twice, ones()));
}

/// exp(log(x) / 2), within 1e-6 of it: 0 of 0, NaN below.
Result<Graph::Value> lower_sqrt(const Operation& operation) {
  constexpr float half = 0.5f;
  RK_TRY(x, operation.operand(0));
  RK_TRY(power, operation.add(ops::log(x)));
  RK_TRY(halved, operation.add(ops::mul(power, {{DType::f32, {}}, &half})));
  return operation.add(ops::exp(halved));
}

/// Squares, cubes and so on: exporters write products so.
Result<Graph::Value> lower_pow(const Operation& operation) {
  RK_TRY(x, operation.operand(0));
  constexpr int most = 4;
  int wanted = 0;
  if (const Value& given = operation.value(1);
      given.is_known() && given.known->element_count() == 1) {
    float power = 0;
    if (given.known->type == ElementType::f32)
      std::memcpy(&power, given.known->bytes.data(), sizeof power);
    else if (const Integers number = given.known->integers(); !number.empty())
      power = static_cast<float>(number[0]);
    for (int n = 1; n <= most; ++n)
      if (power == static_cast<float>(n)) wanted = n;
  }
  if (wanted == 0) return operation.refusal("a power that is not 1, 2, 3 or 4");
  Graph::Value product = x;
  for (int n = 1; n < wanted; ++n) {
    RK_TRY(next, operation.add(ops::mul(product, x)));
    product = next;
  }
  return product;
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
