#include "program/build_log.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace ringkernel::program {
namespace {

struct Place {
  std::string_view file;
  std::size_t line = 0;
};

/// `#line 7 "book.rk.cl"`, which says what the next line is; a line alone leaves the file.
std::optional<Place> directive(std::string_view line) {
  constexpr std::string_view word = "#line ";
  if (line.substr(0, word.size()) != word) return std::nullopt;
  Place place;
  const char* const end = line.data() + line.size();
  if (std::from_chars(line.data() + word.size(), end, place.line).ec != std::errc())
    return std::nullopt;
  const std::size_t open = line.find('"');
  const std::size_t close = line.rfind('"');
  if (open != std::string_view::npos && close > open)
    place.file = line.substr(open + 1, close - open - 1);
  return place;
}

/// What line `number` of the text, from 1, is according to the directives before it.
std::optional<Place> place_of(std::string_view text, std::size_t number) {
  Place next;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view content = text.substr(0, text.find('\n'));
    if (line == number) return next.file.empty() ? std::nullopt : std::optional(next);
    if (const auto given = directive(content))
      next = {given->file.empty() ? next.file : given->file, given->line};
    else
      ++next.line;
    text.remove_prefix(content.size() == text.size() ? content.size() : content.size() + 1);
  }
  return std::nullopt;
}

}  // namespace

std::string with_lines_of(std::string_view text, std::string_view log) {
  constexpr std::string_view mark = "<kernel>:";
  std::string out;
  for (;;) {
    const std::size_t at = log.find(mark);
    out.append(log.substr(0, at));
    if (at == std::string_view::npos) return out;
    log.remove_prefix(at + mark.size());
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(log.data(), log.data() + log.size(), number);
    const auto place = error == std::errc() ? place_of(text, number) : std::nullopt;
    if (!place) {
      out.append(mark);
      continue;
    }
    out.append(place->file).append(":").append(std::to_string(place->line));
    log.remove_prefix(static_cast<std::size_t>(end - log.data()));
  }
}

}  // namespace ringkernel::program
