// What known operands give: the arithmetic with which exporters make shapes, and the constants that
// they leave beside it.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "onnx/rules.hpp"

namespace ringkernel::onnx {
namespace {

/// More elements than that stay for the device: they are no shapes.
constexpr std::uint64_t elements_max = 1 << 16;

Tensor integers_of(Integers dims, const Integers& elements, ElementType type = ElementType::i64) {
  std::vector<std::byte> bytes(elements.size() * element_bytes_of(type));
  for (std::size_t i = 0; i < elements.size(); ++i)  // little endian, and so are shorter ones
    std::memcpy(&bytes[i * element_bytes_of(type)], &elements[i], element_bytes_of(type));
  return Tensor::with(type, std::move(dims), std::move(bytes));
}

bool is_integer(ElementType type) noexcept {
  return type == ElementType::i32 || type == ElementType::i64 || type == ElementType::boolean;
}

/// All operands, if they are known, and none of them is large.
bool are_known(const Operation& operation) {
  for (std::size_t i = 0; i < operation.input_count(); ++i) {
    if (!operation.has(i)) continue;
    const Value& value = operation.value(i);
    if (!value.is_known() || value.known->is_external ||
        value.known->element_count() > elements_max)
      return false;
  }
  return true;
}

const Tensor& known(const Operation& operation, std::size_t position) {
  return *operation.value(position).known;
}

Tensor reshaped(const Tensor& tensor, Integers dims) {
  Tensor result = tensor;
  result.dims = std::move(dims);
  return result;
}

/// The shape of two operands that are broadcast; nothing if they do not fit.
std::optional<Integers> broadcast(const Integers& a, const Integers& b) {
  Integers dims(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    dims[dims.size() - 1 - i] = x == 1 ? y : x;
  }
  return dims;
}

/// Which element of a broadcast operand goes with element `index` of the result.
std::size_t source_of(const Integers& dims, const Integers& of, std::size_t index) {
  std::size_t source = 0;
  std::size_t stride = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t extent = static_cast<std::size_t>(dims[dims.size() - 1 - i]);
    const std::size_t at = index % extent;
    index /= extent;
    if (i >= of.size()) continue;
    const std::size_t own = static_cast<std::size_t>(of[of.size() - 1 - i]);
    if (own != 1) source += at * stride;
    stride *= own;
  }
  return source;
}

/// Elements of the operands' type, or of `type`.
template <class Function>
std::optional<Tensor> fold_integers(const Operation& operation, Function function,
                                    std::optional<ElementType> type = {}) {
  if (operation.input_count() != 2 || !are_known(operation)) return std::nullopt;
  const Tensor& a = known(operation, 0);
  const Tensor& b = known(operation, 1);
  if (a.type != b.type || !is_integer(a.type)) return std::nullopt;
  const std::optional<Integers> dims = broadcast(a.dims, b.dims);
  if (!dims) return std::nullopt;
  const Integers x = a.integers();
  const Integers y = b.integers();
  std::size_t count = 1;
  for (const std::int64_t dim : *dims) count *= static_cast<std::size_t>(dim);
  if (count > elements_max) return std::nullopt;
  Integers result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<std::int64_t> element =
        function(x[source_of(*dims, a.dims, i)], y[source_of(*dims, b.dims, i)]);
    if (!element) return std::nullopt;
    result[i] = *element;
  }
  return integers_of(*dims, result, type.value_or(a.type));
}

/// As for two's complement: sums and products wrap.
std::int64_t wrapped(std::uint64_t number) { return static_cast<std::int64_t>(number); }

/// Elements in another order: element `i` of the result is `source(i)` of the tensor.
template <class Source>
Tensor picked(const Tensor& tensor, Integers dims, std::size_t count, Source source) {
  const std::size_t bytes = element_bytes_of(tensor.type);
  std::vector<std::byte> elements(count * bytes);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(&elements[i * bytes], &tensor.bytes[source(i) * bytes], bytes);
  return Tensor::with(tensor.type, std::move(dims), std::move(elements));
}

}  // namespace

std::optional<Tensor> fold_nothing(const Operation&) { return std::nullopt; }

