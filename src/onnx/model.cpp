#include "onnx/model.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace ringkernel::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are taken as they lie");

struct KnownType {
  ElementType type;
  DType dtype;
  std::size_t bytes;
  const char* name;
};
constexpr KnownType known_types[] = {
    {ElementType::f32, DType::f32, 4, "float"},    {ElementType::u8, DType::none, 1, "uint8"},
    {ElementType::i8, DType::none, 1, "int8"},     {ElementType::i32, DType::i32, 4, "int32"},
    {ElementType::i64, DType::i64, 8, "int64"},    {ElementType::text, DType::none, 0, "string"},
    {ElementType::boolean, DType::i32, 1, "bool"}, {ElementType::f16, DType::none, 2, "float16"},
    {ElementType::f64, DType::none, 8, "double"},
};

const KnownType* known(ElementType type) noexcept {
  const auto* const found = std::ranges::find(known_types, type, &KnownType::type);
  return found != std::end(known_types) ? found : nullptr;
}

template <class T>
std::vector<std::int64_t> widened(Bytes bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(T));
  return {elements.begin(), elements.end()};
}

/// Field after field of a message: `take(field)` stores one, and gives a Result.
template <class Take>
Result<void> for_each_field(Bytes message, Take take) {
  RK_TRY(fields, read_fields(message));
  for (const Field& field : fields) RK_TRY_VOID(take(field));
  return {};
}

/// A field that is a message again, by `read`, at the end of a list.
template <class Read, class Value>
Result<void> read_into(const Field& field, Read read, std::vector<Value>& list) {
  Bytes content;
  RK_TRY_VOID(field.into(content));
  RK_TRY(value, read(content));
  list.push_back(std::move(value));
  return {};
}

Result<Attribute> read_attribute(Bytes bytes) {
  Attribute attribute;
  RK_TRY_VOID(for_each_field(bytes, [&](const Field& field) -> Result<void> {
    switch (field.number) {
      case 1: return field.into(attribute.name);
      case 2: return field.into(attribute.number);
      case 3: return field.into(attribute.integer);
      case 4: return field.into(attribute.text);
      case 5: {
        Bytes content;
        RK_TRY_VOID(field.into(content));
        RK_TRY(tensor, read_tensor(content));
        attribute.tensor = std::move(tensor);
        return {};
      }
      case 7: return field.append_to(attribute.numbers);
      case 8: return field.append_to(attribute.integers);
      case 9: return field.into(attribute.texts.emplace_back());
      default: return {};
    }
  }));
  return attribute;
}

Result<Node> read_node(Bytes bytes) {
  Node node;
  RK_TRY_VOID(for_each_field(bytes, [&](const Field& field) -> Result<void> {
    switch (field.number) {
      case 1: return field.into(node.inputs.emplace_back());
      case 2: return field.into(node.outputs.emplace_back());
      case 3: return field.into(node.name);
      case 4: return field.into(node.op);
      case 5: return read_into(field, read_attribute, node.attributes);
      case 7: return field.into(node.domain);
      default: return {};
    }
  }));
  if (node.domain == "ai.onnx") node.domain.clear();
  return node;
}

/// TensorShapeProto.Dimension
Result<Extent> read_extent(Bytes bytes) {
  Extent extent;
  RK_TRY_VOID(for_each_field(bytes, [&](const Field& field) -> Result<void> {
    switch (field.number) {
      case 1: return field.into(extent.value);
      case 2: return field.into(extent.name);
      default: return {};
    }
  }));
  return extent;
}

/// TypeProto.Tensor
Result<void> read_tensor_type(Bytes bytes, ValueInfo& info) {
  return for_each_field(bytes, [&](const Field& field) -> Result<void> {
    if (field.number == 1) {
      std::int64_t type = 0;
      RK_TRY_VOID(field.into(type));
      info.type = static_cast<ElementType>(type);
    } else if (field.number == 2) {
      Bytes shape;
      RK_TRY_VOID(field.into(shape));
      info.has_shape = true;
      return for_each_field(shape, [&](const Field& dim) -> Result<void> {
        return dim.number == 1 ? read_into(dim, read_extent, info.extents) : Result<void>();
      });
    }
    return {};
  });
}

