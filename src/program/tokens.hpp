/// The words and signs of a text in C or in the schema language, which is scanned before, or
/// without, a compiler. Comments are left out, strings and characters too where nobody asks.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Ownership: refers to the text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "program/model.hpp"

namespace ringkernel::program {

class Tokens {
 public:
  explicit Tokens(std::string_view text) : left_(text) {}

  /// A word or a single sign; empty at the end.
  std::string_view next() {
    for (skip_blanks(); is_literal(); skip_blanks()) take(literal_length());
    std::size_t length = left_.empty() ? 0 : 1;
    while (length != 0 && is_word(left_[0]) && length < left_.size() && is_word(left_[length]))
      ++length;
    return take(length);
  }

  /// The string that comes next, with its quotes and to its end; empty: something else comes.
  std::string_view next_string() {
    skip_blanks();
    return left_.substr(0, 1) == "\"" ? take(literal_length()) : std::string_view();
  }

  /// Of what was taken last.
  [[nodiscard]] std::uint32_t line() const { return line_; }

 private:
  static bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

  void skip_blanks() {
    for (;;) {
      if (left_.substr(0, 2) == "//") {
        take(left_.find('\n'));
      } else if (left_.substr(0, 2) == "/*") {
        const std::size_t end = left_.find("*/", 2);
        take(end == std::string_view::npos ? end : end + 2);
      } else if (!left_.empty() &&
                 std::string_view(" \t\r\n").find(left_[0]) != std::string_view::npos) {
        take(1);
      } else {
        return;
      }
    }
  }

  [[nodiscard]] bool is_literal() const {
    return left_.substr(0, 1) == "\"" || left_.substr(0, 1) == "'";
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

}  // namespace ringkernel::program
