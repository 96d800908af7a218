/// Figures as people read them.
///
/// Threading: plain functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rkstat {

/// "1 kernel", "2 kernels".
[[nodiscard]] std::string count_text(std::uint64_t count, std::string_view noun);
/// Binary multiples, two or three digits.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
/// "850 ns", "12.3 us", "4.56 s", "2.1 h".
[[nodiscard]] std::string duration_text(std::uint64_t ns);
/// Of what was at `then_ns`.
[[nodiscard]] std::string age_text(std::uint64_t now_ns, std::uint64_t then_ns);
/// "-" of nothing.
[[nodiscard]] std::string percent_text(std::uint64_t part, std::uint64_t whole);
[[nodiscard]] std::string rate_text(std::optional<double> rate);
/// What others chose, without what a terminal would obey or take for a broken character.
[[nodiscard]] std::string printable(std::string_view text);
/// Cells that a terminal of this process's locale shows it in.
[[nodiscard]] std::size_t width_of(std::string_view text);
/// Exactly `width` cells wide: cut off, or filled with blanks; without what a terminal would obey
/// or does not know.
[[nodiscard]] std::string fit(std::string_view text, std::size_t width, bool is_utf8);
/// Cut off in the middle where it is wide: ends differ more often than middles.
[[nodiscard]] std::string short_id(std::string_view id, std::size_t width);

}  // namespace rkstat