std::optional<Tensor> fold_add(const Operation& operation) {
  return fold_integers(operation, [](std::int64_t a, std::int64_t b) {
    return std::optional(wrapped(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b)));
  });
}
std::optional<Tensor> fold_sub(const Operation& operation) {
  return fold_integers(operation, [](std::int64_t a, std::int64_t b) {
    return std::optional(wrapped(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)));
  });
}
std::optional<Tensor> fold_mul(const Operation& operation) {
  return fold_integers(operation, [](std::int64_t a, std::int64_t b) {
    return std::optional(wrapped(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b)));
  });
}
std::optional<Tensor> fold_div(const Operation& operation) {
  return fold_integers(operation,
                       [](std::int64_t a, std::int64_t b) -> std::optional<std::int64_t> {
                         if (b == 0 || (b == -1 && a == INT64_MIN)) return std::nullopt;
                         return a / b;
                       });
}

std::optional<Tensor> fold_equal(const Operation& operation) {
  return fold_integers(
      operation, [](std::int64_t a, std::int64_t b) { return std::optional<std::int64_t>(a == b); },
      ElementType::boolean);
}

/// Whichever elements: shapes that depend on whether an extent was given.
std::optional<Tensor> fold_where(const Operation& operation) {
  if (!are_known(operation)) return std::nullopt;
  const Tensor& a = known(operation, 1);
  const Tensor& b = known(operation, 2);
  const Integers condition = known(operation, 0).integers();
  const std::size_t bytes = element_bytes_of(a.type);
  if (a.type != b.type || bytes == 0 || known(operation, 0).type != ElementType::boolean)
    return std::nullopt;
  const std::optional<Integers> both = broadcast(a.dims, b.dims);
  if (!both) return std::nullopt;
  const std::optional<Integers> dims = broadcast(*both, known(operation, 0).dims);
  if (!dims) return std::nullopt;
  std::size_t count = 1;
  for (const std::int64_t dim : *dims) count *= static_cast<std::size_t>(dim);
  if (count > elements_max) return std::nullopt;
  std::vector<std::byte> elements(count * bytes);
  for (std::size_t i = 0; i < count; ++i) {
    const bool holds = condition[source_of(*dims, known(operation, 0).dims, i)] != 0;
    const Tensor& from = holds ? a : b;
    std::memcpy(&elements[i * bytes], &from.bytes[source_of(*dims, from.dims, i) * bytes], bytes);
  }
  return Tensor::with(a.type, *dims, std::move(elements));
}

std::optional<Tensor> fold_identity(const Operation& operation) {
  if (!operation.has(0) || !operation.value(0).is_known()) return std::nullopt;
  return known(operation, 0);
}

std::optional<Tensor> fold_constant(const Operation& operation) {
  const Node& node = operation.node();
  if (const Attribute* const value = node.find("value")) return value->tensor;
  if (const Attribute* const value = node.find("value_int"))
    return integers_of({}, {value->integer});
  if (const Attribute* const value = node.find("value_ints"))
    return integers_of({static_cast<std::int64_t>(value->integers.size())}, value->integers);
  const Attribute* const number = node.find("value_float");
  const Attribute* const numbers = node.find("value_floats");
  if (number == nullptr && numbers == nullptr) return std::nullopt;
  const std::vector<float> elements =
      number != nullptr ? std::vector<float>{number->number} : numbers->numbers;
  const auto bytes = std::as_bytes(std::span(elements));
  Integers dims;
  if (number == nullptr) dims.push_back(static_cast<std::int64_t>(elements.size()));
  return Tensor::with(ElementType::f32, std::move(dims), {bytes.begin(), bytes.end()});
}

/// Known wherever the operand comes from: extents are fixed.
std::optional<Tensor> fold_shape(const Operation& operation) {
  const Integers dims = operation.dims(0);
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto bound = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t begin = bound(operation.node().integer("start", 0));
  const std::int64_t end = std::max(bound(operation.node().integer("end", rank)), begin);
  const Integers part(dims.begin() + begin, dims.begin() + end);
  return integers_of({static_cast<std::int64_t>(part.size())}, part);
}

std::optional<Tensor> fold_constant_of_shape(const Operation& operation) {
  if (!are_known(operation)) return std::nullopt;
  const auto wanted = operation.integers(0);
  if (!wanted) return std::nullopt;
  const Integers& dims = *wanted;
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(dim), &count) ||
        count > elements_max)
      return std::nullopt;
  }
  Tensor value = Tensor::with(ElementType::f32, {1}, std::vector<std::byte>(4));
  if (const Attribute* const given = operation.node().find("value")) value = given->tensor;
  if (value.is_external || value.element_count() != 1 || element_bytes_of(value.type) == 0)
    return std::nullopt;
  return picked(value, dims, count, [](std::size_t) { return std::size_t{0}; });
}

