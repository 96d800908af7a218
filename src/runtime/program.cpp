#include "runtime/program.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "foundation/leave_behind.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/timeout.hpp"
#include "runtime/poll_calibration.hpp"

namespace ringkernel {
namespace {

/// Long enough for any of the short slices that a calibration runs, a build included.
constexpr std::uint64_t measure_timeout_ns_max = 60'000'000'000;
/// With what a program that could not be opened has begun.
constexpr std::uint64_t end_patience_ns = 1'000'000'000;

}  // namespace

Result<std::unique_ptr<Program>> Program::open(DeviceMemory& memory, Arena& arena,
                                               DefinitionPointer definition,
                                               const ProgramOptions& options) {
  const std::uint64_t bytes = bridge::Executor::region_bytes(options.limits) +
                              (memory.is_shared() ? 0 : bridge::CopyAgent::staging_bytes);
  RK_TRY(region, arena.take(bytes));
  std::unique_ptr<Program> program(
      new Program(memory, std::move(definition), std::move(region), options.trace));
  Result<void> started = program->start(arena, options);
  if (started) return program;
  if (program->is_at_work(end_patience_ns)) leave_behind(program);
  return std::move(started).error();
}

bool Program::is_at_work(std::uint64_t timeout_ns) {
  const std::uint64_t begin_ns = clock_.now_ns();
  const auto left_ns = [&] {
    return timeout_ns - std::min(clock_.now_ns() - begin_ns, timeout_ns);
  };
  const auto has_ended = [](auto wait) {
    const Result<void> waited = or_no_memory(wait);
    return waited || waited.error() == Errc::device_error;
  };
  if (!port_) return false;
  if (!has_ended([&] { return port_->wait(std::chrono::nanoseconds(left_ns())); })) return true;
  return dma_ && !has_ended([&] { return dma_->wait_for_copies(left_ns()); });
}

bridge::SlicePort& Program::choose_port(std::byte* arena, const ProgramOptions& options) {
  if (memory_.is_shared()) return direct_.emplace(trace_, *port_, work_groups_);
  const bridge::CopyAgentLimits limits{.sliced = memory_.transfer() == RK_TRANSFER_SLICED,
                                       .idle_polls_max = idle_polls_max(options),
                                       .slice_ns_max = bounded_ns(options.slice_for)};
  const std::uint64_t staging_offset =
      region_offset_ + region_bytes_ - bridge::CopyAgent::staging_bytes;
  dma_.emplace(*port_, memory_.device());
  return copy_agent_.emplace(trace_, arena, region_offset_, staging_offset, limits, *dma_, clock_);
}

Result<void> Program::start(Arena& arena, const ProgramOptions& options) {
  std::memset(arena.data() + region_offset_, 0, region_bytes_);
  RK_TRY(port, memory_.device().create_executor(definition_->source(options.version),
                                                region_offset_, options.limits.work_groups));
  work_groups_ = options.limits.work_groups;
  version_ = options.version;
  port_.emplace(std::move(port));
  bridge::SlicePort& slices = choose_port(arena.data(), options);
  bridge::ExecutorLimits limits = options.limits;
  limits.before_copy_agent = copy_agent_.has_value();
  executor_.emplace(arena.data(), region_offset_, limits, slices);
  if (options.slices_have_clock)
    executor_->set_idle_ns(std::max<std::uint64_t>(bounded_ns(options.park_after), 1),
                           bounded_ns(options.spin_for));
  executor_->set_turn_ns(static_cast<std::uint32_t>(std::min<std::uint64_t>(
      bounded_ns(options.turn_for), std::numeric_limits<std::uint32_t>::max())));
  executor_->open(PollCalibration::polls_short);
  if (copy_agent_) {
    RK_TRY_VOID(memory_.to_device(region_offset_, region_bytes_));
    copy_agent_->open();
    return {};
  }
  std::uint32_t polls = idle_polls_max(options);
  if (!options.slices_have_clock) {
    RK_TRY(poll_ns,
           PollCalibration(*executor_, slices, clock_)
               .measure(std::min(bounded_ns(options.driver_timeout), measure_timeout_ns_max)));
    polls = PollCalibration::polls_for(options.park_after, poll_ns);
  }
  executor_->set_idle_polls_max(polls);
  return {};
}

Result<void> Program::prepare(const DefinitionPointer& next, std::uint32_t version) {
  return port_->prepare(next->source(version));
}

Result<void> Program::replace(DefinitionPointer next, std::uint32_t version,
                              std::uint64_t timeout_ns) {
  definition_ = std::move(next);
  version_ = version;
  RK_TRY_VOID(port_->replace(timeout_ns));
  // A slice that was asked to leave may have left work behind.
  for (std::uint32_t group = 0; group < work_groups_; ++group) executor_->go_on(group);
  return {};
}

std::uint32_t Program::idle_polls_max(const ProgramOptions& options) const noexcept {
  if (memory_.transfer() == RK_TRANSFER_SLICED) return 1;
  if (options.slices_have_clock) return std::numeric_limits<std::uint32_t>::max();
  return PollCalibration::polls_for(options.park_after,
                                    PollCalibration::poll_ns(options.polls_per_ms));
}

std::string Program::why_late() {
  return dma_ ? dma_->why_late() : driver_call_of(port_->wait(std::chrono::nanoseconds(0)));
}

}  // namespace ringkernel
