#include "program/emission.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace ringkernel::program {
namespace {

template <class Real>
std::string real_literal(Real value, std::string_view suffix) {
  if (std::isnan(value)) return "RK_FLAT_NAN";
  if (std::isinf(value)) return value < 0 ? "-RK_FLAT_INFINITY" : "RK_FLAT_INFINITY";
  std::array<char, 64> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  std::string text(digits.data(), error == std::errc() ? end : digits.data());
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text += suffix;
}

/// A double's nearest float; beyond the largest one it is infinite.
float narrow(double value) {
  if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max()))
    return value < 0 ? -std::numeric_limits<float>::infinity()
                     : std::numeric_limits<float>::infinity();
  return static_cast<float>(value);
}

bool is_signed(Base base) {
  return base == Base::i8 || base == Base::i16 || base == Base::i32 || base == Base::i64;
}

}  // namespace

void Text::documentation(const Entity& entity, std::string_view indent) {
  for (const std::string& from : entity.documentation) {
    std::string to = from;
    for (char& c : to)
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    // A backslash, or the three signs that stand for one, would go on in the next line.
    while (!to.empty() && (to.back() == ' ' || to.back() == '\\')) to.pop_back();
    if (to.size() >= 3 && to.compare(to.size() - 3, 3, "?\?/") == 0) to += '.';
    line(indent, "///", to);
  }
}

std::string integer_literal(Base base, std::int64_t value) {
  if (!is_signed(base)) return std::to_string(static_cast<std::uint64_t>(value)) + "u";
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807 - 1)";
  return std::to_string(value);
}

std::string default_literal(const Field& field) {
  if (field.type.base == Base::f32) return real_literal(narrow(field.default_real), "f");
  if (field.type.base == Base::f64) return real_literal(field.default_real, "");
  return integer_literal(field.type.base, field.default_integer);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ') continue;
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out += '"';
}

std::string handler_name(const Plan& plan, std::size_t service, const Call& call) {
  return plan.behaviours[service].name + "_" + std::string(call.short_name());
}

std::string handler_signature(const Plan& plan, std::size_t service, const Call& call,
                              std::string_view mark) {
  const int state = plan.states[service];
  std::string text = "static rk_u32 " + handler_name(plan, service, call) + "(rk_self* self";
  (text += mark) += ", RK_GLOBAL " + (state < 0 ? "void" : plan.name_of(plan.object(state)));
  ((text += "* state") += mark) += ", const " + plan.name_of(plan.object(call.request));
  ((text += "View* request") += mark) += ", RK_GLOBAL " + plan.name_of(plan.object(call.reply));
  return ((text += "Out* reply") += mark) += ")";
}

Result<void> MemberNames::take(const Field& field) {
  const std::string name = member_name(field);
  const bool ours = name.substr(0, 3) == "rk_" || name.substr(0, 3) == "RK_";
  if (ours || name.find("__") != std::string::npos ||
      (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z'))
    return refusal(source_, field.name, "'" + name + "' is a reserved name on the device");
  const auto [owner, taken] = owners_.emplace(name, field.name);
  if (!taken)
    return refusal(source_, field.name,
                   "its name on the device, '" + name + "', is that of " + owner->second);
  return {};
}

}  // namespace ringkernel::program
