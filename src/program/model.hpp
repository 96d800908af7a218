/// A FlatBuffers schema as plain values, with every index and layout in it checked.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Errors: `read_model` answers `invalid_argument`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/schema.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::program {

/// The types of the schema language, in the numbering of its binary form.
enum class Base : std::uint8_t {
  none,
  union_type,
  boolean,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f32,
  f64,
  string,
  vector,
  object,
  union_value,
  array
};
inline constexpr std::size_t base_count = 18;

/// Of ASCII, whatever the process's locale: names go into C.
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Of C, and in ASCII.
constexpr bool is_identifier(std::string_view name) {
  if (name.empty() || !is_letter(name.front())) return false;
  for (const char c : name)
    if (!is_letter(c) && !is_digit(c)) return false;
  return true;
}

/// Whether a value of the type is a number: enums and booleans are.
constexpr bool is_number(Base base) { return base > Base::union_type && base <= Base::f64; }
constexpr bool is_union(Base base) { return base == Base::union_type || base == Base::union_value; }
/// Bytes of a number.
std::uint32_t bytes_of(Base base);
/// "u32", as in the names rk_u32 and rk_flat_u32.
std::string_view suffix_of(Base base);

struct Type {
  Base base = Base::none;
  Base element = Base::none;  ///< of a vector or an array
  int index = -1;             ///< of an object, or of the enum that a number is of
  std::uint32_t length = 0;   ///< of an array

  /// What there is one or several of.
  [[nodiscard]] Base item() const {
    return base == Base::vector || base == Base::array ? element : base;
  }
};

using Attributes = std::map<std::string, std::string, std::less<>>;

/// What all things of a schema have.
struct Entity {
  std::string name;  ///< full: "trading.Order" of a table, "trading.Order.qty" of its field
  Attributes attributes;
  std::vector<std::string> documentation;

  [[nodiscard]] std::string_view short_name() const;
  [[nodiscard]] std::string_view name_space() const;  ///< of all but fields, methods and values
  [[nodiscard]] bool has(std::string_view attribute) const;
};

struct Field : Entity {
  Type type;
  std::uint32_t slot = 0;    ///< of a table: its bytes in the vtable
  std::uint32_t offset = 0;  ///< of a struct
  std::int64_t default_integer = 0;
  double default_real = 0;
  bool deprecated = false;
  bool required = false;
  bool optional = false;
};

struct Object : Entity {
  std::vector<Field> fields;  ///< by their ids
  bool is_struct = false;
  std::uint32_t align = 0;  ///< of a struct, and so are its bytes
  std::uint32_t bytes = 0;
};

struct EnumValue : Entity {
  std::int64_t value = 0;
};

struct Enum : Entity {
  std::vector<EnumValue> values;
  Base underlying = Base::none;
  bool is_union = false;
};

struct Call : Entity {
  int request = 0;  ///< index of an object, as is reply
  int reply = 0;
};

struct Service : Entity {
  std::vector<Call> calls;
};

struct Model {
  std::vector<Object> objects;
  std::vector<Enum> enums;
  std::vector<Service> services;
};

/// Reads a .bfbs that nobody vouches for: after this, indices name what there is, ids are dense,
/// structs are laid out as C lays them out and names are C identifiers that differ.
Result<Model> read_model(std::span<const std::byte> bfbs, const SchemaSource& source);

/// The layout of structs is as the language says, and no struct is inside itself.
Result<void> check_structs(const Model& model, const SchemaSource& source);

/// Of a union, or of the field that tells its type: what the schema calls it.
std::string union_name(const Field& field);

/// "trading.fbs:7: trading.Order.what: REASON", as far as it is known.
Error refusal(const SchemaSource& source, std::string_view full_name, std::string_view reason);

}  // namespace ringkernel::program
