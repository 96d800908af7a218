#include "program/fault_texts.hpp"

#include <charconv>
#include <optional>
#include <utility>

#include "program/tokens.hpp"
#include "ringkernel/protocol/fault.h"

namespace ringkernel::program {
namespace {

/// Of "7", "0x7" or "7u".
std::optional<std::uint32_t> number_of(std::string_view word) {
  const bool is_hexadecimal = word.substr(0, 2) == "0x" || word.substr(0, 2) == "0X";
  if (is_hexadecimal) word.remove_prefix(2);
  if (!word.empty() && (word.back() == 'u' || word.back() == 'U')) word.remove_suffix(1);
  // What begins with a zero is octal in C.
  if (!is_hexadecimal && word.size() > 1 && word.front() == '0') return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number, is_hexadecimal ? 16 : 10);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

/// The character that such an escape stands for; nothing for those by number.
std::optional<char> escaped(char letter) {
  switch (letter) {
    case 'n': return '\n';
    case 't': return '\t';
    case '"':
    case '\'':
    case '?':
    case '\\': return letter;
    default: return std::nullopt;
  }
}

bool is_control(char c) { return (c >= 0 && c < ' ') || c == 127; }

/// Adds what is between the quotes; false: it does not end, or has what is not read here.
bool append_content(std::string& to, std::string_view literal) {
  if (literal.size() < 2 || literal.back() != '"') return false;
  literal = literal.substr(1, literal.size() - 2);
  for (std::size_t i = 0; i < literal.size(); ++i) {
    const std::optional<char> c = literal[i] != '\\'       ? literal[i]
                                  : i + 1 < literal.size() ? escaped(literal[++i])
                                                           : std::nullopt;
    if (!c || is_control(literal[i])) return false;
    to += *c;
  }
  return true;
}

/// Behind the name of the macro: its code and its text, or what is wrong with it.
struct Entry {
  std::uint32_t code = 0;
  std::string text;
  std::string mistake;
};

Entry entry_of(Tokens& tokens) {
  Entry entry;
  const auto code = tokens.next() == "(" ? number_of(tokens.next()) : std::nullopt;
  if (!code || *code == 0 || *code > RK_FAULT_CODE_MAX || tokens.next() != ",") {
    entry.mistake = "RK_FAULT_TEXT(code, \"text\") takes a number from 1 to " +
                    std::to_string(RK_FAULT_CODE_MAX) + ", and then a text";
    return entry;
  }
  entry.code = *code;
  bool is_read = false;
  for (std::string_view literal; !(literal = tokens.next_string()).empty();) {
    is_read = append_content(entry.text, literal);
    if (!is_read) break;
  }
  const std::string name = "the text of fault " + std::to_string(*code);
  if (!is_read || tokens.next() != ")")
    entry.mistake =
        name + " is to be a string literal, with no escapes but \\n, \\t, \\\" and \\\\";
  else if (entry.text.empty() || entry.text.size() > fault_text_bytes_max)
    entry.mistake = name + " has " + std::to_string(entry.text.size()) + " bytes, and not 1 to " +
                    std::to_string(fault_text_bytes_max);
  return entry;
}

}  // namespace

Result<FaultTexts> find_fault_texts(std::span<const HandlerText> files) {
  FaultTexts texts;
  for (const HandlerText& file : files) {
    if (file.text.find("RK_FAULT_TEXT") == std::string::npos) continue;
    Tokens tokens(file.text);
    std::string_view before;  // and what stood before that, for "defined(RK_FAULT_TEXT)"
    std::string_view earlier;
    for (std::string_view token; !(token = tokens.next()).empty();
         earlier = std::exchange(before, token)) {
      const std::string_view word = before == "(" && earlier == "defined" ? earlier : before;
      if (token != "RK_FAULT_TEXT" || word == "define" || word == "undef" || word == "ifdef" ||
          word == "ifndef" || word == "defined")
        continue;
      const std::uint32_t line = tokens.line();
      Entry entry = entry_of(tokens);
      if (entry.mistake.empty() && !texts.emplace(entry.code, std::move(entry.text)).second)
        entry.mistake = "a second RK_FAULT_TEXT for fault " + std::to_string(entry.code);
      if (!entry.mistake.empty())
        return Error(Errc::build_failed,
                     file.name + ":" + std::to_string(line) + ": " + entry.mistake);
    }
  }
  return texts;
}

}  // namespace ringkernel::program