Result<ValueInfo> read_value_info(Bytes bytes) {
  ValueInfo info;
  RK_TRY_VOID(for_each_field(bytes, [&](const Field& field) -> Result<void> {
    if (field.number == 1) return field.into(info.name);
    if (field.number != 2) return {};
    Bytes type;
    RK_TRY_VOID(field.into(type));
    return for_each_field(type, [&](const Field& kind) -> Result<void> {
      if (kind.number != 1) return {};  // a sequence, a map, an optional
      info.is_tensor = true;
      Bytes tensor;
      RK_TRY_VOID(kind.into(tensor));
      return read_tensor_type(tensor, info);
    });
  }));
  return info;
}

Result<OperatorSet> read_operator_set(Bytes bytes) {
  OperatorSet set;
  RK_TRY_VOID(for_each_field(bytes, [&](const Field& field) -> Result<void> {
    switch (field.number) {
      case 1: return field.into(set.domain);
      case 2: return field.into(set.version);
      default: return {};
    }
  }));
  if (set.domain == "ai.onnx") set.domain.clear();
  return set;
}

/// As many bytes as the shape says, if it is known how many an element has.
Result<void> check_size(const Tensor& tensor) {
  if (tensor.dims.size() > dims_max)
    return Error(Errc::malformed_message, "tensor '" + tensor.name + "' has " +
                                              std::to_string(tensor.dims.size()) + " dims");
  std::uint64_t bytes = element_bytes_of(tensor.type);
  const bool has_bytes = bytes != 0 && !tensor.is_external;
  bytes = std::max<std::uint64_t>(bytes, 1);
  for (const std::int64_t dim : tensor.dims) {
    if (dim < 0 || dim >> 32 != 0 ||
        __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dim), &bytes))
      return Error(Errc::malformed_message,
                   "tensor '" + tensor.name + "' has an extent of " + std::to_string(dim));
  }
  if (!has_bytes || bytes == tensor.bytes.size()) return {};
  return Error(Errc::malformed_message, "tensor '" + tensor.name + "': a shape of " +
                                            std::to_string(bytes) + " bytes with " +
                                            std::to_string(tensor.bytes.size()));
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto* const from = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

/// Elements that a file has number by number (int32_data, int64_data): in the bytes of their type.
std::vector<std::byte> packed(ElementType type, const std::vector<std::int64_t>& numbers) {
  std::vector<std::byte> bytes;
  for (const std::int64_t number : numbers) {
    switch (element_bytes_of(type)) {
      case 1: append(bytes, static_cast<std::int8_t>(number)); break;
      case 2: append(bytes, static_cast<std::int16_t>(number)); break;
      case 4: append(bytes, static_cast<std::int32_t>(number)); break;
      default: append(bytes, number); break;
    }
  }
  return bytes;
}

}  // namespace

DType dtype_of(ElementType type) noexcept {
  const KnownType* const entry = known(type);
  return entry != nullptr ? entry->dtype : DType::none;
}

std::size_t element_bytes_of(ElementType type) noexcept {
  const KnownType* const entry = known(type);
  return entry != nullptr ? entry->bytes : 0;
}

std::string name_of(ElementType type) {
  const KnownType* const entry = known(type);
  return entry != nullptr ? entry->name : "type " + std::to_string(static_cast<std::int64_t>(type));
}

Tensor Tensor::with(ElementType type, std::vector<std::int64_t> dims,
                    std::vector<std::byte> elements) {
  Tensor tensor;
  tensor.type = type;
  tensor.dims = std::move(dims);
  tensor.own = std::make_shared<const std::vector<std::byte>>(std::move(elements));
  tensor.bytes = *tensor.own;
  return tensor;
}

std::uint64_t Tensor::element_count() const noexcept {
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::uint64_t>(dim);
  return count;
}

std::vector<std::int64_t> Tensor::integers() const {
  switch (type) {
    case ElementType::i32: return widened<std::int32_t>(bytes);
    case ElementType::i64: return widened<std::int64_t>(bytes);
    case ElementType::boolean: return widened<std::uint8_t>(bytes);
    default: return {};
  }
}

