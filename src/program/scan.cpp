#include <algorithm>
#include <set>

#include "program/model.hpp"
#include "program/schema.hpp"

namespace ringkernel::program {
namespace {

/// Words and single signs, with strings and comments left out.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : left_(text) {}

  /// Empty at the end.
  std::string_view next() {
    skip();
    std::size_t length = left_.empty() ? 0 : 1;
    while (length != 0 && is_word(left_[0]) && length < left_.size() && is_word(left_[length]))
      ++length;
    return take(length);
  }

  [[nodiscard]] std::uint32_t line() const { return line_; }

 private:
  static bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

  void skip() {
    for (;;) {
      if (left_.substr(0, 2) == "//") {
        take(left_.find('\n'));
      } else if (left_.substr(0, 2) == "/*") {
        const std::size_t end = left_.find("*/", 2);
        take(end == std::string_view::npos ? end : end + 2);
      } else if (left_.substr(0, 1) == "\"") {
        const std::size_t end = left_.find('"', 1);
        take(end == std::string_view::npos ? end : end + 1);
      } else if (!left_.empty() &&
                 std::string_view(" \t\r\n").find(left_[0]) != std::string_view::npos) {
        take(1);
      } else {
        return;
      }
    }
  }

  std::string_view take(std::size_t length) {
    const std::string_view taken = left_.substr(0, length);
    for (const char c : taken) line_ += c == '\n' ? 1 : 0;
    left_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view left_;
  std::uint32_t line_ = 1;
};

bool opens_type(std::string_view word) {
  return word == "table" || word == "struct" || word == "enum" || word == "union" ||
         word == "rpc_service";
}

/// The members of the type: a name at the beginning, or behind a ';', a ',' or a '}', outside of
/// parentheses.
void find_members(Tokens& tokens, const std::string& type, Lines& lines) {
  int parentheses = 0;
  bool begins = true;
  for (std::string_view token; !(token = tokens.next()).empty() && token != "}";) {
    if (begins && token != ";") lines.emplace(type + "." + std::string(token), tokens.line());
    if (token == "(") ++parentheses;
    if (token == ")") --parentheses;
    begins = parentheses == 0 && (token == ";" || token == ",");
  }
}

/// What is wrong with a handler; empty where nothing is.
std::string mistake_of(const Schema& schema, const std::string& behaviour,
                       const std::string& method) {
  const std::vector<Behaviour>& all = schema.behaviours();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Behaviour& one) { return one.name == behaviour; });
  if (found == all.end())
    return "there is no behaviour " + behaviour + "; there is " + names_of(all);
  for (const Method& one : found->methods)
    if (one.name == method) return {};
  return behaviour + " has no method " + method + "; it has " + names_of(found->methods);
}

}  // namespace

std::vector<std::string> find_handler_mistakes(const Schema& schema, const SchemaSource& from,
                                               std::string_view source, const std::string& file) {
  std::vector<std::string> mistakes;
  std::set<std::string> handlers;
  Tokens tokens(source);
  for (std::string_view token; !(token = tokens.next()).empty();) {
    if (token != "RK_ON" || tokens.next() != "(") continue;
    const std::string behaviour(tokens.next());
    const bool comma = tokens.next() == ",";
    const std::string method(tokens.next());
    if (!comma) continue;
    std::string mistake = mistake_of(schema, behaviour, method);
    if (!handlers.insert(behaviour + ", " + method).second)
      mistake = "a second RK_ON(" + behaviour + ", " + method + ")";
    if (!mistake.empty())
      mistakes.push_back(file + ":" + std::to_string(tokens.line()) + ": " + mistake);
  }
  for (const Behaviour& behaviour : schema.behaviours())
    for (const Method& method : behaviour.methods) {
      const std::string handler = behaviour.name + ", " + method.name;
      const auto line = from.lines.find(method.full_name);
      const std::string place =
          from.file + (line == from.lines.end() ? "" : ":" + std::to_string(line->second));
      if (handlers.count(handler) == 0)
        mistakes.push_back(place + ": no RK_ON(" + handler + ") in " + file);
    }
  return mistakes;
}

Lines find_lines(std::string_view schema) {
  Lines lines;
  Tokens tokens(schema);
  std::string prefix;
  for (std::string_view token; !(token = tokens.next()).empty();) {
    if (token == "namespace") {
      const std::string_view name = tokens.next();
      prefix = name == ";" ? std::string() : std::string(name) + ".";
    } else if (opens_type(token)) {
      const std::string type = prefix + std::string(tokens.next());
      lines.emplace(type, tokens.line());
      while (!(token = tokens.next()).empty() && token != "{") {
      }
      find_members(tokens, type, lines);
    }
  }
  return lines;
}

}  // namespace ringkernel::program
