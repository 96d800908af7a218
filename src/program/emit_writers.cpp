#include "program/emission.hpp"

namespace ringkernel::program {
namespace {

/// One reply's table: its struct, what sets the fields that may be absent, and what begins it.
class WriterText {
 public:
  WriterText(Emission& to, const Written& written)
      : to_(to),
        table_(to.plan.object(written.table)),
        layout_(written.layout),
        name_(to.plan.name_of(table_)) {}

  Result<void> emit() {
    RK_TRY_VOID(to_.names.take(name_ + "Out", table_.name));
    RK_TRY_VOID(check_members());
    emit_struct();
    for (const WrittenField& field : layout_.fields) {
      to_.note(from(field));
      if (field.presence == Presence::set) RK_TRY_VOID(emit_set(field));
      if (field.presence == Presence::list) RK_TRY_VOID(emit_put(field));
    }
    emit_begin();
    emit_end();
    to_.text.line();
    return {};
  }

 private:
  [[nodiscard]] const Field& from(const WrittenField& field) const {
    return table_.fields[field.field];
  }

  Result<void> check_members() const {
    MemberNames members(to_.plan.source);
    for (const WrittenField& field : layout_.fields) RK_TRY_VOID(members.take(from(field)));
    return {};
  }

  void emit_struct() {
    Text& text = to_.text;
    text.documentation(table_);
    for (const std::string& name : layout_.unwritten)
      text.line("/// Never written: ", name, ", which has no fixed size.");
    for (const std::string& name : layout_.unbounded)
      text.line("/// Without (max: n) in the schema there is no ", name_, "_put_", name, ".");
    text.line("typedef struct ", name_, "Out {");
    for (const Member& member : layout_.members) {
      for (const WrittenField& field : layout_.fields)
        if (field.presence == Presence::always && member.offset == layout_.table + field.place)
          text.documentation(from(field), "  ");
      document_writer(member);
      const std::string array = member.count != 0 ? "[" + std::to_string(member.count) + "]" : "";
      text.line("  ", member.type, " ", member.name, array, ";");
    }
    text.line("} __attribute__((aligned(", layout_.align, "))) ", name_, "Out;");
    text.line("RK_FLAT_BYTES(", name_, "Out, ", layout_.bytes, ");");
    for (const Member& member : layout_.members)
      if (member.name.substr(0, 6) != "rk_pad")
        text.line("RK_FLAT_PLACE(", name_, "Out, ", member.name, ", ", member.offset, ");");
  }

  /// Whoever looks for a field that no member has the name of finds what writes it.
  void document_writer(const Member& member) {
    for (const WrittenField& field : layout_.fields) {
      if (field.presence == Presence::always || member.offset != layout_.table + field.place)
        continue;
      const Field& of = from(field);
      const bool is_value = field.presence == Presence::set && of.type.base != Base::object;
      to_.text.line("  /// ", of.short_name(), ": ", name_, is_value ? "_set_" : "_put_",
                    of.short_name(), " writes it.");
    }
  }

  /// Whether the field is there, as an expression; and what says that it is.
  static std::string is_there(const WrittenField& field) {
    return "out->rk_vtable[" + std::to_string(field.field + 2) + "]";
  }
  static std::string entry(const WrittenField& field) {
    return is_there(field) + " = " + std::to_string(field.place) + "u;";
  }

  /// A number comes as a value. A struct is written in place: a copy would send the bytes between
  /// its members, which nobody has set.
  Result<void> emit_set(const WrittenField& field) {
    const std::string short_name(from(field).short_name());
    const bool structure = from(field).type.base == Base::object;
    const std::string name = name_ + (structure ? "_put_" : "_set_") + short_name;
    const std::string type = to_.plan.item_type(from(field).type);
    RK_TRY_VOID(to_.names.take(name, from(field).name));
    Text& text = to_.text;
    text.documentation(from(field));
    text.line("RK_FN ", structure ? "RK_GLOBAL " + type + "*" : "void", " ", name, "(RK_GLOBAL ",
              name_, "Out* out", structure ? "" : ", " + type + " value", ") {");
    text.line("  ", entry(field));
    if (structure)
      text.line("  return &out->rk_at_", short_name, ";");
    else
      text.line("  out->rk_at_", short_name, " = value;");
    text.line("}");
    return {};
  }

  Result<void> emit_put(const WrittenField& field) {
    const std::string short_name(from(field).short_name());
    const std::string name = name_ + "_put_" + short_name;
    const bool string = from(field).type.base == Base::string;
    const std::string max = std::to_string(field.max) + "u";
    RK_TRY_VOID(to_.names.take(name, from(field).name));
    Text& text = to_.text;
    text.documentation(from(field));
    text.line("/// Room for `count` elements, ", field.max, " at most.");
    text.line("RK_FN RK_GLOBAL ", string ? "rk_u8" : to_.plan.item_type(from(field).type), "* ",
              name, "(RK_GLOBAL ", name_, "Out* out, rk_u32 count) {");
    text.line("  ", entry(field));
    text.line("  out->rk_to_", short_name, " = ", field.distance, "u;");
    text.line("  out->rk_count_", short_name, " = count < ", max, " ? count : ", max, ";");
    if (string) text.line("  out->rk_of_", short_name, "[out->rk_count_", short_name, "] = 0;");
    text.line("  return out->rk_of_", short_name, ";");
    text.line("}");
    return {};
  }

  /// How much of the reply is used: all up to the end of its last list.
  void emit_end() {
    Text& text = to_.text;
    text.line("RK_FN rk_u32 rk_end_", name_, "Out(RK_GLOBAL const ", name_, "Out* out) {");
    text.line("  (void)out;");
    for (auto field = layout_.fields.rbegin(); field != layout_.fields.rend(); ++field) {
      if (field->presence != Presence::list) continue;
      const Field& of = from(*field);
      const std::uint32_t first = layout_.table + field->place + field->distance + 4;
      text.line("  if (", is_there(*field), " != 0) return ", first, "u + out->rk_count_",
                of.short_name(), " * ", field->item_bytes, "u",
                of.type.base == Base::string ? " + 1u;" : ";");
    }
    text.line("  return ", layout_.head_bytes, "u;");
    text.line("}");
  }

  void emit_begin() {
    Text& text = to_.text;
    text.line("RK_FN void rk_begin_", name_, "Out(RK_GLOBAL ", name_, "Out* out) {");
    text.line("  rk_flat_zero((rk_bytes)out, ", layout_.bytes, "u);");
    text.line("  out->rk_root = ", layout_.table, "u;");
    text.line("  out->rk_vtable[0] = ", layout_.vtable_bytes, "u;");
    text.line("  out->rk_vtable[1] = ", layout_.table_bytes, "u;");
    text.line("  out->rk_table = ", layout_.table - vtable_position, ";");
    for (const WrittenField& field : layout_.fields) {
      const Field& of = from(field);
      if (field.presence == Presence::always) text.line("  ", entry(field));
      if (field.presence == Presence::always && is_number(of.type.base))
        text.line("  out->", member_name(of), " = ", default_literal(of), ";");
      if (field.presence == Presence::list && of.required)
        text.line("  (void)", name_, "_put_", of.short_name(), "(out, 0);");
    }
    text.line("}");
  }

  Emission& to_;
  const Object& table_;
  const Layout& layout_;
  std::string name_;
};

}  // namespace

Result<void> emit_writers(Emission& to) {
  for (const Written& written : to.plan.written) RK_TRY_VOID(WriterText(to, written).emit());
  return {};
}

}  // namespace ringkernel::program
