#include "mlir/value.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "foundation/strided.hpp"
#include "mlir/order.hpp"

namespace ringkernel::mlir {
namespace {

template <class T>
Bytes bytes_of(std::span<const T> elements) {
  std::vector<std::byte> bytes(elements.size_bytes());
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

template <class T>
Bytes bytes_of_one(T element) {
  return bytes_of(std::span<const T>(&element, 1));
}

template <class T>
T first_of(const Bytes& bytes) {
  T element{};
  std::memcpy(&element, bytes->data(), sizeof element);
  return element;
}

/// Whether dims that are longer than 1 stay in their order.
bool moves_only_ones(const Integers& dims, const Integers& permutation) {
  std::int64_t last = -1;
  for (const std::int64_t from : permutation) {
    if (dims[static_cast<std::size_t>(from)] == 1) continue;
    if (from < last) return false;
    last = from;
  }
  return true;
}

Bytes strided_of(const Value& value, std::int64_t offset, const Integers& counts,
                 const Integers& strides) {
  return std::make_shared<const std::vector<std::byte>>(
      strided(*value.known, element_bytes(value.dtype), offset, counts, strides));
}

/// Whether extents are the same but for those that are 1.
bool differ_in_ones(const Integers& a, const Integers& b) {
  const auto longer = [](const Integers& dims) {
    Integers result;
    std::ranges::copy_if(dims, std::back_inserter(result), [](auto extent) { return extent != 1; });
    return result;
  };
  return longer(a) == longer(b);
}

}  // namespace

std::int64_t element_count(std::span<const std::int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

std::optional<double> Value::splat() const {
  if (known == nullptr || element_count(held) != 1) return std::nullopt;
  if (dtype == DType::f32) return first_of<float>(known);
  if (dtype == DType::i32) return first_of<std::int32_t>(known);
  return static_cast<double>(first_of<std::int64_t>(known));
}

Value Value::of(const Graph::Value& made) {
  const auto extents = made.desc().shape.dims();
  const Integers dims(extents.begin(), extents.end());
  return {made.desc().dtype, false, dims, dims, {}, made, {}};
}

Value Value::unwritten(DType dtype, bool is_truth, Integers dims) {
  Integers held = dims;
  return {dtype, is_truth, std::move(dims), std::move(held), {}, {}, {}};
}

Value Value::number(DType dtype, double number, Integers dims) {
  if (dtype != DType::f32)
    return Value::number(dtype, static_cast<std::int64_t>(number), std::move(dims));
  Integers held(dims.size(), 1);
  return {dtype, false, std::move(dims), std::move(held), bytes_of_one(static_cast<float>(number)),
          {},    {}};
}

Value Value::number(DType dtype, std::int64_t number, Integers dims) {
  if (dtype == DType::f32)
    return Value::number(dtype, static_cast<double>(number), std::move(dims));
  Integers held(dims.size(), 1);
  Bytes bytes =
      dtype == DType::i32 ? bytes_of_one(static_cast<std::int32_t>(number)) : bytes_of_one(number);
  return {dtype, false, std::move(dims), std::move(held), std::move(bytes), {}, {}};
}

Value Value::integers(const Integers& elements) {
  const Integers dims{static_cast<std::int64_t>(elements.size())};
  return {DType::i64, false, dims, dims, bytes_of(std::span<const std::int64_t>(elements)), {}, {}};
}

Result<Graph::Value> Builder::add(const Request& request) {
  const Graph::Value value = graph_.add(request);
  if (!graph_.status()) return graph_.status().error();
  return value;
}

Result<Graph::Value> Builder::shaped(const Graph::Value& value, const Integers& dims) {
  const auto before = shaped_from_.find(TensorView(value).tensor);
  const Graph::Value from = before == shaped_from_.end() ? value : before->second;
  if (std::ranges::equal(from.desc().shape.dims(), dims)) return from;
  RK_TRY(made, add(ops::reshape(from, IntList(dims))));
  shaped_from_.emplace(TensorView(made).tensor, from);
  return made;
}

Result<Graph::Value> Builder::turned(const Graph::Value& value, const Integers& permutation) {
  if (is_identity(permutation)) return value;
  const auto extents = value.desc().shape.dims();
  const Integers dims = picked({extents.begin(), extents.end()}, permutation);
  if (moves_only_ones({extents.begin(), extents.end()}, permutation)) return shaped(value, dims);
  const std::pair key{TensorView(value).tensor, permutation};
  const auto there = turned_.find(key);
  if (there != turned_.end()) return there->second;
  RK_TRY(made, add(ops::transpose(value, IntList(permutation))));
  turned_.emplace(key, made);
  return made;
}

Result<Graph::Value> Builder::constant(const Value& value) {
  const auto there = constants_.find(value.known);
  if (there != constants_.end()) return shaped(there->second, value.held);
  RK_TRY(shape, Shape::make(value.held));
  const Graph::Value made = graph_.constant(TensorView({value.dtype, shape}, value.known->data()));
  if (!graph_.status()) return graph_.status().error();
  constants_.emplace(value.known, made);
  return made;
}

Result<Graph::Value> Builder::kept(const Value& value) {
  if (value.made) return turned(*value.made, order_of(value));
  if (value.known != nullptr) return constant(value);
  return Error(Errc::unsupported_operation, "elements are read that nothing has written");
}

Result<Graph::Value> Builder::whole(const Value& value) {
  if (value.is_whole()) return kept(value);
  RK_TRY_VOID(Shape::make(value.dims));
  if (value.splat()) {
    const Value scalar{value.dtype, value.is_truth, {}, {}, value.known, {}, {}};
    RK_TRY(element, kept(scalar));
    return add(ops::fill(element, IntList(value.dims)));
  }
  RK_TRY(once, kept(value));
  RK_TRY(one, kept(Value::number(value.dtype, 1)));
  RK_TRY(ones, add(ops::fill(one, IntList(value.dims))));
  return add(ops::mul(once, ones));
}

Result<Value> Builder::spread(const Value& value) {
  if (value.is_whole()) return value;
  Value result = like(value, value.dims, value.dims);
  RK_TRY(made, whole(value));
  result.made = made;
  return result;
}

Result<Value> Builder::permuted(const Value& value, const Integers& permutation) {
  if (is_identity(permutation)) return value;
  Value result = like(value, picked(value.dims, permutation), picked(value.held, permutation));
  result.made = value.made;
  if (value.made) {
    result.order = picked(order_of(value), permutation);
    if (is_identity(result.order)) result.order.clear();
  } else if (value.known != nullptr) {
    result.known =
        moves_only_ones(value.held, permutation)
            ? value.known
            : strided_of(value, 0, result.held, picked(strides_of(value.held), permutation));
  }
  return result;
}

Result<Value> Builder::reshaped(const Value& value, const Integers& dims) {
  if (value.dims == dims) return value;
  if (element_count(value.dims) != element_count(dims))
    return Error(Errc::unsupported_operation, "other dims with another number of elements");
  Value result = like(value, dims, dims);
  if (!value.is_written()) return result;
  if (differ_in_ones(value.dims, dims)) {
    std::vector<bool> stays;
    std::vector<std::size_t> places;
    for (const std::int64_t extent : value.dims) stays.push_back(extent != 1);
    for (std::size_t dim = 0; dim < dims.size(); ++dim)
      if (dims[dim] != 1) places.push_back(dim);
    RK_TRY(longer, without(value, stays));
    return with_dims(longer, places, dims);
  }
  if (value.splat()) {
    result.held.assign(dims.size(), 1);
    result.known = value.known;
    return result;
  }
  if (value.known != nullptr && value.is_whole()) {
    result.known = value.known;
    return result;
  }
  if (dims.size() > rank_max)
    return Error(Errc::unsupported_operation, "more than 8 loops or dims at once");
  RK_TRY(all, whole(value));
  RK_TRY(made, shaped(all, dims));
  result.made = made;
  return result;
}

Result<Value> Builder::without(const Value& value, const std::vector<bool>& stays) {
  Value result = like(value, {}, {});
  Integers order;
  for (std::size_t dim = 0; dim < value.rank(); ++dim) {
    if (!stays[dim]) continue;
    result.dims.push_back(value.dims[dim]);
    result.held.push_back(value.held[dim]);
    order.push_back(order_of(value)[dim]);
  }
  if (result.rank() == value.rank()) return value;
  result.known = value.known;
  if (!value.made) return result;
  order = closed_up(order);
  RK_TRY(made, shaped(*value.made, picked(result.held, inverse_of(order))));
  result.made = made;
  if (!is_identity(order)) result.order = order;
  return result;
}

Result<Value> Builder::with_dims(const Value& value, const std::vector<std::size_t>& places,
                                 const Integers& dims) {
  if (places.size() == dims.size()) return value;
  if (dims.size() > rank_max)
    return Error(Errc::unsupported_operation, "more than 8 loops or dims at once");
  Value result = like(value, dims, Integers(dims.size(), 1));
  for (std::size_t dim = 0; dim < places.size(); ++dim) result.held[places[dim]] = value.held[dim];
  result.known = value.known;
  if (!value.made) return result;
  Integers order = in_place(dims.size());
  if (!value.order.empty()) {  // the new ones come last in what is made
    auto last = static_cast<std::int64_t>(value.rank());
    std::vector<bool> is_new(dims.size(), true);
    for (std::size_t dim = 0; dim < places.size(); ++dim) {
      order[places[dim]] = value.order[dim];
      is_new[places[dim]] = false;
    }
    for (std::size_t dim = 0; dim < dims.size(); ++dim)
      if (is_new[dim]) order[dim] = last++;
    result.order = order;
  }
  RK_TRY(made, shaped(*value.made, picked(result.held, inverse_of(order))));
  result.made = made;
  return result;
}

Result<Value> Builder::slice(const Value& value, const Integers& starts, const Integers& counts,
                             const Integers& steps) {
  Value result = like(value, counts, counts);
  if (!value.is_written()) return result;
  Integers first;
  Integers apart;
  for (std::size_t dim = 0; dim < value.rank(); ++dim) {
    const bool is_once = value.held[dim] == 1;
    if (is_once) result.held[dim] = 1;
    first.push_back(is_once ? 0 : starts[dim]);
    apart.push_back(is_once ? 1 : steps[dim]);
  }
  result.order = value.order;
  if (result.held == value.held) {  // all that there is
    result.known = value.known;
    result.made = value.made;
    return result;
  }
  if (value.known != nullptr) {
    Integers strides = strides_of(value.held);
    std::int64_t offset = 0;
    for (std::size_t dim = 0; dim < value.rank(); ++dim) {
      offset += first[dim] * strides[dim];
      strides[dim] *= apart[dim];
    }
    result.known = strided_of(value, offset, result.held, strides);
    return result;
  }
  SliceRanges ranges;
  for (const std::int64_t from : inverse_of(order_of(value))) {
    const auto dim = static_cast<std::size_t>(from);
    ranges.starts.push_back(first[dim]);
    ranges.ends.push_back(first[dim] + (result.held[dim] - 1) * apart[dim] + 1);
    ranges.steps.push_back(apart[dim]);
  }
  RK_TRY(made, add(ops::slice(*value.made, ranges)));
  result.made = made;
  return result;
}

Result<Value> Builder::taken(const Value& value, std::size_t dim, const Integers& indices) {
  Integers dims = value.dims;
  dims[dim] = static_cast<std::int64_t>(indices.size());
  if (!value.is_written()) return like(value, dims, dims);
  if (value.held[dim] == 1) {
    Value result = value;
    result.dims = dims;
    return result;
  }
  // Rows are taken along the first dim: this one comes in front, and goes back.
  Integers to_front{static_cast<std::int64_t>(dim)};
  Integers back;
  for (std::size_t i = 0; i < value.rank(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (i != dim) to_front.push_back(at);
    back.push_back(i == dim ? 0 : i < dim ? at + 1 : at);
  }
  RK_TRY(front, permuted(value, to_front));
  RK_TRY(from, kept(front));
  RK_TRY(which, constant(Value::integers(indices)));
  RK_TRY(made, add(ops::gather(from, which)));
  Value rows = like(value, picked(dims, to_front), front.held);
  rows.held[0] = dims[dim];
  rows.made = made;
  return permuted(rows, back);
}

Result<Value> Builder::concat(const std::vector<Value>& parts, std::size_t dim) {
  if (parts.size() == 1) return parts[0];
  Value result = like(parts[0], parts[0].dims, {});
  const Integers order = common_order(parts);
  std::optional<Graph::Value> joined;
  for (const Value& part : parts) {
    RK_TRY(moved, permuted(part, inverse_of(order)));
    RK_TRY(next, whole(moved));
    if (!joined) {
      joined = next;
      continue;
    }
    RK_TRY(longer, add(ops::concat(*joined, next, order[dim])));
    joined = longer;
    result.dims[dim] += part.dims[dim];
  }
  result.held = result.dims;
  result.made = joined;
  if (!is_identity(order)) result.order = order;
  return result;
}

Result<Value> Builder::pad(const Value& value, const Value& number, const Integers& low,
                           const Integers& high) {
  RK_TRY(all, spread(value));
  const Integers places = inverse_of(order_of(all));
  Value result = like(value, value.dims, {});
  for (std::size_t dim = 0; dim < value.rank(); ++dim) result.dims[dim] += low[dim] + high[dim];
  result.held = result.dims;
  result.order = all.order;
  RK_TRY(from, all.made ? Result<Graph::Value>(*all.made) : kept(all));
  RK_TRY(around, kept(number));
  RK_TRY(made,
         add(ops::pad(from, around, IntList(picked(low, places)), IntList(picked(high, places)))));
  result.made = made;
  return result;
}

}  // namespace ringkernel::mlir
