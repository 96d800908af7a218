// Products and sums.
#include <numeric>

#include "onnx/rules.hpp"
#include "ringkernel/ops.hpp"

namespace ringkernel::onnx {
namespace {

/// A matrix, turned where the attribute says so; a known one here and now.
Result<Graph::Value> side(const Operation& operation, std::size_t position,
                          std::string_view is_turned) {
  if (operation.node().integer(is_turned, 0) == 0) return operation.operand(position);
  if (operation.has(position) && operation.rank(position) != 2)
    return operation.refusal("a side that is no matrix");
  if (operation.has(position) && operation.value(position).is_known())
    return operation.constant(transposed(*operation.value(position).known, {1, 0}));
  RK_TRY(matrix, operation.operand(position));
  return operation.transpose(matrix, {1, 0});
}

Result<Graph::Value> scaled(const Operation& operation, const Graph::Value& x, float factor) {
  if (factor == 1) return x;
  return operation.add(ops::mul(x, {{DType::f32, {}}, &factor}));
}

template <Request (*build)(const TensorView&, IntList, bool) noexcept>
Result<Value> reduce(const Operation& operation) {
  RK_TRY(axes, operation.list(1, "axes"));
  const bool keeps = operation.node().integer("keepdims", 1) != 0;
  if (axes.empty()) {
    if (operation.node().integer("noop_with_empty_axes", 0) != 0) return operation.value(0);
    axes.resize(operation.dims(0).size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (const Value& value = operation.value(0); value.is_channels_last() && keeps) {
    for (std::int64_t& axis : axes) {
      const auto inside = axis_of(axis, operation.rank(0));
      if (!inside) return operation.refusal("no such axis");
      axis = place_with_channels_last(*inside, value.is_line);
    }
    RK_TRY(y, operation.add(build(*value.channels_last, IntList(axes), keeps)));
    return Value::with_channels_last(y, value.is_line);
  }
  RK_TRY(x, operation.operand(0));
  RK_TRY(y, operation.add(build(x, IntList(axes), keeps)));
  return y;
}

}  // namespace

Result<Graph::Value> lower_matmul(const Operation& operation) {
  RK_TRY(a, operation.operand(0));
  RK_TRY(b, operation.operand(1));
  // Vectors are no matrices: `dot` has them.
  const bool has_vector = a.desc().shape.rank() < 2 || b.desc().shape.rank() < 2;
  return operation.add(has_vector ? ops::dot(a, b) : ops::matmul(a, b));
}

/// alpha * a' * b' + beta * c
Result<Graph::Value> lower_gemm(const Operation& operation) {
  RK_TRY(a, side(operation, 0, "transA"));
  RK_TRY(b, side(operation, 1, "transB"));
  RK_TRY(product, operation.add(ops::matmul(a, b)));
  RK_TRY(y, scaled(operation, product, operation.node().number("alpha", 1)));
  if (!operation.has(2)) return y;
  RK_TRY(given, operation.operand(2));
  RK_TRY(c, scaled(operation, given, operation.node().number("beta", 1)));
  return operation.add(ops::add(y, c));
}

Result<Value> lower_reduce_sum(const Operation& operation) { return reduce<ops::sum>(operation); }
Result<Value> lower_reduce_max(const Operation& operation) {
  return reduce<ops::reduce_max>(operation);
}
Result<Value> lower_reduce_mean(const Operation& operation) { return reduce<ops::mean>(operation); }

}  // namespace ringkernel::onnx
