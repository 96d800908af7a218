#include "onnx/protobuf.hpp"

#include <bit>

namespace ringkernel::onnx {
namespace {

/// Takes values from the front of a message.
class Reader {
 public:
  explicit Reader(Bytes message) : message_(message) {}

  [[nodiscard]] bool is_at_end() const { return position_ == message_.size(); }
  [[nodiscard]] Error malformed(const std::string& what) const {
    return {Errc::malformed_message, what + " at byte " + std::to_string(position_)};
  }

  /// Seven bits per byte, the lowest first, the top bit set on all but the last: at most 10 bytes,
  /// of which the tenth has one bit left to give.
  Result<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      RK_TRY(next, take(1));
      const auto byte = std::to_integer<std::uint64_t>(next[0]);
      if (shift == 63 && byte > 1) return malformed("a number of more than 64 bits ends");
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return malformed("a number of more than 10 bytes ends");
  }

  Result<std::uint64_t> fixed(std::size_t size) {
    RK_TRY(bytes, take(size));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    return value;
  }

  Result<Bytes> take(std::uint64_t size) {
    const std::size_t left = message_.size() - position_;
    if (size > left)
      return Error(Errc::truncated_message, std::to_string(size) + " bytes wanted at byte " +
                                                std::to_string(position_) + ", " +
                                                std::to_string(left) + " left");
    const Bytes bytes = message_.subspan(position_, static_cast<std::size_t>(size));
    position_ += bytes.size();
    return bytes;
  }

 private:
  Bytes message_;
  std::size_t position_ = 0;
};

Result<Field> read_field(Reader& reader) {
  constexpr std::uint64_t number_max = (1 << 29) - 1;
  RK_TRY(key, reader.varint());
  if (key >> 3 == 0 || key >> 3 > number_max)
    return reader.malformed("field number " + std::to_string(key >> 3));
  Field field{static_cast<std::uint32_t>(key >> 3), static_cast<Wire>(key & 7)};
  switch (field.wire) {
    case Wire::varint: {
      RK_TRY(value, reader.varint());
      field.value = value;
      return field;
    }
    case Wire::fixed32:
    case Wire::fixed64: {
      RK_TRY(value, reader.fixed(field.wire == Wire::fixed32 ? 4 : 8));
      field.value = value;
      return field;
    }
    case Wire::bytes: {
      RK_TRY(size, reader.varint());
      RK_TRY(bytes, reader.take(size));
      field.bytes = bytes;
      return field;
    }
  }
  return reader.malformed("wire type " + std::to_string(key & 7));  // groups and what never was
}

Result<void> expect(const Field& field, Wire wire) {
  if (field.wire == wire) return {};
  return Error(Errc::malformed_message, "field " + std::to_string(field.number) +
                                            " has wire type " +
                                            std::to_string(static_cast<int>(field.wire)));
}

}  // namespace

Result<void> Field::into(std::int64_t& target) const {
  RK_TRY_VOID(expect(*this, Wire::varint));
  target = static_cast<std::int64_t>(value);
  return {};
}

Result<void> Field::into(float& target) const {
  RK_TRY_VOID(expect(*this, Wire::fixed32));
  target = std::bit_cast<float>(static_cast<std::uint32_t>(value));
  return {};
}

Result<void> Field::into(Bytes& target) const {
  RK_TRY_VOID(expect(*this, Wire::bytes));
  target = bytes;
  return {};
}

Result<void> Field::into(std::string& target) const {
  RK_TRY_VOID(expect(*this, Wire::bytes));
  target.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return {};
}

Result<void> Field::append_to(std::vector<std::int64_t>& integers) const {
  if (wire != Wire::bytes) {
    RK_TRY_VOID(into(integers.emplace_back()));
    return {};
  }
  for (Reader reader(bytes); !reader.is_at_end();) {
    RK_TRY(next, reader.varint());
    integers.push_back(static_cast<std::int64_t>(next));
  }
  return {};
}

Result<void> Field::append_to(std::vector<float>& numbers) const {
  if (wire != Wire::bytes) return into(numbers.emplace_back());
  for (Reader reader(bytes); !reader.is_at_end();) {
    RK_TRY(next, reader.fixed(sizeof(float)));
    numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(next)));
  }
  return {};
}

Result<std::vector<Field>> read_fields(Bytes message) {
  std::vector<Field> fields;
  for (Reader reader(message); !reader.is_at_end();) {
    RK_TRY(field, read_field(reader));
    fields.push_back(field);
  }
  return fields;
}

}  // namespace ringkernel::onnx
