#include "program/struct_json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace ringkernel::program {
namespace {

template <class Number>
Number load(const std::byte* at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

/// Of an integer: those without a sign wrap round, and come back as they were.
std::int64_t load_integer(Base base, const std::byte* at) {
  switch (base) {
    case Base::boolean:
    case Base::u8: return load<std::uint8_t>(at);
    case Base::i8: return load<std::int8_t>(at);
    case Base::i16: return load<std::int16_t>(at);
    case Base::u16: return load<std::uint16_t>(at);
    case Base::i32: return load<std::int32_t>(at);
    case Base::u32: return load<std::uint32_t>(at);
    default: return load<std::int64_t>(at);
  }
}

template <class Number>
void append_number(std::string& text, Number number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  text.append(digits, end.ptr);
}

/// The shortest text that is this number and no other.
template <class Real>
void append_real(std::string& text, Real real) {
  if (std::isnan(real)) {
    text += "nan";
    return;
  }
  const std::size_t begin = text.size();
  append_number(text, real);
  if (text.find_first_of(".einf", begin) == std::string::npos) text += ".0";
}

class Printer {
 public:
  explicit Printer(const Model& model) : model_(model) {}

  void add_struct(const Object& type, const std::byte* at) {
    const char* separator = "{";
    for (const Field& field : type.fields) {
      ((text_ += separator) += '"') += field.short_name();
      text_ += "\": ";
      add_field(field.type, at + field.offset);
      separator = ",";
    }
    text_ += '}';
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void add_field(const Type& type, const std::byte* at) {
    if (type.base != Base::array) return add_item(type, at);
    const std::size_t stride =
        type.element == Base::object ? object_of(type).bytes : bytes_of(type.element);
    text_ += '[';
    for (std::uint32_t i = 0; i < type.length; ++i) {
      if (i != 0) text_ += ',';
      add_item(type, at + i * stride);
    }
    text_ += ']';
  }

  void add_item(const Type& type, const std::byte* at) {
    switch (type.item()) {
      case Base::object: return add_struct(object_of(type), at);
      case Base::f32: return append_real(text_, load<float>(at));
      case Base::f64: return append_real(text_, load<double>(at));
      default: break;
    }
    const std::int64_t value = load_integer(type.item(), at);
    if (type.item() == Base::boolean)
      text_ += value != 0 ? "true" : "false";
    else if (type.index >= 0 && add_name(enum_of(type), value))
      return;
    else if (type.item() == Base::u64)
      append_number(text_, static_cast<std::uint64_t>(value));
    else
      append_number(text_, value);
  }

  /// False: no name, or none of several flags, is this value.
  bool add_name(const Enum& type, std::int64_t value) {
    const auto found = std::ranges::find(type.values, value, &EnumValue::value);
    if (found != type.values.end()) {
      ((text_ += '"') += found->short_name()) += '"';
      return true;
    }
    if (!type.has("bit_flags")) return false;
    std::int64_t named = 0;
    std::string names;
    for (const EnumValue& flag : type.values) {
      if ((flag.value & value) == 0) continue;
      named |= flag.value;
      (names += names.empty() ? "" : " ") += flag.short_name();
    }
    if (names.empty() || named != value) return false;
    ((text_ += '"') += names) += '"';
    return true;
  }

  [[nodiscard]] const Object& object_of(const Type& type) const {
    return model_.objects[static_cast<std::size_t>(type.index)];
  }
  [[nodiscard]] const Enum& enum_of(const Type& type) const {
    return model_.enums[static_cast<std::size_t>(type.index)];
  }

  const Model& model_;
  std::string text_;
};

}  // namespace

std::string struct_json(const Model& model, std::string_view name,
                        std::span<const std::byte> bytes) {
  Printer printer(model);
  const auto type = std::ranges::find_if(model.objects, [&](const Object& object) {
    return object.name == name && object.is_struct && object.bytes == bytes.size();
  });
  if (type != model.objects.end()) printer.add_struct(*type, bytes.data());
  return printer.take();
}

}  // namespace ringkernel::program
