/// The text that a device program gets, part by part.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Errors: `invalid_argument` where two things would have one name in C, or a reserved one.
#pragma once

#include <string>
#include <string_view>

#include "program/names.hpp"
#include "program/plan.hpp"

namespace ringkernel::program {

/// Lines of text.
class Text {
 public:
  template <class... Parts>
  void line(const Parts&... parts) {
    (add(parts), ...);
    text_ += '\n';
  }
  /// As comments, `indent` blanks from the left: of a schema's documentation nothing can end one.
  void documentation(const Entity& entity, std::string_view indent = "");

  [[nodiscard]] const std::string& str() const { return text_; }

 private:
  void add(std::string_view part) { text_ += part; }
  void add(std::uint32_t part) { text_ += std::to_string(part); }

  std::string text_;
};

struct Emission {
  explicit Emission(const Plan& of) : plan(of), names(of.source) {}

  const Plan& plan;
  NameTable names;
  Text text;
  std::string first_double;  ///< full name of a field in double precision; empty: there is none

  /// Remembers where double precision is needed.
  void note(const Field& field) {
    if (first_double.empty() && field.type.item() == Base::f64) first_double = field.name;
  }
};

Result<void> emit_types(Emission& to);
Result<void> emit_readers(Emission& to);
Result<void> emit_writers(Emission& to);
Result<void> emit_markers(Emission& to);

Result<std::string> header_text(const Plan& plan, std::string_view header_name);
std::string dispatch_text(const Plan& plan, std::string_view header_name);

/// Of a field: its default.
std::string default_literal(const Field& field);
/// Of an integer type.
std::string integer_literal(Base base, std::int64_t value);
/// As a string of C, quotes included.
std::string quoted(std::string_view text);
/// "static rk_u32 Book_Submit(rk_self* self, ...)", each parameter followed by `mark`.
std::string handler_signature(const Plan& plan, std::size_t service, const Call& call,
                              std::string_view mark);
std::string handler_name(const Plan& plan, std::size_t service, const Call& call);

/// Names of members: two of one struct differ, and none is ours.
class MemberNames {
 public:
  explicit MemberNames(const SchemaSource& source) : source_(source) {}
  Result<void> take(const Field& field);

 private:
  const SchemaSource& source_;
  std::map<std::string, std::string> owners_;
};

}  // namespace ringkernel::program
