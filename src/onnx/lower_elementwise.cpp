// Ops that go element by element.
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

/// 1 / (1 + exp(-x)): 0 and 1 at the infinities.
Result<Graph::Value> lower_sigmoid(const Operation& operation) {
  RK_TRY(x, operation.operand(0));
  RK_TRY(negative, operation.add(ops::neg(x)));
  RK_TRY(power, operation.add(ops::exp(negative)));
  RK_TRY(below, operation.add(ops::add(power, ones())));
  return operation.add(ops::div(ones(), below));
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
