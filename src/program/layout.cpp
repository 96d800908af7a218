#include "program/layout.hpp"

#include <algorithm>
#include <charconv>

#include "program/plan.hpp"

namespace ringkernel::program {
namespace {

constexpr std::uint32_t table_bytes_max = 65535;

/// How a field would be written; nothing where it cannot be.
struct Shape {
  Presence presence;
  std::string type;  ///< of its member, or of a list's elements
  std::uint32_t bytes;
  std::uint32_t align;
};

class LayoutMaker {
 public:
  LayoutMaker(const Plan& plan, const Object& table) : plan_(plan), table_(table) {}

  Result<Layout> make() {
    RK_TRY_VOID(choose());
    const auto entries = static_cast<std::uint32_t>(table_.fields.size()) + 2;
    member("rk_u32", "rk_root", 4, 4);
    member("rk_u16", "rk_vtable", 2, 2, entries);
    layout_.vtable_bytes = 2 * entries;
    layout_.table = member("rk_i32", "rk_table", 4, 4);
    for (std::size_t i = 0; i < layout_.fields.size(); ++i) inline_member(i);
    layout_.table_bytes = end_ - layout_.table;
    if (layout_.table_bytes > table_bytes_max || end_ > reply_bytes_max)
      return refused(table_.name, "is too large for a table that the device writes");
    layout_.head_bytes = end_;
    for (std::size_t i = 0; i < layout_.fields.size(); ++i) RK_TRY_VOID(room(i));
    pad(layout_.align);
    layout_.bytes = end_;
    return std::move(layout_);
  }

 private:
  [[nodiscard]] Error refused(std::string_view name, std::string_view reason) const {
    return refusal(plan_.source, name, reason);
  }

  Result<void> choose() {
    for (std::size_t i = 0; i < table_.fields.size(); ++i) {
      const Field& field = table_.fields[i];
      shapes_.push_back({});
      if (field.deprecated) continue;
      if (is_union(field.type.item()))
        return refused(union_name(field), "a union cannot be written on a device");
      RK_TRY(max, max_of(field));
      const bool list = field.type.base == Base::vector || field.type.base == Base::string;
      const bool flat =
          is_number(field.type.item()) || is_struct(field.type) || field.type.base == Base::string;
      if (!flat || (list && max == 0)) {
        if (field.required) return refused(field.name, flat ? needs_max : not_flat);
        (flat ? layout_.unbounded : layout_.unwritten).emplace_back(field.short_name());
        continue;
      }
      shapes_.back() = shape_of(field);
      layout_.fields.push_back({.field = i, .presence = shapes_.back().presence, .max = max});
    }
    std::stable_sort(layout_.fields.begin(), layout_.fields.end(),
                     [&](const WrittenField& a, const WrittenField& b) {
                       return inline_align(a) > inline_align(b);
                     });
    return {};
  }

  /// 0 where the field has no (max: n).
  Result<std::uint32_t> max_of(const Field& field) const {
    const auto found = field.attributes.find("max");
    if (found == field.attributes.end()) return 0u;
    const std::string& text = found->second;
    std::uint32_t max = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), max);
    if (error != std::errc() || end != text.data() + text.size() || max == 0 ||
        max > reply_bytes_max)
      return refused(field.name, "(max: n) wants a number of elements, and not '" + text + "'");
    return max;
  }

  [[nodiscard]] bool is_struct(const Type& type) const {
    return type.item() == Base::object && plan_.object(type.index).is_struct;
  }

  [[nodiscard]] Shape shape_of(const Field& field) const {
    const Type& type = field.type;
    if (type.base == Base::string) return {Presence::list, "rk_u8", 1, 1};
    const bool structure = is_struct(type);
    const bool absent = structure ? !field.required : field.optional;
    const Presence one = absent ? Presence::set : Presence::always;
    const std::uint32_t number = bytes_of(type.item());
    return {type.base == Base::vector ? Presence::list : one, plan_.item_type(type),
            structure ? plan_.object(type.index).bytes : number,
            structure ? plan_.object(type.index).align : number};
  }

  [[nodiscard]] std::uint32_t inline_align(const WrittenField& field) const {
    return field.presence == Presence::list ? 4 : shapes_[field.field].align;
  }

  void inline_member(std::size_t index) {
    WrittenField& field = layout_.fields[index];
    const Field& from = table_.fields[field.field];
    const Shape& shape = shapes_[field.field];
    const std::string name(from.short_name());
    std::uint32_t at = 0;
    if (field.presence == Presence::list)
      at = member("rk_u32", "rk_to_" + name, 4, 4);
    else if (field.presence == Presence::set)
      at = member(shape.type, "rk_at_" + name, shape.bytes, shape.align);
    else
      at = member(shape.type, member_name(from), shape.bytes, shape.align);
    field.place = at - layout_.table;
  }

  /// The room behind the table for a list: its count, right before its elements.
  Result<void> room(std::size_t index) {
    WrittenField& field = layout_.fields[index];
    if (field.presence != Presence::list) return {};
    const Field& from = table_.fields[field.field];
    const Shape& shape = shapes_[field.field];
    const std::uint32_t zero = from.type.base == Base::string ? 1 : 0;
    if (std::uint64_t{field.max + zero} * shape.bytes + end_ > reply_bytes_max)
      return refused(from.name,
                     "makes a reply of more than " + std::to_string(reply_bytes_max) + " bytes");
    const std::string name(from.short_name());
    const std::uint32_t align = std::max(shape.align, 4u);
    pad_by((2 * align - 4 - end_ % align) % align);
    const std::uint32_t count = member("rk_u32", "rk_count_" + name, 4, 4);
    field.distance = count - (layout_.table + field.place);
    field.item_bytes = shape.bytes;
    member(shape.type, "rk_of_" + name, shape.bytes, shape.align, field.max + zero);
    return {};
  }

  std::uint32_t member(std::string type, std::string name, std::uint32_t bytes, std::uint32_t align,
                       std::uint32_t count = 0) {
    pad(align);
    const std::uint32_t at = end_;
    layout_.members.push_back({std::move(type), std::move(name), count, at});
    layout_.align = std::max(layout_.align, align);
    end_ += bytes * std::max(count, 1u);
    return at;
  }

  void pad(std::uint32_t align) { pad_by((align - end_ % align) % align); }
  void pad_by(std::uint32_t bytes) {
    if (bytes == 0) return;
    layout_.members.push_back({"rk_u8", "rk_pad" + std::to_string(pads_++), bytes, end_});
    end_ += bytes;
  }

  static constexpr const char* needs_max =
      "is required, and a reply has room for it only with (max: n)";
  static constexpr const char* not_flat =
      "is required, and the device writes no tables, or vectors of tables or strings, in a reply";

  const Plan& plan_;
  const Object& table_;
  Layout layout_;
  std::vector<Shape> shapes_;  ///< by field
  std::uint32_t end_ = 0;
  std::uint32_t pads_ = 0;
};

}  // namespace

Result<Layout> layout_of(const Plan& plan, const Object& table) {
  return LayoutMaker(plan, table).make();
}

}  // namespace ringkernel::program
