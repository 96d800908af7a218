#include "bridge/executor/executor.hpp"

#include <sched.h>

#include <string>
#include <utility>

#include "bridge/atomic.hpp"
#include "foundation/align.hpp"
#include "foundation/assert.hpp"
#include "foundation/memory_error.hpp"
#include "ringkernel/protocol/fault.h"
#include "ringkernel/protocol/version.h"

namespace ringkernel::bridge {
namespace {

/// Offsets inside the region, in the order drawn in control_block.h.
struct Region {
  std::uint64_t device_lines;
  std::uint64_t input_doorbells;
  std::uint64_t output_doorbells;
  std::uint64_t kernel_host_lines;
  std::uint64_t kernel_device_lines;
  std::uint64_t telemetry_blocks;
  std::uint64_t end;

  constexpr Region(std::uint64_t start, const ExecutorLimits& limits) noexcept
      : device_lines(start + sizeof(rk_executor_host_line)),
        input_doorbells(device_lines + limits.work_groups * sizeof(rk_executor_device_line)),
        output_doorbells(line_up(input_doorbells + limits.kernel_capacity * sizeof(rk_u32))),
        kernel_host_lines(line_up(output_doorbells + limits.kernel_capacity * sizeof(rk_u32))),
        kernel_device_lines(kernel_host_lines +
                            limits.kernel_capacity * sizeof(rk_kernel_host_line)),
        telemetry_blocks(kernel_device_lines +
                         limits.kernel_capacity * sizeof(rk_kernel_device_line)),
        end(telemetry_blocks + limits.kernel_capacity * sizeof(rk_telemetry_block)) {}

