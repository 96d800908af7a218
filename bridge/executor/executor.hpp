/// The host's end of one executor: its region in the arena, the doorbells, and the slices.
///
/// Each ring kernel belongs to one work-group of the executor, which parks by itself: what is asked
/// of a kernel here is asked of that work-group. A slice is launched for all of them.
///
/// Threading: `ring` and `set_state` for one kernel: one thread at a time (the channel's send
/// lock); everything else: any thread.
/// Memory ordering: `ring` publishes, `wake` is the host's half of the parking handshake; see
/// docs/PROTOCOL.md, "Parking".
/// Ownership: borrows the arena and the port.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "bridge/executor/slice_port.hpp"
#include "bridge/fence.hpp"
#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/doorbell.h"
#include "ringkernel/protocol/telemetry_block.h"
#include "ringkernel/result.hpp"

namespace ringkernel::bridge {

struct ExecutorLimits {
  std::uint32_t kernel_capacity = RK_KERNELS_MAX;
  std::uint32_t work_groups = 1;
  /// Where a copy agent stands for the device: it has one work-group, whatever the device has.
  bool before_copy_agent = false;
  std::uint32_t drain_records_max = 16;
  std::uint32_t slice_records_max = 0;
};

/// Where the two rings of a kernel lie.
struct KernelRings {
  std::uint64_t input_offset = 0;
  std::uint64_t output_offset = 0;
  std::uint32_t input_capacity = 0;
  std::uint32_t output_capacity = 0;
  std::uint64_t state_offset = 0;
  std::uint32_t state_bytes = 0;
  std::uint32_t behaviour = 0;
};

/// What the messages of a kernel are told that such a fault made unusable (RK_FAULT_*).
[[nodiscard]] Error why_unusable(std::uint32_t fault);

class Executor {
 public:
  /// Bytes of the region; it must be 128-byte aligned and zeroed.
  [[nodiscard]] static std::uint64_t region_bytes(const ExecutorLimits& limits) noexcept;

  Executor(std::byte* arena, std::uint64_t region_offset, const ExecutorLimits& limits,
           SlicePort& port);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  /// The slices have returned: `stop` first.
  ~Executor() = default;

  /// Writes the host line and gives it its magic; from here on slices do something.
  void open(std::uint32_t idle_polls_max) noexcept;

  /// Polls without work after which a slice parks; takes effect at once.
  void set_idle_polls_max(std::uint32_t polls) noexcept;
  /// Likewise nanoseconds, where slices have a clock (0: no such limit), and those of them that a
  /// slice spins before it gives its core away again and again.
  void set_idle_ns(std::uint64_t max, std::uint64_t spin) noexcept;

  /// How long an op may go on before others have their turn, if its program's ops have steps; 0:
  /// for ever, 1: one step.
  void set_turn_ns(std::uint32_t length) noexcept;

  /// Tells the slices to end for good and waits for them. Idempotent.
  [[nodiscard]] Result<void> stop(std::uint64_t timeout_ns);
  /// Whether `stop` was called: no slice is started any more.
  [[nodiscard]] bool stopped() const noexcept {
    return stopped_.load(std::memory_order_acquire);  // pairs with stop
  }

  /// A free kernel index, with its rings written down, state absent. Errc::limit_exceeded.
  [[nodiscard]] Result<std::uint32_t> attach(const KernelRings& rings);
  /// The kernel is absent and the executor obeys it: the index may be used again.
  void detach(std::uint32_t kernel);

  /// The paused kernel's state, which is to be made of another one as the device obeys the next
  /// change of its run state.
  struct Migration {
    std::uint64_t state_offset = 0;
    std::uint32_t state_bytes = 0;
    std::uint64_t old_offset = 0;
    std::uint32_t old_bytes = 0;
  };
  void set_migration(std::uint32_t kernel, const Migration& migration) noexcept;

  /// Changes the kernel's run state (RK_KERNEL_*) and rings. Returns the epoch to wait for.
  std::uint32_t set_state(std::uint32_t kernel, std::uint32_t state) noexcept;
  /// That of the run state which was told last; with whoever changes run states kept out.
  [[nodiscard]] std::uint32_t epoch(std::uint32_t kernel) const noexcept {
    return kernel_hosts_[kernel].state_epoch;
  }
  /// Whether the executor has seen that epoch: it acts on the state it came with.
  [[nodiscard]] bool obeys(std::uint32_t kernel, std::uint32_t epoch) const noexcept;

  /// Rings the kernel's doorbell. `wake` must follow, on the same thread.
  void ring(std::uint32_t kernel) noexcept;

  /// `run_on_caller`: of executors with one work-group only.
  enum class Wake : std::uint8_t { launch, run_on_caller };
  /// Whether a slice may run on the thread that launches it.
  [[nodiscard]] bool runs_on_caller() const noexcept { return port_.runs_on_caller(); }
  /// Makes sure that a slice will see what the kernel was rung for: launches the next one if its
  /// work-group has parked, or runs it right here if asked and possible.
  void wake(std::uint32_t kernel, Wake how) noexcept {
    if (must_launch(kernel, how)) launch(kernel, how);
  }
  /// The two halves of `wake`. The first is a full fence behind `ring`; true: the work-group has
  /// parked the last slice, and the caller has to go on with the second.
  [[nodiscard]] bool must_launch(std::uint32_t kernel, Wake how) noexcept;
  void launch(std::uint32_t kernel, Wake how) noexcept;

