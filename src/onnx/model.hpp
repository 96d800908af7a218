/// What an ONNX file says, as it says it: nodes, tensors, names and versions, of all fields that an
/// importer needs. What nodes mean is for the importer.
///
/// Threading: any thread; pure.
/// Ownership: a model borrows the elements of most tensors from the file.
/// Errors: those of protobuf.hpp; malformed_message also for a tensor whose elements do not fit its
/// shape. What is read but cannot be used (external data, strings) is told where it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/protobuf.hpp"
#include "ringkernel/tensor.hpp"

namespace ringkernel::onnx {

/// TensorProto.DataType, as far as elements of the kind can be read.
enum class ElementType : std::int64_t {
  none = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  i32 = 6,
  i64 = 7,
  text = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11
};

/// Ours for that type; `none` if we have none. Truth values are i32, 0 or 1.
[[nodiscard]] DType dtype_of(ElementType type) noexcept;
/// Bytes of an element; 0: not known, or strings.
[[nodiscard]] std::size_t element_bytes_of(ElementType type) noexcept;
/// "float", as ONNX calls it; "type 17" for those that have no name here.
[[nodiscard]] std::string name_of(ElementType type);

/// Of a tensor, and of what is made of one where the file is read. Graphs have fewer.
inline constexpr std::size_t dims_max = 64;

/// A TensorProto. Extents may be 0, which our own tensors do not know.
struct Tensor {
  std::string name;
  std::vector<std::int64_t> dims;
  ElementType type = ElementType::none;
  Bytes bytes;               ///< the elements, little endian, wherever they are
  bool is_external = false;  ///< they are in another file, and not read
  std::shared_ptr<const std::vector<std::byte>> own;  ///< of `bytes`, unless the file has them so

  /// Elements that belong to the tensor.
  [[nodiscard]] static Tensor with(ElementType type, std::vector<std::int64_t> dims,
                                   std::vector<std::byte> elements);

  [[nodiscard]] DType dtype() const noexcept { return dtype_of(type); }
  [[nodiscard]] std::uint64_t element_count() const noexcept;
  /// The elements of a list of axes, extents or indices: i32, i64 or boolean; else empty.
  [[nodiscard]] std::vector<std::int64_t> integers() const;
};

struct Attribute {
  std::string name;
  float number = 0;
  std::int64_t integer = 0;
  std::string text;
  std::vector<float> numbers;
  std::vector<std::int64_t> integers;
  std::vector<std::string> texts;
  Tensor tensor;
};

struct Node {
  std::string name;
  std::string op;
  std::string domain;                ///< empty: ONNX's own
  std::vector<std::string> inputs;   ///< an empty name: that one is left out
  std::vector<std::string> outputs;  ///< likewise
  std::vector<Attribute> attributes;

  /// nullptr if the node does not have it.
  [[nodiscard]] const Attribute* find(std::string_view name) const;
  // Likewise with a default; an empty list.
  [[nodiscard]] float number(std::string_view name, float otherwise) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name) const;
};

/// An extent of an input, which a file may leave open.
struct Extent {
  std::int64_t value = -1;  ///< below 0: open
  std::string name;         ///< of an open one; may be empty
};

struct ValueInfo {
  std::string name;
  bool is_tensor = false;  ///< and no sequence, map or optional
  bool has_shape = false;
  ElementType type = ElementType::none;
  std::vector<Extent> extents;
};

struct GraphModel {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs;  ///< older files list initialisers here, too
  std::vector<ValueInfo> outputs;
  bool has_sparse_initializers = false;
};

struct OperatorSet {
  std::string domain;  ///< empty: ONNX's own
  std::int64_t version = 0;
};

struct Model {
  std::vector<OperatorSet> operator_sets;
  GraphModel graph;
  bool has_functions = false;

  /// Of that domain; 0: the file names none.
  [[nodiscard]] std::int64_t operator_set(std::string_view domain) const;
};

[[nodiscard]] Result<Tensor> read_tensor(Bytes bytes);
[[nodiscard]] Result<GraphModel> read_graph(Bytes bytes);
[[nodiscard]] Result<Model> read_model(Bytes bytes);

}  // namespace ringkernel::onnx
