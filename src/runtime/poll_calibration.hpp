/// How long an idle poll of a resident slice takes on a device whose slices have no clock, so that
/// `park_after` means time there, too.
///
/// Threading: one thread, before anybody else uses the executor.
/// Ownership: borrows the executor, its port and the clock.
/// Errors: those of the port.
#pragma once

#include <chrono>
#include <cstdint>

#include "bridge/clock.hpp"
#include "bridge/executor/executor.hpp"
#include "bridge/executor/slice_port.hpp"

namespace ringkernel {

class PollCalibration {
 public:
  /// What a poll can plausibly take: a load and a pause, or a few trips across a bus.
  static constexpr double poll_ns_min = 2;
  static constexpr double poll_ns_max = 10'000;
  /// Polls of the two kinds of slices that are compared.
  static constexpr std::uint32_t polls_short = 100;
  static constexpr std::uint32_t polls_long = 20'100;

  PollCalibration(bridge::Executor& executor, bridge::SlicePort& slices,
                  const bridge::Clock& clock) noexcept
      : executor_(executor), slices_(slices), clock_(clock) {}

  /// Nanoseconds of one poll, by running a few slices that find nothing; each has `timeout_ns`.
  [[nodiscard]] Result<double> measure(std::uint64_t timeout_ns);

  /// The same where the device's self-test has counted: `polls_per_ms`; 0: it has not.
  [[nodiscard]] static double poll_ns(std::uint64_t polls_per_ms) noexcept;
  /// Polls after which a slice has found nothing for that time; one at least.
  [[nodiscard]] static std::uint32_t polls_for(std::chrono::nanoseconds time,
                                               double poll_ns) noexcept;

 private:
  /// How long a slice takes that parks after so many polls.
  [[nodiscard]] Result<std::uint64_t> slice_ns(std::uint32_t polls, std::uint64_t timeout_ns);

  bridge::Executor& executor_;
  bridge::SlicePort& slices_;
  const bridge::Clock& clock_;
};

}  // namespace ringkernel