  static constexpr std::uint64_t line_up(std::uint64_t offset) noexcept {
    return align_up<std::uint64_t>(offset, RK_LINE_BYTES);
  }
};

/// As rk_core: from 1.
std::uint32_t this_core() noexcept { return static_cast<std::uint32_t>(sched_getcpu()) + 1; }

}  // namespace

std::uint64_t Executor::region_bytes(const ExecutorLimits& limits) noexcept {
  return Region(0, limits).end;
}

Executor::Executor(std::byte* arena, std::uint64_t region_offset, const ExecutorLimits& limits,
                   SlicePort& port)
    : arena_(arena),
      limits_(limits),
      work_groups_(limits.before_copy_agent ? 1 : limits.work_groups),
      port_(port),
      host_(reinterpret_cast<rk_executor_host_line*>(arena + region_offset)),
      wake_ups_(limits.kernel_capacity),
      outputs_seen_(limits.kernel_capacity, 0) {
  free_kernels_.reserve(limits.kernel_capacity);  // `detach` needs no memory
  RK_ASSERT(limits.kernel_capacity > 0 && limits.kernel_capacity <= RK_KERNELS_MAX &&
                limits.kernel_capacity % RK_DOORBELLS_PER_LINE == 0,
            "kernel capacity must be a multiple of 16 up to RK_KERNELS_MAX");
  RK_ASSERT(limits.work_groups > 0 && limits.work_groups <= RK_WORK_GROUPS_MAX,
            "an executor has 1 to RK_WORK_GROUPS_MAX work-groups");
  const Region region(region_offset, limits);
  device_lines_ = at<rk_executor_device_line>(region.device_lines);
  launched_.store(device_lines_[0].parked_slice, std::memory_order_relaxed);  // nothing runs yet
  launches_.store(device_lines_[0].parked_slice, std::memory_order_relaxed);
  input_doorbells_ = at<rk_doorbell_line>(region.input_doorbells);
  output_doorbells_ = at<rk_doorbell_line>(region.output_doorbells);
  kernel_hosts_ = at<rk_kernel_host_line>(region.kernel_host_lines);
  kernel_devices_ = at<rk_kernel_device_line>(region.kernel_device_lines);
  telemetry_ = at<rk_telemetry_block>(region.telemetry_blocks);
  host_->version = RK_PROTOCOL_VERSION;
  host_->kernel_capacity = limits.kernel_capacity;
  host_->drain_records_max = limits.drain_records_max;
  host_->slice_records_max = limits.slice_records_max;
  host_->work_groups = limits.work_groups;
  host_->device_line = region.device_lines;
  host_->input_doorbells = region.input_doorbells;
  host_->output_doorbells = region.output_doorbells;
  host_->kernel_host_lines = region.kernel_host_lines;
  host_->kernel_device_lines = region.kernel_device_lines;
  host_->telemetry_blocks = region.telemetry_blocks;
}

void Executor::open(std::uint32_t idle_polls_max) noexcept {
  set_idle_polls_max(idle_polls_max);
  // release: the whole line; pairs with the acquire in rk_slice_open
  atomic(host_->magic).store(RK_PROTOCOL_MAGIC, std::memory_order_release);
}

void Executor::set_idle_polls_max(std::uint32_t polls) noexcept {
  atomic(host_->idle_polls_max).store(polls, std::memory_order_relaxed);  // stands alone
}

void Executor::set_idle_ns(std::uint64_t max, std::uint64_t spin) noexcept {
  atomic(host_->idle_ns_max).store(max, std::memory_order_relaxed);  // each stands alone
  atomic(host_->idle_spin_ns).store(spin, std::memory_order_relaxed);
}

void Executor::set_turn_ns(std::uint32_t length) noexcept {
  atomic(host_->turn_ns).store(length, std::memory_order_relaxed);  // stands alone
}

Result<void> Executor::stop(std::uint64_t timeout_ns) {
  stopped_.store(true, std::memory_order_release);  // pairs with start_slice: none after this
  atomic(host_->stop).store(1, std::memory_order_release);
  return port_.wait(timeout_ns);
}

Result<std::uint32_t> Executor::attach(const KernelRings& rings) {
  const std::lock_guard lock(mutex_);
  std::uint32_t kernel = 0;
  if (!free_kernels_.empty()) {
    kernel = free_kernels_.back();
    free_kernels_.pop_back();
  } else if (kernel_count_ < limits_.kernel_capacity) {
    kernel = kernel_count_++;
  } else {
    return Error(Errc::limit_exceeded, "the executor serves " +
                                           std::to_string(limits_.kernel_capacity) +
                                           " ring kernels, its limit");
  }
  rk_kernel_host_line& line = kernel_hosts_[kernel];
  line.input_ring = rings.input_offset;
  line.output_ring = rings.output_offset;
  line.input_capacity = rings.input_capacity;
  line.output_capacity = rings.output_capacity;
  line.state_offset = rings.state_offset;
  line.state_bytes = rings.state_bytes;
  line.behaviour = rings.behaviour;
  line.migration_epoch = 0;
  // release: the kernel's line; pairs with the acquire in rk_slice_kernels
  atomic(host_->kernel_count).store(kernel_count_, std::memory_order_release);
  return kernel;
}

void Executor::detach(std::uint32_t kernel) {
  const std::lock_guard lock(mutex_);
  free_kernels_.push_back(kernel);
}

void Executor::set_migration(std::uint32_t kernel, const Migration& migration) noexcept {
  // The device leaves the line alone until the epoch changes, with whose release it sees this.
  rk_kernel_host_line& line = kernel_hosts_[kernel];
  line.state_offset = migration.state_offset;
  line.state_bytes = migration.state_bytes;
  line.old_state = migration.old_offset;
  line.old_state_bytes = migration.old_bytes;
  line.migration_epoch = line.state_epoch + 1;
}

std::uint32_t Executor::set_state(std::uint32_t kernel, std::uint32_t state) noexcept {
  rk_kernel_host_line& line = kernel_hosts_[kernel];
  const std::uint32_t epoch = line.state_epoch + 1;
  // release: the rings; pairs with the acquire in rk_visit, which may come before the epoch does
  atomic(line.state).store(state, std::memory_order_release);
  // release: state and rings; pairs with the acquire in rk_visit
  atomic(line.state_epoch).store(epoch, std::memory_order_release);
  ring(kernel);
  return epoch;
}

bool Executor::obeys(std::uint32_t kernel, std::uint32_t epoch) const noexcept {
  // acquire: the device's last touch of the rings; pairs with the release in rk_visit
  return atomic(kernel_devices_[kernel].state_epoch).load(std::memory_order_acquire) == epoch;
}

void Executor::ring(std::uint32_t kernel) noexcept {
  rk_u32& word =
      input_doorbells_[kernel / RK_DOORBELLS_PER_LINE].epoch[kernel % RK_DOORBELLS_PER_LINE];
  const rk_u32 next = word + 1;
  // release: what was published before; pairs with the acquire in rk_slice_poll
  atomic(word).store(next != 0 ? next : 1, std::memory_order_release);
}

bool Executor::must_launch(std::uint32_t kernel, Wake how) noexcept {
  // Either this load sees that the work-group has parked, or its last look at the doorbells, behind
  // its own full fence, sees what was rung before this fence.
  full_fence();
  const std::uint32_t parked =
      atomic(device_line(kernel).parked_slice).load(std::memory_order_acquire);
  const std::uint32_t launched = launched_.load(std::memory_order_relaxed);  // launch decides
  if (parked == launched) return true;
  // The caller would rather run slices itself than talk to another core: ask the resident one to
  // go. relaxed: the word stands alone; the slice goes when it has nothing left to do.
  if (how == Wake::run_on_caller)
    atomic(host_->yield_slice).store(launched, std::memory_order_relaxed);
  return false;
}

void Executor::launch(std::uint32_t kernel, Wake how) noexcept {
  // Another sender may have launched it, and that slice may run.
  std::uint32_t launched = launched_.load(std::memory_order_relaxed);  // the CAS decides
  if (atomic(device_line(kernel).parked_slice).load(std::memory_order_acquire) != launched) return;
  // Of several senders that see "parked", one launches. acq_rel: the winner's writes of the host
  // line's slice numbers come behind the winner's before it.
  if (!launched_.compare_exchange_strong(launched, launched + 1, std::memory_order_acq_rel)) return;
  const auto count = [](std::atomic<std::uint64_t>& metric) {
    metric.store(metric.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  };
  count(launches_);
  count(wake_ups_[kernel]);
  start_slice(launched + 1, kernel, how);
}

std::uint64_t Executor::slices_parked(std::uint32_t kernel) const noexcept {
  // acquire: slices that have parked were counted; pairs with the release in rk_run_group
  const std::uint32_t parked =
      atomic(device_line(kernel).parked_slice).load(std::memory_order_acquire);
  const std::uint64_t launches = launches_.load(std::memory_order_relaxed);
  return launches - static_cast<std::uint32_t>(static_cast<std::uint32_t>(launches) - parked);
}

void Executor::start_slice(std::uint32_t slice, std::uint32_t kernel, Wake how) noexcept {
  if (stopped_.load(std::memory_order_acquire)) return;  // pairs with stop
  if (how == Wake::run_on_caller) {
    // relaxed: both are read by the slice that starts on this thread
    atomic(host_->eager_kernel).store(kernel, std::memory_order_relaxed);
    atomic(host_->eager_slice).store(slice, std::memory_order_relaxed);
    if (port_.run(slice)) {
      const bool more = atomic(device_lines_[0].end_reason).load(std::memory_order_relaxed) ==
                        RK_SLICE_BUDGET;  // written by this thread, as the device
      if (more) wake(0, Wake::launch);
      return;
    }
    atomic(host_->eager_slice).store(0, std::memory_order_relaxed);
  }
  // Other work-groups may be at work, and the next slice begins when they, too, have returned. They
  // are asked first: who launches the slice after this one asks later than that, and would be
  // overwritten otherwise. relaxed: the word stands alone.
  if (work_groups_ != 1) atomic(host_->yield_slice).store(slice - 1, std::memory_order_relaxed);
  Result<void> result = or_no_memory([&] { return port_.launch(slice); });
  // Nothing was launched. Memory that lacked for a moment must not end the executor for good.
  const auto lacks_memory = [&] { return !result && result.error() == Errc::allocation_failure; };
  if (lacks_memory()) result = or_no_memory([&] { return port_.launch(slice); });
  // A thread that could not be started: this one does its work, as it would where it may choose.
  if (lacks_memory() && how == Wake::launch && port_.runs_on_caller())
    return start_slice(slice, RK_KERNELS_MAX, Wake::run_on_caller);  // whoever's ops there are
  if (!result) fail(std::move(result).error());
}

bool Executor::parked(std::uint32_t kernel) const noexcept {
  return atomic(device_line(kernel).parked_slice).load(std::memory_order_acquire) ==
         launched_.load(std::memory_order_relaxed);  // a hint; wake decides
}

bool Executor::tells_core(std::uint32_t kernel) const noexcept {
  // relaxed: a hint; pairs with rk_idle_tell_core
  return atomic(device_line(kernel).core).load(std::memory_order_relaxed) != 0;
}

bool Executor::needs_core(std::uint32_t kernel) const noexcept {
  if (starting(kernel)) return true;
  // relaxed: as above
  const std::uint32_t core = atomic(device_line(kernel).core).load(std::memory_order_relaxed);
  return core != 0 && core == this_core() && !parked(kernel);
}

void Executor::note_handover() noexcept {
  const auto handover = atomic(host_->handover);
  // relaxed: a hint, and read by a slice on this very core; pairs with rk_idle_turn. Of two threads
  // that come at once one may not be heard, and has its core back a little later.
  const std::uint32_t before = handover.load(std::memory_order_relaxed);
  handover.store(((before | RK_HANDOVER_CORE) + 1) | (this_core() & RK_HANDOVER_CORE),
                 std::memory_order_relaxed);
}

bool Executor::starting(std::uint32_t kernel) const noexcept {
  // acquire: pairs with the release in rk_run_group; a hint all the same
  return atomic(device_line(kernel).running_slice).load(std::memory_order_acquire) !=
         launched_.load(std::memory_order_relaxed);
}

bool Executor::left_work(std::uint32_t kernel) const noexcept {
  if (!parked(kernel)) return false;
  // relaxed: written before parked_slice, which parked() acquired
  return atomic(device_line(kernel).end_reason).load(std::memory_order_relaxed) == RK_SLICE_BUDGET;
}

Error why_unusable(std::uint32_t fault) {
  if (fault > RK_FAULT_HANDLER_BASE || fault == RK_FAULT_state_mismatch ||
      fault == RK_FAULT_bad_outcome)
    return {Errc::state_mismatch, "the kernel's state could not be migrated"};
  if (fault == RK_FAULT_program_overran)
    return {Errc::program_overran,
            "with an earlier message; the kernel was stopped then, and can only be terminated"};
  return {static_cast<Errc>(fault), "the kernel's input ring is unusable"};
}

std::uint32_t Executor::fault(std::uint32_t kernel) const noexcept {
  // acquire: pairs with the release in rk_fail_kernel
  return atomic(kernel_devices_[kernel].fault).load(std::memory_order_acquire);
}

bool Executor::backpressured(std::uint32_t kernel) const noexcept {
  // relaxed: ordered by the full fences on both sides (ReplyDemux::drain, rk_claim_or_wait)
  return atomic(kernel_devices_[kernel].backpressured).load(std::memory_order_relaxed) != 0;
}

rk_telemetry_block Executor::telemetry(std::uint32_t kernel) const noexcept {
  port_.refresh_telemetry(kernel);
  rk_telemetry_block& block = telemetry_[kernel];
  rk_telemetry_block copy{};
  const auto load = [](auto& word) { return atomic(word).load(std::memory_order_relaxed); };
#define RK_DEVICE_COUNTER(name, help) copy.name = load(block.name);
#include "ringkernel/metrics.def"
  copy.last_fault = load(block.last_fault);
  copy.last_correlation_id = load(block.last_correlation_id);
  return copy;
}

void Executor::check() {
  if (failed()) return;
  if (Result<void> result = port_.error(); !result) fail(std::move(result).error());
}

void Executor::fail(Error error) noexcept {
  const std::lock_guard lock(mutex_);
  if (failed_.load(std::memory_order_relaxed)) return;  // the first reason stays
  failure_ = std::move(error);
  failed_.store(true, std::memory_order_release);  // pairs with failed
}

Error Executor::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace ringkernel::bridge
