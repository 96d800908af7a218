// What a builder makes of values element by element, and of all elements along dims.
#include <algorithm>
#include <array>
#include <numeric>

#include "mlir/order.hpp"
#include "mlir/value.hpp"

namespace ringkernel::mlir {

Result<Value> Builder::elementwise(Request request, std::span<const Value> operands, DType dtype) {
  Value result = like(operands[0], operands[0].dims, operands[0].held);
  result.dtype = dtype;
  result.is_truth = false;
  request.input_count = static_cast<std::uint32_t>(operands.size());
  const Integers order = common_order(operands);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Value& operand = operands[i];
    // A number needs no dims: the shapes of ops broadcast.
    const Value scalar{operand.dtype, operand.is_truth, {}, {}, operand.known, {}, {}};
    RK_TRY(moved, permuted(operand, inverse_of(order)));
    RK_TRY(made, kept(operand.splat() && i > 0 ? scalar : moved));
    request.inputs[i] = made;
    for (std::size_t dim = 0; dim < result.rank(); ++dim) {
      result.dims[dim] = std::max(result.dims[dim], operand.dims[dim]);
      result.held[dim] = std::max(result.held[dim], operand.held[dim]);
    }
  }
  RK_TRY(made, add(request));
  result.made = made;
  if (!is_identity(order)) result.order = order;
  return result;
}

Result<Value> Builder::unary(Op op, const Value& x) {
  Request request;
  request.op = op;
  return elementwise(request, std::array{x}, x.dtype);
}

Result<Value> Builder::binary(Op op, const Value& a, const Value& b) {
  Request request;
  request.op = op;
  return elementwise(request, std::array{a, b}, a.dtype);
}

Result<Value> Builder::compare(Comparison comparison, const Value& a, const Value& b) {
  Request request;
  request.op = Op::compare;
  request.attributes.comparison = comparison;
  return elementwise(request, std::array{a, b}, DType::i32);
}

Result<Value> Builder::select(const Value& condition, const Value& a, const Value& b) {
  Request request;
  request.op = Op::select;
  return elementwise(request, std::array{condition, a, b}, a.dtype);
}

Result<Value> Builder::cast(const Value& x, DType dtype) {
  if (x.dtype == dtype) return x;
  Request request;
  request.op = Op::cast;
  request.attributes.dtype = dtype;
  return elementwise(request, std::array{x}, dtype);
}

Value Builder::count(std::int64_t extent) {
  const auto there = counts_.find(extent);
  if (there != counts_.end()) return there->second;
  Integers numbers(static_cast<std::size_t>(extent));
  std::iota(numbers.begin(), numbers.end(), 0);
  return counts_.emplace(extent, Value::integers(numbers)).first->second;
}

Result<Value> Builder::reduce(Op op, const Value& x, const std::vector<bool>& over) {
  Value result = like(x, {}, {});
  Request request;
  request.op = op;
  std::int64_t repeated = 1;  // along dims that are kept once
  Integers order;
  for (std::size_t dim = 0; dim < x.rank(); ++dim) {
    const std::int64_t place = order_of(x)[dim];
    if (over[dim]) {
      request.attributes.axes.push_back(place);
      if (x.held[dim] == 1) repeated *= x.dims[dim];
      continue;
    }
    result.dims.push_back(x.dims[dim]);
    result.held.push_back(x.held[dim]);
    order.push_back(place);
  }
  order = closed_up(order);
  if (!is_identity(order)) result.order = order;
  RK_TRY(from, x.made ? Result<Graph::Value>(*x.made) : kept(x));
  request.input_count = 1;
  request.inputs[0] = from;
  RK_TRY(made, add(request));
  result.made = made;
  if (op != Op::sum || repeated == 1) return result;
  return binary(Op::mul, result, Value::number(x.dtype, repeated, Integers(result.rank(), 1)));
}

}  // namespace ringkernel::mlir
