/// One stream as a picture: its samples, and below them how probable speech is.
#pragma once

#include <span>
#include <string>

#include "ringkernel/result.hpp"

namespace vad {

/// An SVG file. `samples` and `probabilities` cover the same time. Errors: invalid_argument (the
/// file cannot be written).
[[nodiscard]] ringkernel::Result<void> plot(const std::string& path, std::span<const float> samples,
                                            std::span<const float> probabilities, double seconds);

}  // namespace vad
