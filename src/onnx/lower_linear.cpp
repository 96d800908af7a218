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

/// What is done to the elements before they are reduced, or to what they are reduced to.
using Map = Result<Graph::Value> (*)(const Operation& operation, const Graph::Value& x);

Result<Graph::Value> same(const Operation&, const Graph::Value& x) { return x; }
Result<Graph::Value> squared(const Operation& operation, const Graph::Value& x) {
  return operation.add(ops::mul(x, x));
}
Result<Graph::Value> rooted(const Operation& operation, const Graph::Value& x) {
  return operation.add(ops::sqrt(x));
}

/// The axes that are named, or all of them; nothing: the operand is the result.
Result<std::optional<Integers>> reduced_axes(const Operation& operation) {
  RK_TRY(axes, operation.list(1, "axes"));
  if (axes.empty()) {
    if (operation.node().integer("noop_with_empty_axes", 0) != 0) return std::optional<Integers>();
    axes.resize(operation.dims(0).size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  return std::optional(axes);
}

template <Request (*build)(const TensorView&, IntList, bool) noexcept, Map before = same,
          Map after = same>
Result<Value> reduce(const Operation& operation) {
  RK_TRY(wanted, reduced_axes(operation));
  if (!wanted) {
    if (before == same && after == same) return operation.value(0);
    return operation.refusal("'noop_with_empty_axes'");
  }
  Integers axes = *wanted;
  const bool keeps = operation.node().integer("keepdims", 1) != 0;
  const Value& value = operation.value(0);
  const bool stays = value.is_channels_last() && keeps;
  if (stays)
    for (std::int64_t& axis : axes) {
      const auto inside = axis_of(axis, operation.rank(0));
      if (!inside) return operation.refusal("no such axis");
      axis = place_with_channels_last(*inside, value.is_line);
    }
  RK_TRY(x, stays ? Result<Graph::Value>(*value.channels_last) : operation.operand(0));
  RK_TRY(prepared, before(operation, x));
  RK_TRY(reduced, operation.add(build(prepared, IntList(axes), keeps)));
  RK_TRY(y, after(operation, reduced));
  return stays ? Value::with_channels_last(y, value.is_line) : Value(y);
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
  if (!operation.has(2) || operation.node().number("beta", 1) == 0) return y;
  RK_TRY(given, operation.operand(2));
  RK_TRY(c, scaled(operation, given, operation.node().number("beta", 1)));
  return operation.add(ops::add(y, c));
}

Result<Value> lower_reduce_sum(const Operation& operation) { return reduce<ops::sum>(operation); }
Result<Value> lower_reduce_max(const Operation& operation) {
  return reduce<ops::reduce_max>(operation);
}
Result<Value> lower_reduce_min(const Operation& operation) {
  return reduce<ops::reduce_max, mirror, mirror>(operation);
}
Result<Value> lower_reduce_l1(const Operation& operation) {
  return reduce<ops::sum, magnitude>(operation);
}
Result<Value> lower_reduce_l2(const Operation& operation) {
  return reduce<ops::sum, squared, rooted>(operation);
}
Result<Value> lower_reduce_sum_square(const Operation& operation) {
  return reduce<ops::sum, squared>(operation);
}

/// The largest is taken out first, so that no exp is too large.
Result<Graph::Value> lower_reduce_log_sum_exp(const Operation& operation) {
  RK_TRY(axes, reduced_axes(operation));
  if (!axes) return operation.refusal("'noop_with_empty_axes'");
  for (std::int64_t& axis : *axes) {
    const auto inside = axis_of(axis, operation.rank(0));
    if (!inside) return operation.refusal("no such axis");
    axis = *inside;
  }
  RK_TRY(x, operation.operand(0));
  if (axes->empty()) return x;  // a scalar
  RK_TRY(most, operation.add(ops::reduce_max(x, IntList(*axes), true)));
  RK_TRY(distances, operation.add(ops::sub(x, most)));
  RK_TRY(powers, operation.add(ops::exp(distances)));
  RK_TRY(sums, operation.add(ops::sum(powers, IntList(*axes), true)));
  RK_TRY(logs, operation.add(ops::log(sums)));
  RK_TRY(y, operation.add(ops::add(logs, most)));
  if (operation.node().integer("keepdims", 1) != 0) return y;
  return operation.add(ops::squeeze(y, IntList(*axes)));
}

Result<Value> lower_reduce_mean(const Operation& operation) { return reduce<ops::mean>(operation); }

}  // namespace ringkernel::onnx
