/// Whether the next op may be expected to be short: not for a while after one that was long.
///
/// Threading: distinct objects safe, shared objects unsafe: under the owner's lock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ringkernel::mind {

class ShortOps {
 public:
  static constexpr std::chrono::microseconds most{100};
  /// Ops that pass for long ones after one that was; twice as many after each further one.
  static constexpr std::uint32_t pause_min = 16, pause_max = 4096;

  [[nodiscard]] bool expects_one() noexcept {
    if (left_ == 0) return true;
    --left_;
    return false;
  }
  /// How long the one that was expected to be short took.
  void note(std::chrono::nanoseconds time) noexcept {
    left_ = time <= most ? 0 : std::max(next_, pause_min);
    next_ = std::min(left_ * 2, pause_max);
  }

 private:
  std::uint32_t left_ = 0;  // of the pause
  std::uint32_t next_ = 0;  // pause
};

}  // namespace ringkernel::mind
