#include "vectors/onnx.hpp"

#include <algorithm>
#include <cstring>

namespace ringkernel::test::onnx {
namespace {

/// Codes of TensorProto.DataType.
struct KnownType {
  std::int64_t code;
  DType dtype;
};
constexpr KnownType known_types[] = {{1, DType::f32}, {6, DType::i32}, {7, DType::i64}};

template <class T>
std::vector<std::int64_t> widened(const std::vector<std::byte>& bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
  return {elements.begin(), elements.end()};
}

/// As many bytes as the shape says, if it is known how many an element has.
Result<void> check_size(const Tensor& tensor) {
  std::uint64_t bytes = element_bytes(tensor.dtype());
  if (bytes == 0) return {};
  for (const std::int64_t dim : tensor.dims) {
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dim), &bytes))
      return Error(Errc::malformed_message, "an extent of " + std::to_string(dim));
  }
  if (bytes == tensor.bytes.size()) return {};
  return Error(Errc::malformed_message, "a shape of " + std::to_string(bytes) + " bytes with " +
                                            std::to_string(tensor.bytes.size()));
}

Result<Attribute> read_attribute(Bytes bytes) {
  Attribute attribute;
  RK_TRY(fields, read_fields(bytes));
  for (const Field& field : fields) {
    switch (field.number) {
      case 1: RK_TRY_VOID(field.into(attribute.name)); break;
      case 2: RK_TRY_VOID(field.into(attribute.number)); break;
      case 3: RK_TRY_VOID(field.into(attribute.integer)); break;
      case 4: RK_TRY_VOID(field.into(attribute.text)); break;
      case 8: RK_TRY_VOID(field.append_to(attribute.integers)); break;
      default: break;
    }
  }
  return attribute;
}

Result<Node> read_node(Bytes bytes) {
  Node node;
  RK_TRY(fields, read_fields(bytes));
  for (const Field& field : fields) {
    Bytes content;
    switch (field.number) {
      case 1: RK_TRY_VOID(field.into(node.inputs.emplace_back())); break;
      case 4: RK_TRY_VOID(field.into(node.op)); break;
      case 5: {
        RK_TRY_VOID(field.into(content));
        RK_TRY(attribute, read_attribute(content));
        node.attributes.push_back(std::move(attribute));
        break;
      }
      default: break;
    }
  }
  return node;
}

/// Whether a ValueInfoProto describes a tensor: its TypeProto (field 2) has a tensor_type (field
/// 1).
Result<bool> is_tensor(Bytes value_info) {
  RK_TRY(fields, read_fields(value_info));
  for (const Field& field : fields) {
    if (field.number != 2) continue;
    Bytes type;
    RK_TRY_VOID(field.into(type));
    RK_TRY(kinds, read_fields(type));
    return std::ranges::any_of(kinds, [](const Field& kind) { return kind.number == 1; });
  }
  return false;
}

Result<void> read_graph(Bytes bytes, Model& model) {
  RK_TRY(fields, read_fields(bytes));
  for (const Field& field : fields) {
    Bytes content;
    if (field.number == 1) {
      RK_TRY_VOID(field.into(content));
      RK_TRY(node, read_node(content));
      model.nodes.push_back(std::move(node));
    } else if (field.number == 11) {
      RK_TRY_VOID(field.into(content));
      RK_TRY(takes_tensor, is_tensor(content));
      model.takes_tensors = model.takes_tensors && takes_tensor;
    }
  }
  return {};
}

}  // namespace

Tensor Tensor::copy_of(const TensorView& view) {
  const auto dims = view.desc.shape.dims();
  const auto* data = static_cast<const std::byte*>(view.data);
  const auto same = std::ranges::find(known_types, view.desc.dtype, &KnownType::dtype);
  return {{dims.begin(), dims.end()}, same->code, {data, data + view.desc.bytes()}};
}

DType Tensor::dtype() const {
  const auto same = std::ranges::find(known_types, type, &KnownType::code);
  return same != std::end(known_types) ? same->dtype : DType::none;
}

std::vector<std::int64_t> Tensor::integers() const {
  if (dtype() == DType::i32) return widened<std::int32_t>(bytes);
  if (dtype() == DType::i64) return widened<std::int64_t>(bytes);
  return {};
}

const Attribute* Node::find(std::string_view name) const {
  const auto found = std::ranges::find(attributes, name, &Attribute::name);
  return found != attributes.end() ? &*found : nullptr;
}
float Node::number(std::string_view name, float otherwise) const {
  const Attribute* attribute = find(name);
  return attribute != nullptr ? attribute->number : otherwise;
}
std::int64_t Node::integer(std::string_view name, std::int64_t otherwise) const {
  const Attribute* attribute = find(name);
  return attribute != nullptr ? attribute->integer : otherwise;
}
std::vector<std::int64_t> Node::integers(std::string_view name) const {
  const Attribute* attribute = find(name);
  return attribute != nullptr ? attribute->integers : std::vector<std::int64_t>{};
}

Result<Tensor> read_tensor(Bytes bytes) {
  Tensor tensor;
  Bytes raw;
  RK_TRY(fields, read_fields(bytes));
  for (const Field& field : fields) {
    switch (field.number) {
      case 1: RK_TRY_VOID(field.append_to(tensor.dims)); break;
      case 2: RK_TRY_VOID(field.into(tensor.type)); break;
      case 8: break;  // its name
      case 9: RK_TRY_VOID(field.into(raw)); break;
      default: return Error(Errc::unsupported, "tensor field " + std::to_string(field.number));
    }
  }
  tensor.bytes.assign(raw.begin(), raw.end());
  RK_TRY_VOID(check_size(tensor));
  return tensor;
}

Result<Model> read_model(Bytes bytes) {
  Model model;
  RK_TRY(fields, read_fields(bytes));
  for (const Field& field : fields) {
    if (field.number != 7) continue;
    Bytes graph;
    RK_TRY_VOID(field.into(graph));
    RK_TRY_VOID(read_graph(graph, model));
  }
  return model;
}

}  // namespace ringkernel::test::onnx
