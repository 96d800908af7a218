#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cwchar>
#include <iterator>

#include "telemetry/utf8.hpp"

namespace rkstat {

using ringkernel::telemetry::Character;
using ringkernel::telemetry::first_character;
using ringkernel::telemetry::is_command;

namespace {

/// One where the locale does not know it.
std::size_t cells_of(char32_t code_point) {
  const int cells = wcwidth(static_cast<wchar_t>(code_point));
  return cells < 0 ? 1 : static_cast<std::size_t>(cells);
}

bool is_shown(const Character& character) {
  return character.bytes != 0 && !is_command(character.code_point);
}

/// The first character, or the byte that begins none, goes from `text` to the result.
std::string_view take_character(std::string_view& text, std::size_t& cells) {
  const Character next = first_character(text);
  cells = next.bytes == 0 ? 1 : cells_of(next.code_point);
  const std::string_view taken = text.substr(0, std::max<std::size_t>(next.bytes, 1));
  text.remove_prefix(taken.size());
  return taken;
}

}  // namespace

std::string count_text(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  const int decimals = unit == 0 || value >= 100 ? 0 : 1;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

std::string duration_text(std::uint64_t ns) {
  struct Unit {
    const char* name;
    double length;  // in the unit before it
  };
  constexpr Unit units[] = {{"ns", 1},   {"us", 1000}, {"ms", 1000},
                            {"s", 1000}, {"min", 60},  {"h", 60}};
  double value = static_cast<double>(ns);
  std::size_t unit = 0;
  for (; unit + 1 < std::size(units) && value >= units[unit + 1].length; ++unit)
    value /= units[unit + 1].length;
  const int decimals = unit == 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit].name);
}

std::string age_text(std::uint64_t now_ns, std::uint64_t then_ns) {
  return duration_text(now_ns > then_ns ? now_ns - then_ns : 0);
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string rate_text(std::optional<double> rate) {
  return rate ? fmt::format("{:.0f}", *rate) : "-";
}

std::string printable(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    std::size_t cells = 0;
    const std::string_view character = take_character(text, cells);
    clean += is_shown(first_character(character)) ? character : "?";
  }
  return clean;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t cells = 0; !text.empty(); width += cells) (void)take_character(text, cells);
  return width;
}

std::string fit(std::string_view text, std::size_t width, bool is_utf8) {
  std::string fitted;
  std::size_t used = 0;
  while (!text.empty()) {
    std::size_t cells = 0;
    const std::string_view character = take_character(text, cells);
    const bool is_known =
        is_shown(first_character(character)) && (character.size() == 1 || is_utf8);
    if (!is_known) cells = 1;
    if (used + cells > width) break;
    fitted += is_known ? character : "?";
    used += cells;
  }
  return fitted.append(width - used, ' ');
}

std::string short_id(std::string_view id, std::size_t width) {
  const std::size_t whole = width_of(id);
  if (whole <= width) return std::string(id);
  const std::size_t tail = (width - 2) / 2;
  std::string text;
  std::size_t used = 0;
  std::size_t cells = 0;
  std::string_view rest = id;
  for (;;) {
    const std::string_view character = take_character(rest, cells);
    if (used + cells > width - 2 - tail) break;
    text += character;
    used += cells;
  }
  used += cells;
  for (; whole - used > tail; used += cells) (void)take_character(rest, cells);
  return text.append("..").append(rest);
}

}  // namespace rkstat
