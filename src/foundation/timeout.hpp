/// A caller's timeout as the library counts it.
///
/// Units: nanoseconds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ringkernel {

/// `timeout` without what is below zero, and at most 146 years: for ever, to every caller, and a
/// clock that has run for less can be added to it.
[[nodiscard]] constexpr std::uint64_t bounded_ns(std::chrono::nanoseconds timeout) noexcept {
  constexpr std::chrono::nanoseconds longest = std::chrono::nanoseconds::max() / 2;
  return static_cast<std::uint64_t>(
      std::clamp(timeout, std::chrono::nanoseconds::zero(), longest).count());
}

}  // namespace ringkernel
