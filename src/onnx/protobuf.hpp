/// The wire format of protocol buffers, as far as ONNX files need it: a message is a list of
/// fields, each a number or bytes, and bytes may be a message again.
///
/// Threading: any thread; pure.
/// Ownership: fields borrow their bytes from the message.
/// Errors: truncated_message (it ends within a field), malformed_message (anything else that is no
/// message); the detail has the byte at which it happened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ringkernel/result.hpp"

namespace ringkernel::onnx {

using Bytes = std::span<const std::byte>;

/// How a field is written; the numbers are the format's.
enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  std::uint32_t number = 0;
  Wire wire = Wire::varint;
  std::uint64_t value = 0;  ///< unless bytes
  Bytes bytes{};            ///< of wire type bytes

  /// Stores the content as what the schema says it is; malformed_message if it is written
  /// otherwise.
  Result<void> into(std::int64_t& target) const;
  Result<void> into(float& target) const;
  Result<void> into(std::string& target) const;
  Result<void> into(Bytes& target) const;
  /// Appends one integer, or those of a packed field: writers may choose.
  Result<void> append_to(std::vector<std::int64_t>& integers) const;
  Result<void> append_to(std::vector<float>& numbers) const;
};

/// All fields of a message, in its order.
[[nodiscard]] Result<std::vector<Field>> read_fields(Bytes message);

}  // namespace ringkernel::onnx
