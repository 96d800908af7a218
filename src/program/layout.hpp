/// The fixed layout of a table that the device writes: root, vtable, table and room for its vectors
/// in one struct, `AckOut`.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Errors: `layout_of` answers `invalid_argument` for what has no fixed layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/model.hpp"

namespace ringkernel::program {

struct Plan;

struct Member {
  std::string type;
  std::string name;
  std::uint32_t count = 0;  ///< of an array's elements; 0: it is none
  std::uint32_t offset = 0;
};

enum class Presence : std::uint8_t {
  always,  ///< a number that has a default, or a required struct
  set,     ///< absent until it is set
  list     ///< a vector or a string, absent until it is put
};

struct WrittenField {
  std::size_t field = 0;  ///< index in its table
  Presence presence = Presence::always;
  std::uint32_t place = 0;       ///< bytes from the table
  std::uint32_t distance = 0;    ///< of a list: from the offset to its count
  std::uint32_t max = 0;         ///< of a list: elements
  std::uint32_t item_bytes = 0;  ///< of a list: an element's
};

struct Layout {
  std::vector<Member> members;
  std::vector<WrittenField> fields;    ///< by falling alignment
  std::vector<std::string> unwritten;  ///< short names of fields that no reply has
  std::vector<std::string> unbounded;  ///< of those that it would have with (max: n)
  std::uint32_t table = 0;             ///< its position
  std::uint32_t table_bytes = 0;
  std::uint32_t vtable_bytes = 0;
  std::uint32_t align = 8;
  std::uint32_t head_bytes = 0;  ///< without the room for lists
  std::uint32_t bytes = 0;
};

/// Where the vtable of every such struct is.
inline constexpr std::uint32_t vtable_position = 4;

Result<Layout> layout_of(const Plan& plan, const Object& table);

}  // namespace ringkernel::program
