/// Writes ONNX files for tests: messages of protocol buffers, field by field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringkernel::onnx::test {

class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    key(field, 0);
    varint(value);
    return *this;
  }
  Message& text(std::uint32_t field, std::string_view value) {
    return bytes(field, std::as_bytes(std::span(value)));
  }
  Message& message(std::uint32_t field, const Message& value) { return bytes(field, value.bytes_); }
  Message& bytes(std::uint32_t field, std::span<const std::byte> value) {
    key(field, 2);
    varint(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return *this;
  }
  Message& floating(std::uint32_t field, float value) {
    key(field, 5);
    const auto raw = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
    return *this;
  }
  [[nodiscard]] const std::vector<std::byte>& done() const { return bytes_; }

 private:
  void key(std::uint32_t field, std::uint32_t wire) { varint(field << 3 | wire); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | 0x80));
    bytes_.push_back(static_cast<std::byte>(value));
  }

  std::vector<std::byte> bytes_;
};

using Extents = std::initializer_list<std::int64_t>;

/// A tensor of floats, raw.
inline Message floats(std::string_view name, Extents dims, const std::vector<float>& elements) {
  Message tensor;
  for (const std::int64_t dim : dims) tensor.number(1, static_cast<std::uint64_t>(dim));
  return tensor.number(2, 1).text(8, name).bytes(9, std::as_bytes(std::span(elements)));
}

/// A list of integers, number by number.
inline Message integers(std::string_view name, const std::vector<std::int64_t>& elements) {
  Message tensor;
  tensor.number(1, elements.size()).number(2, 7).text(8, name);
  for (const std::int64_t element : elements) tensor.number(7, static_cast<std::uint64_t>(element));
  return tensor;
}

/// An input or output of floats; an extent of -1 is open, and called "N".
inline Message info(std::string_view name, Extents dims, std::uint64_t type = 1) {
  Message shape;
  for (const std::int64_t dim : dims)
    shape.message(
        1, dim < 0 ? Message().text(2, "N") : Message().number(1, static_cast<std::uint64_t>(dim)));
  return Message().text(1, name).message(
      2, Message().message(1, Message().number(1, type).message(2, shape)));
}

inline Message integer_attribute(std::string_view name, std::int64_t value) {
  return Message().text(1, name).number(3, static_cast<std::uint64_t>(value)).number(20, 2);
}

inline Message node(std::string_view op, std::initializer_list<std::string> inputs,
                    std::string_view output, std::initializer_list<Message> attributes = {},
                    std::string_view domain = "") {
  Message message;
  for (const std::string& input : inputs) message.text(1, input);
  message.text(2, output).text(3, "the " + std::string(op)).text(4, op);
  for (const Message& attribute : attributes) message.message(5, attribute);
  return message.text(7, domain);
}

/// Of the operator set `version`, and of version 1 of the domain "ai.onnx.ml".
inline std::vector<std::byte> file(const Message& graph, std::uint64_t version = 17) {
  return Message()
      .number(1, 8)
      .message(8, Message().text(1, "").number(2, version))
      .message(8, Message().text(1, "ai.onnx.ml").number(2, 1))
      .message(7, graph)
      .done();
}

}  // namespace ringkernel::onnx::test
