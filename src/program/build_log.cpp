#include "program/build_log.hpp"

#include <algorithm>
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

/// Line `number` of the text, from 1, without the blanks around it; empty: there is none, or none
/// that a person reads.
std::string_view line_of(std::string_view text, std::size_t number) {
  constexpr std::size_t readable_bytes_max = 200;
  if (number == 0) return {};
  for (std::size_t line = 1; line < number && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  text = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  text = text.substr(0, text.find_last_not_of(" \t\r") + 1);
  return text.size() <= readable_bytes_max ? text : std::string_view();
}

/// GCC's way to a mistake, before it says what it is.
bool is_of_an_include(std::string_view said) {
  said.remove_prefix(std::min(said.find_first_not_of(' '), said.size()));
  return said.starts_with("In file included from ") || said.starts_with("from ");
}

/// The source that a line of a log is about: "error: book.rk.cl:4:9: no" is about line 4.
std::string_view source_of(std::string_view said, std::span<const HandlerText> files) {
  for (const HandlerText& file : files) {
    const std::string place = file.name + ":";
    const std::size_t at = said.find(place);
    if (at == said.npos || (at != 0 && said[at - 1] != ' ')) continue;
    const std::string_view behind = said.substr(at + place.size());
    std::size_t number = 0;
    if (std::from_chars(behind.data(), behind.data() + behind.size(), number).ec == std::errc())
      return line_of(file.text, number);
  }
  return {};
}

}  // namespace

std::string with_source_lines(std::span<const HandlerText> files, std::string_view log) {
  std::string out;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view said = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    out.append(said).append(log.empty() ? "" : "\n");
    if (said.find("warning:") != said.npos || is_of_an_include(said)) continue;
    const std::string_view line = source_of(said, files);
    if (line.empty() || log.substr(0, log.find('\n')).find(line) != log.npos) continue;
    out.append(log.empty() ? "\n" : "").append("    ").append(line).append(log.empty() ? "" : "\n");
  }
  return out;
}

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
