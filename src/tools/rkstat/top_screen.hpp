/// What `rkstat top` shows, line by line, for a terminal of any size.
///
/// Threading: plain functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "top_model.hpp"

namespace rkstat {

enum class Emphasis : std::uint8_t { none, title, heading, selected, alarm, faint };

struct ScreenLine {
  std::string text;  ///< UTF-8, at most as wide as the screen
  Emphasis emphasis = Emphasis::none;
};

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

/// At most `size.rows` lines. `is_utf8`: else only ASCII.
[[nodiscard]] std::vector<ScreenLine> render_top(const TopModel& model, ScreenSize size,
                                                 bool is_utf8);

/// `values` as bars next to each other, the highest as high as a line; at most `width` of them, the
/// last ones.
[[nodiscard]] std::string sparkline(const std::vector<double>& values, std::size_t width,
                                    bool is_utf8);

}  // namespace rkstat
