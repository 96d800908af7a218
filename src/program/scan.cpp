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
      } else if (left_.substr(0, 1) == "\"" || left_.substr(0, 1) == "'") {
        take(literal_length());
      } else if (!left_.empty() &&
                 std::string_view(" \t\r\n").find(left_[0]) != std::string_view::npos) {
        take(1);
      } else {
        return;
      }
    }
  }

  /// Of the string or character that begins here; to the end of the line where it does not end.
  [[nodiscard]] std::size_t literal_length() const {
    for (std::size_t i = 1; i < left_.size() && left_[i] != '\n'; ++i) {
      if (left_[i] == left_[0]) return i + 1;
      if (left_[i] == '\\') ++i;
    }
    return std::min(left_.find('\n'), left_.size());
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
                                               std::span<const HandlerText> files) {
  std::vector<std::string> mistakes;
  std::set<std::string> handlers;
  std::set<std::string> migrations;
  for (const HandlerText& file : files) {
    Tokens tokens(file.text);
    for (std::string_view token; !(token = tokens.next()).empty();) {
      if (token == "RK_MIGRATE" && tokens.next() == "(") migrations.emplace(tokens.next());
      if (token != "RK_ON" || tokens.next() != "(") continue;
      const std::string behaviour(tokens.next());
      const bool comma = tokens.next() == ",";
      const std::string method(tokens.next());
      if (!comma) continue;
      std::string mistake = mistake_of(schema, behaviour, method);
      if (!handlers.insert(behaviour + ", " + method).second)
        mistake = "a second RK_ON(" + behaviour + ", " + method + ")";
      if (!mistake.empty())
        mistakes.push_back(file.name + ":" + std::to_string(tokens.line()) + ": " + mistake);
    }
  }
  const auto add_missing = [&](const std::string& declared, const std::string& wanted) {
    const auto line = from.lines.find(declared);
    mistakes.push_back(from.file +
                       (line == from.lines.end() ? "" : ":" + std::to_string(line->second)) +
                       ": no " + wanted + " in " + files.front().name);
  };
  for (const Behaviour& behaviour : schema.behaviours()) {
    if (behaviour.state && behaviour.state->migrates && migrations.count(behaviour.name) == 0)
      add_missing(behaviour.state->name, "RK_MIGRATE(" + behaviour.name + ")");
    for (const Method& method : behaviour.methods) {
      const std::string handler = behaviour.name + ", " + method.name;
      if (handlers.count(handler) == 0) add_missing(method.full_name, "RK_ON(" + handler + ")");
    }
  }
  return mistakes;
}

bool may_hide_handlers(std::string_view source) {
  while (!source.empty()) {
    std::string_view line = source.substr(0, source.find('\n'));
    source.remove_prefix(std::min(line.size() + 1, source.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.substr(0, 1) != "#") continue;
    line.remove_prefix(1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    // A macro may go on in the next lines; most that are there have nothing to do with handlers.
    const bool makes = line.substr(0, 6) == "define" &&
                       (line.find("RK_") != line.npos || line.find('\\') != line.npos);
    if (makes || line.substr(0, 2) == "if") return true;
  }
  return false;
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
