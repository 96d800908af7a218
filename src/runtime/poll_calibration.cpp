#include "runtime/poll_calibration.hpp"

#include <algorithm>
#include <limits>

namespace ringkernel {
namespace {

constexpr int measure_rounds = 3;
constexpr int measure_rounds_max = 20;

}  // namespace

Result<double> PollCalibration::measure(std::uint64_t timeout_ns) {
  // The difference of a long and a short slice leaves out what a launch costs. The least of several
  // runs of each leaves out what the neighbours cost. The least of the differences would not: a
  // short slice that was held up makes its difference small, and the executor hardly ever parks.
  std::uint64_t short_ns = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t long_ns = short_ns;
  const auto settled = [&] { return long_ns > short_ns; };
  for (int round = 0; round < measure_rounds || (!settled() && round < measure_rounds_max);
       ++round) {
    RK_TRY(short_slice_ns, slice_ns(polls_short, timeout_ns));
    RK_TRY(long_slice_ns, slice_ns(polls_long, timeout_ns));
    short_ns = std::min(short_ns, short_slice_ns);
    long_ns = std::min(long_ns, long_slice_ns);
  }
  if (!settled()) return poll_ns_min;
  constexpr double polls = polls_long - polls_short;
  return std::clamp(static_cast<double>(long_ns - short_ns) / polls, poll_ns_min, poll_ns_max);
}

Result<std::uint64_t> PollCalibration::slice_ns(std::uint32_t polls, std::uint64_t timeout_ns) {
  executor_.set_idle_polls_max(polls);
  const std::uint64_t start_ns = clock_.now_ns();
  executor_.wake(0, bridge::Executor::Wake::launch);
  RK_TRY_VOID(slices_.wait(timeout_ns));
  if (executor_.failed()) return executor_.failure();
  return clock_.now_ns() - start_ns;
}

double PollCalibration::poll_ns(std::uint64_t polls_per_ms) noexcept {
  if (polls_per_ms == 0) return poll_ns_min;
  return std::clamp(1e6 / static_cast<double>(polls_per_ms), poll_ns_min, poll_ns_max);
}

std::uint32_t PollCalibration::polls_for(std::chrono::nanoseconds time, double poll_ns) noexcept {
  constexpr double most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(
      std::clamp(static_cast<double>(time.count()) / poll_ns, 1.0, most));
}

}  // namespace ringkernel
