#include <set>

#include "program/emission.hpp"

namespace ringkernel::program {
namespace {

/// One table's accessors.
class ReaderText {
 public:
  ReaderText(Emission& to, const Object& table)
      : to_(to), table_(table), name_(to.plan.name_of(table)) {}

  Result<void> emit() {
    for (const Field& field : table_.fields) {
      if (field.deprecated) continue;
      to_.note(field);
      field_ = &field;
      slot_ = "&view->flat, " + std::to_string(field.slot) + "u";
      if (field.optional && is_number(field.type.base))
        RK_TRY_VOID(function("rk_u32", "has_" + std::string(field.short_name()), view(),
                             "return rk_flat_field(" + slot_ + ", " + extent() + ") != 0;"));
      RK_TRY_VOID(emit_field());
    }
    return {};
  }

 private:
  Result<void> emit_field() {
    const Type& type = field_->type;
    switch (type.base) {
      case Base::string: return one("rk_text", view(), "return rk_flat_text(" + slot_ + ");");
      case Base::vector: return emit_vector();
      case Base::object:
        if (!to_.plan.object(type.index).is_struct)
          return one("rk_u32", view() + ", " + item() + "View* out",
                     "return rk_flat_table(" + slot_ + ", &out->flat);");
        return one("RK_GLOBAL const " + item() + "*", view(),
                   "return (RK_GLOBAL const " + item() + "*)rk_flat_struct(" + slot_ + ", " +
                       extent() + ");");
      default: return emit_number();
    }
  }

  Result<void> emit_number() {
    const std::string call =
        "rk_flat_" + suffix() + "(" + slot_ + ", " + default_literal(*field_) + ")";
    if (field_->type.base == Base::boolean)
      return one("rk_u8", view(), "return (rk_u8)(" + call + " != 0);");
    return one(item(), view(), "return " + call + ";");
  }

  Result<void> emit_vector() {
    const Type& type = field_->type;
    const std::string name(field_->short_name());
    const std::string list = "return rk_flat_list_of(" + slot_ + ");";
    const std::string element = "const rk_flat_list* list, rk_u32 index";
    if (type.element == Base::string) {
      RK_TRY_VOID(one("rk_flat_list", view(), list));
      return function("rk_text", name + "_at", element, "return rk_flat_text_at(list, index);");
    }
    if (type.element == Base::object && !to_.plan.object(type.index).is_struct) {
      RK_TRY_VOID(one("rk_flat_list", view(), list));
      return function("rk_u32", name + "_at", element + ", " + item() + "View* out",
                      "return rk_flat_table_at(list, index, &out->flat);");
    }
    if (type.index < 0)
      return one("rk_" + suffix() + "_span", view(),
                 "return rk_flat_" + suffix() + "_span(" + slot_ + ");");
    return one(item() + "Span", view(),
               item() + "Span span;\n  span.at = (RK_GLOBAL const " + item() + "*)rk_flat_vector(" +
                   slot_ + ", " + extent() + ", &span.count);\n  return span;");
  }

  /// The accessor that has the field's name.
  Result<void> one(const std::string& type, const std::string& parameters,
                   const std::string& body) {
    to_.text.documentation(*field_);
    const std::string check =
        field_->required ? "rk_flat_require(" + slot_ + ");\n  " : std::string();
    return function(type, std::string(field_->short_name()), parameters, check + body);
  }

  Result<void> function(const std::string& type, const std::string& name,
                        const std::string& parameters, const std::string& body) {
    RK_TRY_VOID(to_.names.take(name_ + "_" + name, field_->name));
    to_.text.line("RK_FN ", type, " ", name_, "_", name, "(", parameters, ") {");
    to_.text.line("  ", body);
    to_.text.line("}");
    return {};
  }

  [[nodiscard]] std::string view() const { return "const " + name_ + "View* view"; }
  [[nodiscard]] std::string item() const { return to_.plan.item_type(field_->type); }
  [[nodiscard]] std::string suffix() const { return std::string(suffix_of(field_->type.item())); }
  /// Bytes and alignment of a number or a struct.
  [[nodiscard]] std::string extent() const {
    const Type& type = field_->type;
    const bool structure = type.item() == Base::object;
    const std::uint32_t number = bytes_of(type.item());
    return std::to_string(structure ? to_.plan.object(type.index).bytes : number) + "u, " +
           std::to_string(structure ? to_.plan.object(type.index).align : number) + "u";
  }

  Emission& to_;
  const Object& table_;
  std::string name_;
  const Field* field_ = nullptr;
  std::string slot_;  ///< the field, as the functions of rk_flat.h take it
};

/// Vectors of structs and of enums: a type for each.
Result<void> emit_spans(Emission& to) {
  std::set<std::string> spans;
  for (const int index : to.plan.read) {
    for (const Field& field : to.plan.object(index).fields) {
      const Type& type = field.type;
      if (field.deprecated || type.base != Base::vector || type.index < 0) continue;
      const bool structure = type.element == Base::object;
      if (structure && !to.plan.object(type.index).is_struct) continue;
      const std::string item = to.plan.item_type(type);
      if (!spans.insert(item).second) continue;
      RK_TRY_VOID(to.names.take(item + "Span", structure ? to.plan.object(type.index).name
                                                         : to.plan.enumeration(type.index).name));
      to.text.line("typedef struct ", item, "Span {");
      to.text.line("  RK_GLOBAL const ", item, "* at;");
      to.text.line("  rk_u32 count;");
      to.text.line("} ", item, "Span;");
    }
  }
  return {};
}

}  // namespace

Result<void> emit_readers(Emission& to) {
  RK_TRY_VOID(emit_spans(to));
  for (const int index : to.plan.read) {
    const Object& table = to.plan.object(index);
    const std::string name = to.plan.name_of(table);
    RK_TRY_VOID(to.names.take(name + "View", table.name));
    to.text.documentation(table);
    to.text.line("typedef struct ", name, "View {");
    to.text.line("  rk_flat flat;");
    to.text.line("} ", name, "View;");
  }
  to.text.line();
  for (const int index : to.plan.read) {
    RK_TRY_VOID(ReaderText(to, to.plan.object(index)).emit());
    if (!to.plan.object(index).fields.empty()) to.text.line();
  }
  return {};
}

}  // namespace ringkernel::program
