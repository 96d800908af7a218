/// What the node tests of ONNX hold: a model of one node, and tensors. Of the schema (onnx.proto)
/// only the fields that these nodes use: no initializers, and of tensors only raw bytes.
///
/// Threading: any thread; pure.
/// Errors: those of protobuf.hpp; malformed_message also for a tensor whose bytes do not fit its
/// shape; unsupported for a tensor with anything but raw bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ringkernel/tensor.hpp"
#include "vectors/protobuf.hpp"

namespace ringkernel::test::onnx {

/// A TensorProto. Extents may be 0, which our own tensors do not know.
struct Tensor {
  std::vector<std::int64_t> dims;
  std::int64_t type = 0;         ///< code of TensorProto.DataType
  std::vector<std::byte> bytes;  ///< the elements, little endian

  [[nodiscard]] static Tensor copy_of(const TensorView& view);

  /// Ours for that code; `none` if we have none.
  [[nodiscard]] DType dtype() const;
  /// The elements of a list of axes, extents or indices (i32 or i64).
  [[nodiscard]] std::vector<std::int64_t> integers() const;
};

struct Attribute {
  std::string name;
  float number = 0;
  std::int64_t integer = 0;
  std::string text;
  std::vector<std::int64_t> integers;
};

struct Node {
  std::string op;
  std::vector<std::string> inputs;
  std::vector<Attribute> attributes;

  /// nullptr if the node does not have it.
  [[nodiscard]] const Attribute* find(std::string_view name) const;
  // Likewise with a default; an empty list.
  [[nodiscard]] float number(std::string_view name, float otherwise) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name) const;
};

struct Model {
  std::vector<Node> nodes;
  bool takes_tensors = true;  ///< false: some input is a sequence or an optional
};

[[nodiscard]] Result<Tensor> read_tensor(Bytes bytes);
[[nodiscard]] Result<Model> read_model(Bytes bytes);

}  // namespace ringkernel::test::onnx
