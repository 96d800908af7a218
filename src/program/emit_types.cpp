#include <algorithm>
#include <limits>

#include "program/emission.hpp"

namespace ringkernel::program {
namespace {

bool is_int(const Enum& type, std::int64_t value) {
  if (type.underlying == Base::u64 && value < 0) return false;
  return value >= std::numeric_limits<std::int32_t>::min() &&
         value <= std::numeric_limits<std::int32_t>::max();
}

/// Enumerators, because macros would break what other headers call by these names. A value that C's
/// enumerators cannot have is a macro.
Result<void> emit_enum(Emission& to, const Enum& type) {
  const std::string name = to.plan.name_of(type);
  const std::string number = "rk_" + std::string(suffix_of(type.underlying));
  RK_TRY_VOID(to.names.take(name, type.name));
  to.text.documentation(type);
  to.text.line("typedef ", number, " ", name, ";");
  bool open = false;
  for (const EnumValue& value : type.values) {
    const std::string enumerator = name + "_" + std::string(value.short_name());
    RK_TRY_VOID(to.names.take(enumerator, value.name));
    if (!is_int(type, value.value)) continue;
    if (!open) to.text.line("enum {");
    open = true;
    to.text.documentation(value, "  ");
    to.text.line("  ", enumerator, " = ", std::to_string(value.value), ",");
  }
  if (open) to.text.line("};");
  for (const EnumValue& value : type.values) {
    if (is_int(type, value.value)) continue;
    to.text.documentation(value);
    to.text.line("#define ", name, "_", value.short_name(), " ((", number, ")",
                 integer_literal(type.underlying, value.value), ")");
  }
  to.text.line();
  return {};
}

/// What C would align the struct to by itself.
std::uint32_t natural_align(const Plan& plan, const Object& object) {
  std::uint32_t align = 1;
  for (const Field& field : object.fields) {
    const Type& type = field.type;
    align = std::max(
        align, type.item() == Base::object ? plan.object(type.index).align : bytes_of(type.item()));
  }
  return align;
}

Result<void> emit_struct(Emission& to, const Object& object) {
  const std::string name = to.plan.name_of(object);
  RK_TRY_VOID(to.names.take(name, object.name));
  to.text.documentation(object);
  to.text.line("typedef struct ", name, " {");
  MemberNames members(to.plan.source);
  for (const Field& field : object.fields) {
    RK_TRY_VOID(members.take(field));
    to.note(field);
    const std::string array =
        field.type.base == Base::array ? "[" + std::to_string(field.type.length) + "]" : "";
    to.text.documentation(field, "  ");
    to.text.line("  ", to.plan.item_type(field.type), " ", member_name(field), array, ";");
  }
  if (natural_align(to.plan, object) == object.align)
    to.text.line("} ", name, ";");
  else
    to.text.line("} __attribute__((aligned(", object.align, "))) ", name, ";");
  to.text.line("RK_FLAT_BYTES(", name, ", ", object.bytes, ");");
  for (const Field& field : object.fields)
    to.text.line("RK_FLAT_PLACE(", name, ", ", member_name(field), ", ", field.offset, ");");
  to.text.line();
  return {};
}

}  // namespace

Result<void> emit_types(Emission& to) {
  for (const Enum& type : to.plan.model.enums)
    if (!type.is_union) RK_TRY_VOID(emit_enum(to, type));
  for (const int index : to.plan.structs) RK_TRY_VOID(emit_struct(to, to.plan.object(index)));
  return {};
}

}  // namespace ringkernel::program
