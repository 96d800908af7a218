#include "samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>

namespace rkc {

namespace {

using ringkernel::program::Base;
using ringkernel::program::Enum;
using ringkernel::program::Field;
using ringkernel::program::Model;
using ringkernel::program::Object;
using ringkernel::program::Type;

/// Of tables in tables.
constexpr int depth_max = 3;
/// A table that requires itself has no end; the schema's parser refuses what lacks the field.
constexpr int required_depth_max = 32;

class Writer {
 public:
  Writer(const Model& model, Random& random)
      : model_(model),
        random_(random),
        is_tame_(random.one_in(2)),
        is_special_(!is_tame_ && random.one_in(2)) {}

  std::string table(const Object& object, int depth) {
    std::vector<std::string> fields;
    for (const Field& field : object.fields)
      if (!field.deprecated &&
          ((field.required && depth < required_depth_max) || is_present(field.type, depth)))
        fields.push_back(member(field, depth));
    // Builders lay out children in the order of the text: so each vector is the last one at times.
    for (std::size_t i = fields.size(); i > 1; --i)
      std::swap(fields[i - 1], fields[random_.below(i)]);
    return fmt::format("{{{}}}", fmt::join(fields, ", "));
  }

  void structure(const Object& object, std::byte* at) {
    for (const Field& field : object.fields) {
      const bool is_array = field.type.base == Base::array;
      const std::size_t bytes = field.type.item() == Base::object
                                    ? this->object(field.type).bytes
                                    : ringkernel::program::bytes_of(field.type.item());
      for (std::size_t i = 0; i < (is_array ? field.type.length : 1); ++i)
        put(field.type, at + field.offset + i * bytes);
    }
  }

 private:
  /// One item of the type.
  void put(const Type& type, std::byte* at) {
    if (type.item() == Base::object) {
      structure(object(type), at);
      return;
    }
    const auto store = [&](auto value) { std::memcpy(at, &value, sizeof value); };
    const std::string text = item(type, 0);
    if (type.item() == Base::boolean)
      store(text == "true");
    else if (type.item() == Base::f32)
      store(std::strtof(text.c_str(), nullptr));
    else if (type.item() == Base::f64)
      store(std::strtod(text.c_str(), nullptr));
    else {
      // Little-endian: the first bytes of a word are those of a narrower one.
      const std::uint64_t bits =
          text.front() == '-' ? static_cast<std::uint64_t>(std::strtoll(text.c_str(), nullptr, 10))
                              : std::strtoull(text.c_str(), nullptr, 10);
      std::memcpy(at, &bits, ringkernel::program::bytes_of(type.item()));
    }
  }

  bool is_present(const Type& type, int depth) {
    const bool is_deep = type.item() == Base::object && !object(type).is_struct;
    return !random_.one_in(is_tame_ ? 16 : 4) && (!is_deep || depth < depth_max);
  }

  std::string member(const Field& field, int depth) {
    return fmt::format("\"{}\": {}", field.short_name(), value(field.type, depth));
  }

  std::string value(const Type& type, int depth) {
    if (type.base == Base::vector) return several(type, length(type, depth), depth);
    if (type.base == Base::array) return several(type, type.length, depth);
    return item(type, depth);
  }

  std::string several(const Type& type, std::size_t count, int depth) {
    std::string text = "[";
    for (std::size_t i = 0; i < count; ++i) {
      if (i != 0) text += ", ";
      text += item(type, depth);
    }
    return text += "]";
  }

  std::string item(const Type& type, int depth) {
    switch (type.item()) {
      case Base::string: return string();
      case Base::object:
        return object(type).is_struct ? structure(object(type)) : table(object(type), depth + 1);
      case Base::boolean: return random_.one_in(2) ? "true" : "false";
      case Base::f32:
      case Base::f64: return real(type.item() == Base::f64);
      default: return type.index >= 0 ? enumerator(type) : integer(type.item());
    }
  }

  std::string structure(const Object& object) {
    std::vector<std::string> fields;
    for (const Field& field : object.fields) fields.push_back(member(field, 0));
    return fmt::format("{{{}}}", fmt::join(fields, ", "));
  }

