/// Windows that slide over images: what conv2d and max_pool have in common.
///
/// Threading: any thread; pure.
/// Errors: E3003, E4010, invalid_argument, as `infer_conv2d` and `infer_pool` say it.
#pragma once

#include <array>
#include <cstdint>

#include "ops/rules.hpp"

namespace ringkernel::ops {

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

}  // namespace ringkernel::ops