const Attribute* Node::find(std::string_view wanted) const {
  const auto found = std::ranges::find(attributes, wanted, &Attribute::name);
  return found != attributes.end() ? &*found : nullptr;
}
float Node::number(std::string_view wanted, float otherwise) const {
  const Attribute* const attribute = find(wanted);
  return attribute != nullptr ? attribute->number : otherwise;
}
std::int64_t Node::integer(std::string_view wanted, std::int64_t otherwise) const {
  const Attribute* const attribute = find(wanted);
  return attribute != nullptr ? attribute->integer : otherwise;
}
std::string Node::text(std::string_view wanted, std::string_view otherwise) const {
  const Attribute* const attribute = find(wanted);
  return attribute != nullptr ? attribute->text : std::string(otherwise);
}
std::vector<std::int64_t> Node::integers(std::string_view wanted) const {
  const Attribute* const attribute = find(wanted);
  return attribute != nullptr ? attribute->integers : std::vector<std::int64_t>{};
}

std::int64_t Model::operator_set(std::string_view domain) const {
  const auto found = std::ranges::find(operator_sets, domain, &OperatorSet::domain);
  return found != operator_sets.end() ? found->version : 0;
}

Result<Tensor> read_tensor(Bytes bytes) {
  Tensor tensor;
  std::vector<float> floats;
  std::vector<std::int64_t> integers;
  Bytes doubles;
  bool has_raw = false;
  RK_TRY_VOID(for_each_field(bytes, [&](const Field& field) -> Result<void> {
    switch (field.number) {
      case 1: return field.append_to(tensor.dims);
      case 2: {
        std::int64_t type = 0;
        RK_TRY_VOID(field.into(type));
        tensor.type = static_cast<ElementType>(type);
        return {};
      }
      case 4: return field.append_to(floats);
      case 5:
      case 7: return field.append_to(integers);
      case 8: return field.into(tensor.name);
      case 9: has_raw = true; return field.into(tensor.bytes);
      case 10: return field.into(doubles);
      case 14: {
        std::int64_t location = 0;
        RK_TRY_VOID(field.into(location));
        tensor.is_external = location == 1;
        return {};
      }
      default: return {};
    }
  }));
  if (tensor.is_external) tensor.bytes = {};
  if (!has_raw && !tensor.is_external) {
    std::vector<std::byte> own;
    if (tensor.type == ElementType::f32)
      for (const float number : floats) append(own, number);
    else if (tensor.type == ElementType::f64)
      own.assign(doubles.begin(), doubles.end());
    else
      own = packed(tensor.type, integers);
    tensor.own = std::make_shared<const std::vector<std::byte>>(std::move(own));
    tensor.bytes = *tensor.own;
  }
  RK_TRY_VOID(check_size(tensor));
  return tensor;
}

Result<GraphModel> read_graph(Bytes bytes) {
  GraphModel graph;
  RK_TRY_VOID(for_each_field(bytes, [&](const Field& field) -> Result<void> {
    switch (field.number) {
      case 1: return read_into(field, read_node, graph.nodes);
      case 2: return field.into(graph.name);
      case 5: return read_into(field, read_tensor, graph.initializers);
      case 11: return read_into(field, read_value_info, graph.inputs);
      case 12: return read_into(field, read_value_info, graph.outputs);
      case 15: graph.has_sparse_initializers = true; return {};
      default: return {};
    }
  }));
  return graph;
}

Result<Model> read_model(Bytes bytes) {
  Model model;
  RK_TRY_VOID(for_each_field(bytes, [&](const Field& field) -> Result<void> {
    switch (field.number) {
      case 7: {
        Bytes content;
        RK_TRY_VOID(field.into(content));
        RK_TRY(graph, read_graph(content));
        model.graph = std::move(graph);
        return {};
      }
      case 8: return read_into(field, read_operator_set, model.operator_sets);
      case 25: model.has_functions = true; return {};
      default: return {};
    }
  }));
  return model;
}

}  // namespace ringkernel::onnx