  /// Whether the kernel's work-group has parked the slice launched last.
  [[nodiscard]] bool parked(std::uint32_t kernel) const noexcept;

  /// Whether it has not begun that slice yet.
  [[nodiscard]] bool starting(std::uint32_t kernel) const noexcept;

  /// Whether its slices say on which core they run, and leave it to a thread that handed it over.
  [[nodiscard]] bool tells_core(std::uint32_t kernel) const noexcept;
  /// Whether a slice that polls for the kernel runs on the core of the calling thread, or is about
  /// to begin, perhaps there: as long as this thread polls, it cannot answer. A hint: threads move.
  [[nodiscard]] bool needs_core(std::uint32_t kernel) const noexcept;
  /// The calling thread is about to yield to such a slice, which is to give the core back as soon
  /// as it finds nothing to do.
  void note_handover() noexcept;

  /// Whether it parked although work may be left: its budget was used up.
  [[nodiscard]] bool left_work(std::uint32_t kernel) const noexcept;
  /// Launches the next slice if the last one left work. For whoever waits for what a slice does:
  /// one that leaves work behind does not look at the doorbells again.
  void go_on(std::uint32_t kernel) noexcept {
    if (left_work(kernel)) wake(kernel, Wake::launch);
  }

  /// Calls `visit(kernel)` for each kernel whose output doorbell was rung since `visit` last
  /// returned true for it. One thread at a time.
  template <class Visit>
  std::size_t poll_outputs(Visit&& visit);

  /// RK_FAULT_* that made the kernel unusable, or 0. `why_unusable` says what it means.
  [[nodiscard]] std::uint32_t fault(std::uint32_t kernel) const noexcept;
  [[nodiscard]] bool backpressured(std::uint32_t kernel) const noexcept;
  [[nodiscard]] rk_telemetry_block telemetry(std::uint32_t kernel) const noexcept;

  /// Whether the executor is lost, and why. `check` asks the device; `failed` is a flag.
  [[nodiscard]] bool failed() const noexcept {
    return failed_.load(std::memory_order_acquire);  // pairs with fail
  }
  [[nodiscard]] Error failure() const;
  void check();

  /// Slices launched so far.
  [[nodiscard]] std::uint64_t slices_launched() const noexcept {
    return launches_.load(std::memory_order_relaxed);  // a metric, as are the next two
  }
  /// Of these, ended for the kernel's work-group.
  [[nodiscard]] std::uint64_t slices_parked(std::uint32_t kernel) const noexcept;
  /// Of these, launched for the kernel, or who had its place before.
  [[nodiscard]] std::uint64_t wake_ups(std::uint32_t kernel) const noexcept {
    return wake_ups_[kernel].load(std::memory_order_relaxed);
  }

 private:
  template <class T>
  [[nodiscard]] T* at(std::uint64_t offset) const noexcept {
    return reinterpret_cast<T*>(arena_ + offset);
  }
  /// What the kernel's work-group writes.
  [[nodiscard]] rk_executor_device_line& device_line(std::uint32_t kernel) const noexcept {
    // On the path of a call there is mostly one, and nothing to divide.
    return device_lines_[work_groups_ == 1 ? 0 : kernel % work_groups_];
  }
  void start_slice(std::uint32_t slice, std::uint32_t kernel, Wake how) noexcept;
  void fail(Error error) noexcept;

  std::byte* const arena_;
  const ExecutorLimits limits_;
  const std::uint32_t work_groups_;  // whose slices this side launches
  SlicePort& port_;
  rk_executor_host_line* const host_;
  rk_executor_device_line* device_lines_ = nullptr;  // [work_groups]
  rk_doorbell_line* input_doorbells_ = nullptr;
  rk_doorbell_line* output_doorbells_ = nullptr;
  rk_kernel_host_line* kernel_hosts_ = nullptr;
  rk_kernel_device_line* kernel_devices_ = nullptr;
  rk_telemetry_block* telemetry_ = nullptr;

  std::atomic<std::uint32_t> launched_{0};  // number of the slice launched last
  // Written by who wins a launch, one after the other: the next one finds that slice parked.
  std::atomic<std::uint64_t> launches_{0};  // as launched_, which wraps
  std::vector<std::atomic<std::uint64_t>> wake_ups_;
  std::vector<std::uint32_t> outputs_seen_;  // epochs of the output doorbells; poll_outputs only

  mutable std::mutex mutex_;  // guards the three below
  std::vector<std::uint32_t> free_kernels_;
  std::uint32_t kernel_count_ = 0;
  Error failure_;
  std::atomic<bool> failed_{false};
  std::atomic<bool> stopped_{false};
};

template <class Visit>
std::size_t Executor::poll_outputs(Visit&& visit) {
  // acquire: the doorbells below the count exist; pairs with the release in attach
  const std::uint32_t count = std::atomic_ref(host_->kernel_count).load(std::memory_order_acquire);
  std::size_t rung = 0;
  for (std::uint32_t kernel = 0; kernel < count; ++kernel) {
    std::uint32_t& word =
        output_doorbells_[kernel / RK_DOORBELLS_PER_LINE].epoch[kernel % RK_DOORBELLS_PER_LINE];
    // acquire: what the device published before it rang; pairs with rk_ring_host
    const std::uint32_t epoch = std::atomic_ref(word).load(std::memory_order_acquire);
    if (epoch == outputs_seen_[kernel]) continue;
    ++rung;
    if (visit(kernel)) outputs_seen_[kernel] = epoch;
  }
  return rung;
}

}  // namespace ringkernel::bridge