std::optional<Tensor> fold_cast(const Operation& operation) {
  if (!are_known(operation)) return std::nullopt;
  const Tensor& tensor = known(operation, 0);
  const auto type = static_cast<ElementType>(operation.node().integer("to", 0));
  if (type == tensor.type) return tensor;
  if (!is_integer(tensor.type)) return std::nullopt;
  Integers elements = tensor.integers();
  if (type == ElementType::boolean || tensor.type == ElementType::boolean)
    for (std::int64_t& element : elements) element = element != 0 ? 1 : 0;
  if (is_integer(type)) return integers_of(tensor.dims, elements, type);
  if (type != ElementType::f32) return std::nullopt;
  const std::vector<float> numbers(elements.begin(), elements.end());
  const auto bytes = std::as_bytes(std::span(numbers));
  return Tensor::with(type, tensor.dims, {bytes.begin(), bytes.end()});
}

std::optional<Tensor> fold_concat(const Operation& operation) {
  if (operation.input_count() == 0 || !are_known(operation)) return std::nullopt;
  const Tensor& first = known(operation, 0);
  const auto axis =
      axis_of(operation.node().integer("axis", 0), static_cast<std::int64_t>(first.dims.size()));
  if (axis != 0 || element_bytes_of(first.type) == 0) return std::nullopt;
  std::vector<std::byte> bytes;
  Integers dims = first.dims;
  dims[0] = 0;
  for (std::size_t i = 0; i < operation.input_count(); ++i) {
    if (!operation.has(i)) return std::nullopt;
    const Tensor& part = known(operation, i);
    if (part.type != first.type || part.dims.size() != dims.size() ||
        !std::equal(part.dims.begin() + 1, part.dims.end(), dims.begin() + 1))
      return std::nullopt;
    dims[0] += part.dims[0];
    if (bytes.size() + part.bytes.size() > elements_max * sizeof(std::int64_t)) return std::nullopt;
    bytes.insert(bytes.end(), part.bytes.begin(), part.bytes.end());
  }
  return Tensor::with(first.type, std::move(dims), std::move(bytes));
}

std::optional<Tensor> fold_gather(const Operation& operation) {
  if (operation.input_count() != 2 || !are_known(operation)) return std::nullopt;
  const Tensor& tensor = known(operation, 0);
  const Tensor& indices = known(operation, 1);
  const auto axis =
      axis_of(operation.node().integer("axis", 0), static_cast<std::int64_t>(tensor.dims.size()));
  if (axis != 0 || element_bytes_of(tensor.type) == 0 || !is_integer(indices.type))
    return std::nullopt;
  std::size_t row = 1;
  for (std::size_t dim = 1; dim < tensor.dims.size(); ++dim)
    row *= static_cast<std::size_t>(tensor.dims[dim]);
  Integers rows = indices.integers();
  for (std::int64_t& index : rows) {
    const auto inside = axis_of(index, tensor.dims[0]);
    if (!inside) return std::nullopt;
    index = *inside;
  }
  if (rows.size() * row > elements_max) return std::nullopt;
  Integers dims = indices.dims;
  dims.insert(dims.end(), tensor.dims.begin() + 1, tensor.dims.end());
  return picked(tensor, std::move(dims), rows.size() * row, [&](std::size_t i) {
    return static_cast<std::size_t>(rows[i / row]) * row + i % row;
  });
}

std::optional<Tensor> fold_reshape(const Operation& operation) {
  if (operation.input_count() != 2 || !operation.value(0).is_known() ||
      !operation.value(1).is_known())
    return std::nullopt;
  const auto dims = reshaped_dims(operation);
  if (!dims) return std::nullopt;
  Tensor result = reshaped(known(operation, 0), *dims);
  if (result.element_count() != known(operation, 0).element_count()) return std::nullopt;
  return result;
}

std::optional<Tensor> fold_squeeze(const Operation& operation) {
  if (!operation.has(0) || !operation.value(0).is_known()) return std::nullopt;
  const auto axes = squeezed_axes(operation);
  if (!axes) return std::nullopt;
  Integers dims;
  const Tensor& tensor = known(operation, 0);
  for (std::size_t dim = 0; dim < tensor.dims.size(); ++dim)
    if (std::ranges::find(*axes, static_cast<std::int64_t>(dim)) == axes->end())
      dims.push_back(tensor.dims[dim]);
  Tensor result = reshaped(tensor, std::move(dims));
  if (result.element_count() != tensor.element_count()) return std::nullopt;
  return result;
}

