/// Names are any bytes; who shows them wants characters, and a terminal that obeys none of them.
///
/// Threading: plain functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace ringkernel::telemetry {

/// A character, and the bytes that it takes in UTF-8; 0: none begins there.
struct Character {
  char32_t code_point = 0;
  std::size_t bytes = 0;
};

/// Of a text that is not empty.
[[nodiscard]] inline Character first_character(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || bytes > text.size()) return {};
  char32_t code_point = first & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return {};
    code_point = code_point << 6 | (byte & 0x3f);
  }
  constexpr char32_t least[] = {0x80, 0x800, 0x10000};  // of those that take so many bytes
  const bool is_surrogate = code_point >= 0xd800 && code_point < 0xe000;
  if (code_point < least[bytes - 2] || code_point > 0x10ffff || is_surrogate) return {};
  return {code_point, bytes};
}

/// Whether it is obeyed and not shown: controls, ends of lines, and what turns text around.
[[nodiscard]] inline bool is_command(char32_t code_point) noexcept {
  const auto is_in = [code_point](char32_t first, char32_t last) {
    return code_point >= first && code_point <= last;
  };
  return code_point < 0x20 || is_in(0x7f, 0x9f) || code_point == 0x61c || is_in(0x200e, 0x200f) ||
         is_in(0x2028, 0x202e) || is_in(0x2066, 0x2069);
}

[[nodiscard]] inline bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t bytes = first_character(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace ringkernel::telemetry
