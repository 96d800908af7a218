/// Time as the bridge sees it, so that it can be run on a virtual clock.
///
/// Threading: clocks from any thread.
/// Units: nanoseconds since an arbitrary start, monotonic.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

namespace ringkernel::bridge {

/// A deadline that never comes.
inline constexpr std::uint64_t no_deadline = ~std::uint64_t{0};

/// A deadline that begins to run when somebody first looks at it: who gets his answer before that
/// never asks for the time, which takes 20 to 45 ns by machine.
///
/// Threading: one thread.
class Timeout {
 public:
  /// `no_deadline`: for ever.
  explicit constexpr Timeout(std::uint64_t timeout_ns) noexcept : timeout_ns_(timeout_ns) {}

  [[nodiscard]] std::uint64_t deadline_ns(std::uint64_t now_ns) noexcept {
    if (deadline_ns_ == 0)
      deadline_ns_ = timeout_ns_ < no_deadline - now_ns ? now_ns + timeout_ns_ : no_deadline;
    return deadline_ns_;
  }

 private:
  std::uint64_t timeout_ns_;
  std::uint64_t deadline_ns_ = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::uint64_t now_ns() const noexcept = 0;
  /// The same time as of a few milliseconds ago at most, for a third of the cost.
  [[nodiscard]] virtual std::uint64_t coarse_ns() const noexcept { return now_ns(); }
  /// The same time for messages that are timed.
  [[nodiscard]] virtual std::uint64_t sample_ns() const noexcept { return now_ns(); }
  /// When a device has read `ticks` (kernels/rk_device.h, rk_ticks); 0: nobody knows.
  [[nodiscard]] virtual std::uint64_t ns_of_ticks(std::uint64_t) const noexcept { return 0; }
};

/// The host's monotonic clock.
class SteadyClock : public Clock {
 public:
  [[nodiscard]] std::uint64_t now_ns() const noexcept final {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
  }
  [[nodiscard]] std::uint64_t coarse_ns() const noexcept final {
    constexpr std::uint64_t ns_per_second = 1'000'000'000;
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);  // steady_clock is CLOCK_MONOTONIC
    return static_cast<std::uint64_t>(now.tv_sec) * ns_per_second +
           static_cast<std::uint64_t>(now.tv_nsec);
  }
};

}  // namespace ringkernel::bridge