std::optional<Tensor> fold_unsqueeze(const Operation& operation) {
  if (!operation.has(0) || !operation.value(0).is_known()) return std::nullopt;
  const auto axes = unsqueezed_axes(operation);
  if (!axes) return std::nullopt;
  const Tensor& tensor = known(operation, 0);
  Integers dims(tensor.dims.size() + axes->size(), 0);
  for (const std::int64_t axis : *axes) dims[static_cast<std::size_t>(axis)] = 1;
  auto next = tensor.dims.begin();
  for (std::int64_t& dim : dims) {
    if (dim == 1) continue;
    if (next == tensor.dims.end()) return std::nullopt;  // an axis is named twice
    dim = *next++;
  }
  return reshaped(tensor, std::move(dims));
}

/// Backwards, too: exporters turn the pads of an older framework so.
std::optional<Tensor> fold_slice(const Operation& operation) {
  if (operation.input_count() < 3 || !are_known(operation)) return std::nullopt;
  const Tensor& tensor = known(operation, 0);
  if (element_bytes_of(tensor.type) == 0) return std::nullopt;
  struct Cut {
    std::int64_t begin;
    std::int64_t step;
  };
  std::vector<Cut> cuts(tensor.dims.size(), Cut{0, 1});
  Integers dims = tensor.dims;
  std::array<Integers, 4> lists;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (!operation.has(1 + i)) continue;
    const auto list = operation.integers(1 + i);
    if (!list) return std::nullopt;
    lists[i] = *list;
  }
  const auto& [starts, ends, axes, steps] = lists;
  if (starts.size() != ends.size()) return std::nullopt;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto axis =
        axis_of(i < axes.size() ? axes[i] : static_cast<std::int64_t>(i), operation.rank(0));
    const std::int64_t step = i < steps.size() ? steps[i] : 1;
    if (!axis || step == 0 || step == INT64_MIN) return std::nullopt;
    const auto at = static_cast<std::size_t>(*axis);
    const std::int64_t extent = tensor.dims[at];
    if (extent == 0) return std::nullopt;
    // Backwards the end may be in front of the first element.
    const std::int64_t lowest = step > 0 ? 0 : -1;
    const auto bound = [&](std::int64_t number, std::int64_t least) {
      return std::clamp<std::int64_t>(number < 0 ? number + extent : number, least,
                                      extent + lowest);
    };
    const std::int64_t begin = bound(starts[i], 0);
    const std::int64_t end = bound(ends[i], lowest);
    const std::int64_t length = step > 0 ? end - begin : begin - end;
    cuts[at] = {begin, step};
    dims[at] = length > 0 ? (length - 1) / (step > 0 ? step : -step) + 1 : 0;
  }
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  return picked(tensor, dims, count, [&](std::size_t i) {
    std::int64_t source = 0;
    std::int64_t stride = 1;
    for (std::size_t dim = dims.size(); dim-- != 0;) {
      const auto extent = static_cast<std::size_t>(dims[dim]);
      source += (cuts[dim].begin + static_cast<std::int64_t>(i % extent) * cuts[dim].step) * stride;
      i /= extent;
      stride *= tensor.dims[dim];
    }
    return static_cast<std::size_t>(source);
  });
}

/// Weights, too: they would be turned for each message.
std::optional<Tensor> fold_transpose(const Operation& operation) {
  if (!operation.value(0).is_known()) return std::nullopt;
  const Tensor& tensor = known(operation, 0);
  const auto permutation = permutation_of(operation);
  if (!permutation || element_bytes_of(tensor.type) == 0 || tensor.is_external) return std::nullopt;
  return transposed(tensor, *permutation);
}

Tensor transposed(const Tensor& tensor, const Integers& permutation) {
  if (element_bytes_of(tensor.type) == 0 || tensor.is_external) return tensor;  // refused later
  Integers strides(tensor.dims.size(), 1);
  for (std::size_t dim = strides.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * tensor.dims[dim];
  Integers dims;
  for (const std::int64_t dim : permutation)
    dims.push_back(tensor.dims[static_cast<std::size_t>(dim)]);
  return picked(tensor, dims, tensor.element_count(), [&](std::size_t i) {
    std::size_t source = 0;
    for (std::size_t dim = dims.size(); dim-- != 0;) {
      const auto extent = static_cast<std::size_t>(dims[dim]);
      source += i % extent *
                static_cast<std::size_t>(strides[static_cast<std::size_t>(permutation[dim])]);
      i /= extent;
    }
    return source;
  });
}

}  // namespace ringkernel::onnx
