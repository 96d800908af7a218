/// What a loop does when a turn found no work: spin, then yield, then sleep for longer and longer.
///
/// Threading: one thread.
/// Units: nanoseconds, as the names say.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ringkernel::bridge {

/// Tells the processor that this is a polling loop.
inline void cpu_pause() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

struct IdleLimits {
  std::uint32_t spins_max = 200;
  std::uint32_t yields_max = 200;
  std::uint64_t sleep_min_ns = 50'000;
  std::uint64_t sleep_max_ns = 1'000'000;
};

class IdleStrategy {
 public:
  explicit IdleStrategy(const IdleLimits& limits = {}) noexcept : limits_(limits) {}

  /// There was work: begin again with spinning.
  void reset() noexcept {
    turns_ = 0;
    sleep_ns_ = limits_.sleep_min_ns;
  }

  /// One idle turn. Returns the nanoseconds that the caller should sleep; 0: the turn is spent.
  [[nodiscard]] std::uint64_t idle() noexcept {
    if (turns_ < limits_.spins_max) {
      ++turns_;
      cpu_pause();
      return 0;
    }
    if (turns_ < limits_.spins_max + limits_.yields_max) {
      ++turns_;
      std::this_thread::yield();
      return 0;
    }
    const std::uint64_t sleep_ns = sleep_ns_;
    sleep_ns_ = std::min(sleep_ns_ * 2, limits_.sleep_max_ns);
    return sleep_ns;
  }

  /// The same, and sleeps.
  void rest() {
    if (const std::uint64_t sleep_ns = idle(); sleep_ns != 0)
      std::this_thread::sleep_for(std::chrono::nanoseconds(sleep_ns));
  }

 private:
  IdleLimits limits_;
  std::uint32_t turns_ = 0;
  std::uint64_t sleep_ns_ = limits_.sleep_min_ns;
};

}  // namespace ringkernel::bridge
