#include "runtime/program.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace ringkernel {
namespace {

/// Long enough for any of the short slices that measure_poll_ns runs, a build included.
constexpr std::uint64_t measure_timeout_ns = 60'000'000'000;
constexpr std::uint32_t polls_short = 100;
constexpr std::uint32_t polls_long = 20'100;
constexpr int measure_rounds = 3;
constexpr int measure_rounds_max = 20;
/// What an idle poll can plausibly take: a load and a pause, or a few trips across a bus.
constexpr double poll_ns_min = 2;
constexpr double poll_ns_max = 10'000;

std::uint32_t polls_for(std::chrono::nanoseconds park_after, double poll_ns) {
  const double polls = static_cast<double>(park_after.count()) / poll_ns;
  constexpr double most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp(polls, 1.0, most));
}

}  // namespace

Result<std::unique_ptr<Program>> Program::open(backend::Device& device, Arena& arena,
                                               const std::string& name,
                                               const bridge::ExecutorLimits& limits,
                                               std::chrono::nanoseconds park_after,
                                               const bridge::Clock& clock) {
  const std::uint64_t bytes = bridge::Executor::region_bytes(limits.kernel_capacity);
  RK_TRY(offset, arena.allocate(bytes));
  std::memset(arena.data() + offset, 0, bytes);
  std::unique_ptr<Program> program(new Program(name, offset));
  const auto build = [&]() -> Result<void> {
    RK_TRY(port, device.create_executor(name, offset));
    program->port_.emplace(std::move(port));
    program->executor_.emplace(arena.data(), offset, limits, *program);
    program->executor_->open(polls_short);
    RK_TRY(poll_ns, program->measure_poll_ns(clock));
    program->executor_->set_idle_polls_max(polls_for(park_after, poll_ns));
    return {};
  };
  if (Result<void> result = build(); !result) {
    program.reset();  // before its region goes
    arena.free(offset, bytes);
    return std::move(result).error();
  }
  return program;
}

Result<double> Program::measure_poll_ns(const bridge::Clock& clock) {
  const auto slice_ns = [&](std::uint32_t polls) -> Result<std::uint64_t> {
    executor_->set_idle_polls_max(polls);
    const std::uint64_t start_ns = clock.now_ns();
    executor_->wake(bridge::Executor::Wake::launch);
    RK_TRY_VOID(wait(measure_timeout_ns));
    if (executor_->failed()) return executor_->failure();
    return clock.now_ns() - start_ns;
  };
  // The difference of a long and a short slice leaves out what a launch costs. The least of several
  // runs of each leaves out what the neighbours cost. The least of the differences would not: a
  // short slice that was held up makes its difference small, and the executor hardly ever parks.
  std::uint64_t short_ns = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t long_ns = short_ns;
  const auto settled = [&] { return long_ns > short_ns; };
  for (int round = 0; round < measure_rounds || (!settled() && round < measure_rounds_max);
       ++round) {
    RK_TRY(short_slice_ns, slice_ns(polls_short));
    RK_TRY(long_slice_ns, slice_ns(polls_long));
    short_ns = std::min(short_ns, short_slice_ns);
    long_ns = std::min(long_ns, long_slice_ns);
  }
  const double polls = polls_long - polls_short;
  const double poll_ns = settled() ? static_cast<double>(long_ns - short_ns) / polls : poll_ns_min;
  return std::clamp(poll_ns, poll_ns_min, poll_ns_max);
}

}  // namespace ringkernel
