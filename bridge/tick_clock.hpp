/// A clock for what is timed often: it counts the processor's ticks, where the system's own clock
/// does, and so takes a third of that one's time. A device whose slices are threads of this machine
/// reads the same counter without a system call (kernels/rk_device.h, rk_ticks).
///
/// Its rate is that of the time between its last two looks at the system's clock, which `sample_ns`
/// takes by itself, ten a second.
///
/// Threading: any thread; `observe` by one at a time.
/// Memory ordering: the rate is read as a whole (foundation/sequenced.hpp).
/// Units: nanoseconds of CLOCK_MONOTONIC; off by less than a microsecond while that one's own rate
/// stays, and else by what has been made good of it since the last look.
#pragma once

#include <atomic>
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

  /// Takes a first rate, for which it needs half a millisecond. Without this, and where `source`
  /// does not name the counter, this is a SteadyClock.
  void start(const char* source = clock_source);
  /// What a look shows. A rate that is not about that of the look before is none, as after a rest
  /// of the machine: this is a SteadyClock until two agree.
  void observe(const Moment& now) const noexcept;

  [[nodiscard]] std::uint64_t sample_ns() const noexcept override;
  [[nodiscard]] std::uint64_t ns_of_ticks(std::uint64_t ticks) const noexcept override;

 private:
  struct Rate {
    Moment base;
    double ns_per_tick;     // 0: unknown
    std::uint64_t good_ns;  // from the base on, then it is time for a look

    [[nodiscard]] std::uint64_t at(std::uint64_t ticks) const noexcept;
  };

  void look_again(const Rate& known) const noexcept;

  // What goes on behind a clock that is only read: whoever finds the rate old makes it new.
  mutable std::atomic_flag looking_;  // who has set it, observes
  mutable Rate last_{};               // of that thread: what the last look showed, be it a rate
  mutable Sequenced<Rate> rate_{};    // or not; and what everybody goes by
};

}  // namespace ringkernel::bridge
