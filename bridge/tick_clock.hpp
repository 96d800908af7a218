/// A clock for what is timed often: it counts the processor's ticks, where the system's own clock
/// does, and so takes a third of that one's time. A device whose slices are threads of this machine
/// reads the same counter without a system call (kernels/rk_device.h, rk_ticks).
///
/// Threading: `start` before everything else, `refresh` by one thread; the rest from any thread.
/// Memory ordering: the rate is read as a whole (foundation/sequenced.hpp).
/// Units: nanoseconds of CLOCK_MONOTONIC, off by less than a microsecond between two `refresh`.
#pragma once

#include <cstdint>

#include "bridge/clock.hpp"
#include "foundation/sequenced.hpp"

namespace ringkernel::bridge {

class TickClock final : public SteadyClock {
 public:
  /// A moment on both clocks.
  struct Moment {
    std::uint64_t ticks;
    std::uint64_t ns;
  };

  /// What Linux says that its clocks count.
  static constexpr const char* clock_source =
      "/sys/devices/system/clocksource/clocksource0/current_clocksource";

  /// Takes a first rate, for which it needs a fifth of a millisecond. Without this, and where
  /// `source` does not name the counter, this is a SteadyClock.
  void start(const char* source = clock_source);
  /// Makes the rate better the longer ago the start was; now and then, so that this clock stays
  /// beside the system's.
  void refresh() noexcept;
  /// As `refresh` does. A rate that has changed is no rate: from then on this is a SteadyClock.
  void observe(const Moment& now) noexcept;

  [[nodiscard]] std::uint64_t sample_ns() const noexcept override;
  [[nodiscard]] std::uint64_t ns_of_ticks(std::uint64_t ticks) const noexcept override;

 private:
  struct Rate {
    Moment base;
    double ns_per_tick;  // 0: unknown
  };

  Moment first_{};  // of the refreshing thread, and the next one
  bool is_running_ = false;
  Sequenced<Rate> rate_{};
};

}  // namespace ringkernel::bridge
