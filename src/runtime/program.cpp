#include "runtime/program.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include "foundation/leave_behind.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/timeout.hpp"

namespace ringkernel {
namespace {

/// Long enough for any of the short slices that measure_poll_ns runs, a build included.
constexpr std::uint64_t measure_timeout_ns_max = 60'000'000'000;
/// With what a program that could not be opened has begun.
constexpr std::uint64_t end_patience_ns = 1'000'000'000;
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

/// False where it failed with `code`, which is no failure.
Result<bool> unless(Errc code, const Result<void>& result) {
  if (result) return true;
  if (result.error() == code) return false;
  return result.error();
}

}  // namespace

Result<std::unique_ptr<Program>> Program::open(DeviceMemory& memory, Arena& arena,
                                               DefinitionPointer definition,
                                               const ProgramOptions& options) {
  const std::uint64_t bytes = bridge::Executor::region_bytes(options.limits) +
                              (memory.is_shared() ? 0 : bridge::Mover::staging_bytes);
  RK_TRY(region, arena.take(bytes));
  std::unique_ptr<Program> program(new Program(memory, std::move(definition), std::move(region)));
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
  const std::uint64_t ticket = last_ticket_.load(std::memory_order_relaxed);  // stands alone
  return ticket != 0 &&
         !has_ended([&] { return memory_.device().wait_for_copies(ticket, left_ns()); });
}

Result<void> Program::start(Arena& arena, const ProgramOptions& options) {
  std::memset(arena.data() + region_offset_, 0, region_bytes_);
  RK_TRY(port, memory_.device().create_executor(definition_->source(options.version),
                                                region_offset_, options.limits.work_groups));
  work_groups_ = options.limits.work_groups;
  version_ = options.version;
  trace_ = options.trace;
  port_.emplace(std::move(port));
  bridge::ExecutorLimits limits = options.limits;
  limits.before_mover = !memory_.is_shared();
  executor_.emplace(arena.data(), region_offset_, limits, *this);
  if (options.slices_have_clock)
    executor_->set_idle_ns(std::max<std::uint64_t>(bounded_ns(options.park_after), 1),
                           bounded_ns(options.spin_for));
  executor_->set_turn_ns(static_cast<std::uint32_t>(std::min<std::uint64_t>(
      bounded_ns(options.turn_for), std::numeric_limits<std::uint32_t>::max())));
  executor_->open(polls_short);
  RK_TRY(polls_max, idle_polls_max(options));
  if (memory_.is_shared()) {
    executor_->set_idle_polls_max(polls_max);
    return {};
  }
  RK_TRY_VOID(memory_.to_device(region_offset_, region_bytes_));
  const bridge::MoverLimits mover_limits{.sliced = memory_.transfer() == RK_TRANSFER_SLICED,
                                         .idle_polls_max = polls_max,
                                         .slice_ns_max = bounded_ns(options.slice_for)};
  const std::uint64_t staging_offset =
      region_offset_ + region_bytes_ - bridge::Mover::staging_bytes;
  mover_.emplace(arena.data(), region_offset_, staging_offset, mover_limits,
                 static_cast<bridge::DevicePort&>(*this), clock_);
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

Result<std::uint32_t> Program::idle_polls_max(const ProgramOptions& options) {
  if (memory_.transfer() == RK_TRANSFER_SLICED) return 1;
  if (options.slices_have_clock) return std::numeric_limits<std::uint32_t>::max();
  if (memory_.is_shared()) {
    RK_TRY(poll_ns,
           measure_poll_ns(std::min(bounded_ns(options.driver_timeout), measure_timeout_ns_max)));
    return polls_for(options.park_after, poll_ns);
  }
  const double poll_ns =
      options.polls_per_ms == 0
          ? poll_ns_min
          : std::clamp(1e6 / static_cast<double>(options.polls_per_ms), poll_ns_min, poll_ns_max);
  return polls_for(options.park_after, poll_ns);
}

void Program::note_parked() {
  const std::lock_guard lock(trace_mutex_);
  // With the lock: a slice that is launched meanwhile is not the one to be told of yet.
  if (executor_->parked(0)) end_span();
}

void Program::end_span() {
  if (!has_span_.load(std::memory_order_relaxed)) return;
  trace_->keep(
      TraceEvent::of(TraceKind::slice, span_slice_, span_begin_ns_, clock_.now_ns(), name()));
  has_span_.store(false, std::memory_order_relaxed);
}

Result<void> Program::launch(std::uint32_t slice) {
  if (trace_ != nullptr) {
    const std::lock_guard lock(trace_mutex_);
    end_span();
    span_slice_ = slice;
    span_begin_ns_ = clock_.now_ns();
    has_span_.store(true, std::memory_order_relaxed);
  }
  if (!mover_) return port_->launch(slice);
  mover_->launch(slice);
  return {};
}

bool Program::run(std::uint32_t slice) {
  // relaxed: whoever may run a slice has seen the one before it park
  if (has_span_.load(std::memory_order_relaxed)) [[unlikely]] {
    const std::lock_guard lock(trace_mutex_);
    end_span();
  }
  return mover_ ? mover_->run(slice) : port_->can_run() && port_->run(slice);
}

Result<void> Program::wait(std::uint64_t timeout_ns) {
  return mover_ ? mover_->wait(timeout_ns) : port_->wait(std::chrono::nanoseconds(timeout_ns));
}

Result<void> Program::error() {
  if (mover_) RK_TRY_VOID(mover_->error());
  return port_->error();
}

void Program::refresh_telemetry(std::uint32_t kernel) {
  if (mover_) mover_->refresh_telemetry(kernel);
}

Result<std::uint64_t> Program::start_copies(std::span<const rk_copy> copies) {
  RK_TRY(ticket, memory_.device().start_copies(copies));
  copies_.fetch_add(copies.size(), std::memory_order_relaxed);
  std::uint64_t bytes = 0;
  for (const rk_copy& copy : copies) bytes += copy.bytes * (copy.second_offset != 0 ? 2 : 1);
  copied_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  std::uint64_t last = last_ticket_.load(std::memory_order_relaxed);  // sessions and figures copy
  while (last < ticket &&
         !last_ticket_.compare_exchange_weak(last, ticket, std::memory_order_relaxed)) {
  }
  return ticket;
}

std::string Program::why_late() {
  const auto reason_of = [](const Result<void>& waited) -> std::string {
    constexpr std::string_view before = ": the driver";
    if (waited || !(waited.error() == Errc::execution_timeout)) return {};
    const std::string text = waited.error().detail;
    const std::size_t place = text.find(before);
    return place == std::string::npos ? std::string() : text.substr(place);
  };
  if (std::string text = reason_of(port_->wait(std::chrono::nanoseconds(0))); !text.empty())
    return text;
  if (memory_.is_shared()) return {};
  const std::uint64_t ticket = last_ticket_.load(std::memory_order_relaxed);  // likewise
  return reason_of(memory_.device().wait_for_copies(ticket, 0));
}

Result<bool> Program::copies_ended(std::uint64_t ticket, std::uint64_t timeout_ns) {
  return unless(Errc::execution_timeout, memory_.device().wait_for_copies(ticket, timeout_ns));
}

Result<bool> Program::launch_on_device(std::uint32_t slice) {
  return unless(Errc::busy, port_->launch(slice));
}

Result<bool> Program::slices_returned(std::uint64_t timeout_ns) {
  return unless(Errc::execution_timeout, port_->wait(std::chrono::nanoseconds(timeout_ns)));
}

Result<double> Program::measure_poll_ns(std::uint64_t timeout_ns) {
  const auto slice_ns = [&](std::uint32_t polls) -> Result<std::uint64_t> {
    executor_->set_idle_polls_max(polls);
    const std::uint64_t start_ns = clock_.now_ns();
    executor_->wake(0, bridge::Executor::Wake::launch);
    RK_TRY_VOID(wait(timeout_ns));
    if (executor_->failed()) return executor_->failure();
    return clock_.now_ns() - start_ns;
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
