#include "fields.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <string_view>

namespace rkc {

namespace {

using ringkernel::program::Base;
using ringkernel::program::Layout;
using ringkernel::program::Member;
using ringkernel::program::Object;
using ringkernel::program::Plan;
using ringkernel::program::Type;
using View = std::span<const std::byte>;

std::string text_of(View bytes, std::uint32_t offset, Base base) {
  switch (base) {
    case Base::i8: return fmt::format("{}", int{load<std::int8_t>(bytes, offset)});
    case Base::i16: return fmt::format("{}", load<std::int16_t>(bytes, offset));
    case Base::u16: return fmt::format("{}", load<std::uint16_t>(bytes, offset));
    case Base::i32: return fmt::format("{}", load<std::int32_t>(bytes, offset));
    case Base::u32: return fmt::format("{}", load<std::uint32_t>(bytes, offset));
    case Base::i64: return fmt::format("{}", load<std::int64_t>(bytes, offset));
    case Base::u64: return fmt::format("{}", load<std::uint64_t>(bytes, offset));
    case Base::f32: return fmt::format("{}", load<float>(bytes, offset));
    case Base::f64: return fmt::format("{}", load<double>(bytes, offset));
    default: return fmt::format("{}", unsigned{load<std::uint8_t>(bytes, offset)});
  }
}

bool are_nan(View one, View other, std::uint32_t offset, Base base) {
  if (base == Base::f32)
    return std::isnan(load<float>(one, offset)) && std::isnan(load<float>(other, offset));
  if (base == Base::f64)
    return std::isnan(load<double>(one, offset)) && std::isnan(load<double>(other, offset));
  return false;
}

/// Of a member of a reply's layout, what the C type of its items is called.
Type type_called(const Plan& plan, std::string_view name) {
  Type type;
  const auto find = [&](const auto& all, auto found) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (plan.name_of(all[i]) == name) found(static_cast<int>(i));
  };
  find(plan.model.objects, [&](int index) { type = {.base = Base::object, .index = index}; });
  find(plan.model.enums,
       [&](int index) { type = {.base = plan.enumeration(index).underlying, .index = index}; });
  for (std::size_t i = 0; i < ringkernel::program::base_count; ++i)
    if (const auto base = static_cast<Base>(i);
        is_number(base) && name == fmt::format("rk_{}", suffix_of(base)))
      type = {.base = base};
  return type;
}

/// "trades" of "rk_of_trades".
std::string_view shown_name(std::string_view member) {
  for (const std::string_view prefix : {"rk_of_", "rk_at_"})
    if (member.starts_with(prefix)) member.remove_prefix(prefix.size());
  return member;
}

}  // namespace

void Fields::add(const Plan& plan, const Object& structure, const std::string& prefix,
                 std::uint32_t offset) {
  for (const auto& field : structure.fields)
    add(plan, field.type, fmt::format("{}{}", prefix, field.short_name()), offset + field.offset,
        field.type.base == Base::array ? field.type.length : 0);
}

void Fields::add(const Plan& plan, const Type& type, const std::string& name, std::uint32_t offset,
                 std::uint32_t count) {
  const Base item = type.item();
  const bool is_struct = item == Base::object;
  const std::uint32_t bytes = is_struct ? plan.object(type.index).bytes : bytes_of(item);
  for (std::uint32_t i = 0; i < std::max(count, 1u); ++i) {
    const std::string one = count == 0 ? name : fmt::format("{}[{}]", name, i);
    if (is_struct)
      add(plan, plan.object(type.index), one + ".", offset + i * bytes);
    else
      leaves_.push_back({one, offset + i * bytes, item});
  }
}

Fields Fields::of(const Plan& plan, const Object& structure) {
  Fields fields;
  fields.add(plan, structure, "", 0);
  return fields;
}

Fields Fields::of(const Plan& plan, const Layout& reply) {
  Fields fields;
  for (const Member& member : reply.members)
    if (!member.name.starts_with("rk_pad"))
      fields.add(plan, type_called(plan, member.type), std::string(shown_name(member.name)),
                 member.offset, member.count);
  return fields;
}

std::string Fields::text(View bytes) const {
  std::string text = "{";
  for (const Leaf& leaf : leaves_)
    text += fmt::format("{}\"{}\": {}", text.size() > 1 ? ", " : "", leaf.name,
                        text_of(bytes, leaf.offset, leaf.base));
  return text += "}";
}

std::optional<std::string> Fields::difference(View one, View other) const {
  for (const Leaf& leaf : leaves_) {
    const std::uint32_t bytes = bytes_of(leaf.base);
    if (leaf.offset + bytes > one.size() || leaf.offset + bytes > other.size()) continue;
    if (std::memcmp(one.data() + leaf.offset, other.data() + leaf.offset, bytes) == 0) continue;
    if (are_nan(one, other, leaf.offset, leaf.base)) continue;
    return fmt::format("{}: {} and {}", leaf.name, text_of(one, leaf.offset, leaf.base),
                       text_of(other, leaf.offset, leaf.base));
  }
  return std::nullopt;
}

}  // namespace rkc
