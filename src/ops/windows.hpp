/// Windows that slide over images: what conv2d and max_pool have in common.
///
/// Threading: any thread; pure.
/// Errors: E3003, E4010, invalid_argument, as `infer_conv2d` and `infer_pool` say it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "ops/rules.hpp"

namespace ringkernel::ops {

inline constexpr std::int64_t word_max = std::numeric_limits<rk_u32>::max();

/// Vertical first: rows or columns of images, and of the window.
struct Windows {
  const char* what;  ///< "filter" or "window", for errors
  std::array<std::int64_t, 2> images;
  std::array<std::int64_t, 2> extents;
};

/// How many outputs there are, and what lies around each image: top, bottom, left, right.
struct Slid {
  std::array<std::int64_t, 2> outputs;
  std::array<std::int64_t, 4> pads;
};

/// Slides the windows as strides and padding of the call say.
[[nodiscard]] Result<Slid> slide(const OpCall& call, const Windows& windows);

[[nodiscard]] std::string list_text(const IntList& list);

/// `count` numbers, from `least` to the largest of 32 bits.
[[nodiscard]] inline bool are_words(const IntList& list, std::size_t count, std::int64_t least) {
  return list.count() == count && std::ranges::all_of(list.values(), [least](std::int64_t value) {
           return value >= least && value <= word_max;
         });
}

/// For an attribute record.
[[nodiscard]] constexpr rk_u32 as_word(std::int64_t value) noexcept {
  return static_cast<rk_u32>(value);
}

}  // namespace ringkernel::ops