  std::size_t length(const Type& type, int depth) {
    const bool is_table = type.element == Base::object && !object(type).is_struct;
    if (is_table) return depth < depth_max ? random_.below(4) : 0;
    switch (random_.below(8)) {
      case 0: return 0;
      case 1: return 1;
      case 2: return 60 + random_.below(10);
      case 3: return random_.below(300);
      default: return 2 + random_.below(7);
    }
  }

  std::string string() {
    constexpr std::array<std::string_view, 5> pieces = {"a", "Z", " ", "0", "\u00e9"};
    std::string text = "\"";
    const std::size_t count = random_.one_in(4) ? random_.below(100) : random_.below(12);
    for (std::size_t i = 0; i < count; ++i) text += pieces[random_.below(pieces.size())];
    return text += "\"";
  }

  std::string integer(Base base) {
    const std::uint32_t bits = 8 * ringkernel::program::bytes_of(base);
    const bool is_signed = suffix_of(base).front() == 'i';
    std::uint64_t value = 0;
    switch (is_tame_ ? 8 : random_.below(8)) {
      case 0: value = ~std::uint64_t{0}; break;  // the largest, or -1
      case 1: value = std::uint64_t{1} << random_.below(bits); break;
      case 2: value = (std::uint64_t{1} << random_.below(bits)) - 1; break;
      case 3: value = random_.next(); break;
      case 4: value = random_.below(1024); break;
      default: value = random_.below(9); break;
    }
    const std::uint32_t unused = 64 - bits;
    if (is_signed) return std::to_string(static_cast<std::int64_t>(value << unused) >> unused);
    return std::to_string(value << unused >> unused);
  }

  /// As a number; in one of eight, of no enumerator.
  std::string enumerator(const Type& type) {
    const Enum& of = model_.enums[static_cast<std::size_t>(type.index)];
    if (of.values.empty() || (!is_tame_ && random_.one_in(4))) return integer(of.underlying);
    const std::int64_t value = of.values[random_.below(of.values.size())].value;
    return of.underlying == Base::u64 ? std::to_string(static_cast<std::uint64_t>(value))
                                      : std::to_string(value);
  }

  std::string real(bool is_double) {
    if (is_special_ && random_.one_in(4)) {
      constexpr std::array<std::string_view, 8> special = {
          "nan", "inf", "-inf", "-0.0", "1e-41", "-1e-45", "3.4028235e38", "-3.4028235e38"};
      return std::string(special[random_.below(special.size())]);
    }
    if (random_.one_in(2)) return fmt::format("{}.0", random_.below(100));
    const double part = static_cast<double>(random_.below(2'000'001)) / 1e6 - 1;  // -1 to 1
    return is_double ? fmt::format("{:.17g}", 100 * part) : fmt::format("{:.9g}", 100 * part);
  }

  [[nodiscard]] const Object& object(const Type& type) const {
    return model_.objects[static_cast<std::size_t>(type.index)];
  }

  const Model& model_;
  Random& random_;
  bool is_tame_;     ///< numbers as are usual, so that handlers come to their ends
  bool is_special_;  ///< NaN and the like
};

}  // namespace

std::string sample_of(const Model& model, const Object& table, Random& random) {
  return Writer(model, random).table(table, 0);
}

std::vector<std::byte> struct_sample_of(const Model& model, const Object& structure,
                                        Random& random) {
  std::vector<std::byte> bytes(structure.bytes);
  Writer(model, random).structure(structure, bytes.data());
  return bytes;
}

void spoil(std::vector<std::byte>& message, Random& random) {
  for (std::uint64_t changes = 1 + random.below(3); changes != 0 && !message.empty(); --changes) {
    const std::size_t at = random.below(message.size());
    switch (random.below(4)) {
      case 0: message.resize(at); break;
      case 1: message[at] = static_cast<std::byte>(random.next()); break;
      case 2: message[at] ^= static_cast<std::byte>(1u << random.below(8)); break;
      default: {  // an offset or a count, far too large or just so
        const std::uint64_t word = random.one_in(2) ? random.next() : random.below(256);
        for (std::size_t i = at / 4 * 4, shift = 0; i < message.size() && shift < 32;
             ++i, shift += 8)
          message[i] = static_cast<std::byte>(word >> shift);
      }
    }
  }
}

}  // namespace rkc
