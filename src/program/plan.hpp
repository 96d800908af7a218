/// What of a schema the device program gets, after all that it cannot have is refused.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Errors: `make_plan` answers `invalid_argument`.
#pragma once

#include <string>
#include <vector>

#include "program/layout.hpp"
#include "program/model.hpp"
#include "program/names.hpp"
#include "program/schema.hpp"

namespace ringkernel::program {

/// A reply's table.
struct Written {
  int table = 0;
  Layout layout;
};

struct Plan {
  Model model;
  SchemaSource source;
  std::string name_space;
  std::vector<int> structs;      ///< what is inside others before them
  std::vector<int> read;         ///< tables that requests reach, in the model's order
  std::vector<Written> written;  ///< in the model's order
  std::vector<int> states;       ///< by service: index of its struct, or -1
  std::vector<int> old_states;   ///< likewise, of the one that it is made of in a migration
  WireTables tables;
  std::vector<Behaviour> behaviours;

  [[nodiscard]] const Object& object(int index) const {
    return model.objects[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const Enum& enumeration(int index) const {
    return model.enums[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::string name_of(const Entity& type) const {
    return type_name(type, name_space);
  }
  /// The C type of one item of the type: "rk_u32", "Side", "Leg".
  [[nodiscard]] std::string item_type(const Type& type) const;
};

Result<Plan> make_plan(Model model, const SchemaSource& source);

}  // namespace ringkernel::program
