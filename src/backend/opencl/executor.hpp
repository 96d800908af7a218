/// One program on one device as a queue of slices: an in-order queue of the driver with a thread of
/// its own, or where the queue is immediate a thread that runs them, which are of one work-group.
///
/// Threading: any thread. `launch`, `wait`, `error` and `replace` are never inside the driver, so
/// they end in time whatever it does. The others, and the destructor, may take as long as it does.
/// Memory ordering: the mutex orders everything but what is in the ledger.
/// Ownership: refers to its device. The destructor waits for the last slice.
/// Errors: Errc::limit_exceeded for too many work-groups; Errc::busy from `launch` (residency.hpp);
/// a slice that the driver ended is Errc::device_error, kept for good.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/opencl/cl.hpp"
#include "backend/opencl/device.hpp"
#include "backend/opencl/driver_queue.hpp"
#include "backend/opencl/immediate.hpp"

namespace ringkernel::opencl {

class ClExecutor final : private Residency::Member {
 public:
  /// Builds the program and runs one slice on zeroed memory, where it has nothing to do, because
  /// some drivers compile at the first launch: slices on the arena start at once.
  static Result<std::unique_ptr<ClExecutor>> create(ClDevice& device,
                                                    const rk_program_source& program,
                                                    uint64_t executor_offset, uint32_t work_groups);
  ~ClExecutor();
  ClExecutor(const ClExecutor&) = delete;
  ClExecutor& operator=(const ClExecutor&) = delete;

  [[nodiscard]] ClDevice& device() const noexcept { return device_; }

  /// Builds what `replace` is to install, beside the slices. One thread at a time, as `replace`.
  Result<void> prepare(const rk_program_source& program);
  /// Slices that begin from here on are of that; waits until no other runs any more.
  /// Errc::execution_timeout where one still does.
  Result<void> replace(std::chrono::nanoseconds timeout);

  Result<void> launch(uint32_t slice);
  Result<void> wait(std::chrono::nanoseconds timeout);
  Result<void> error();

 private:
  ClExecutor(ClDevice& device, uint64_t offset, uint32_t work_groups, Buffer workspaces);

  bool try_returned() override;
  bool try_ask_to_leave(uint32_t slice) override;
  bool was_told() override;

  /// A built program with all of its arguments but the slice's number. It has run once, on zeroed
  /// memory and `queue`.
  [[nodiscard]] Result<ClKernel> make_kernel(const rk_program_source& program,
                                             cl_command_queue queue);
  [[nodiscard]] Result<Queue> make_queue_of_slices();
  /// Where slices go: sliced, between the copies. Not where it is immediate.
  [[nodiscard]] DriverQueue& slices() noexcept;
  /// Which call of the driver keeps slices from returning; may be "".
  [[nodiscard]] std::string stuck_text();
  /// Has its thread ask what has returned.
  void ask() noexcept;
  void ask_now_and_then() noexcept;
  /// DriverQueue::lock_commands with `sliced`, else nothing.
  [[nodiscard]] std::unique_lock<std::mutex> lock_queue();
  /// On the thread of the queue.
  [[nodiscard]] Result<Event> give_slice(uint32_t slice);
  /// Runs a slice on this thread, which is the worker's: the queue is immediate.
  void run_slice(uint32_t slice);
  /// Of one work-group on the host's memory.
  [[nodiscard]] bool has_begun(uint32_t slice) const noexcept;
  /// Forgets slices that have returned.
  void forget_returned_locked();
  /// Whether no slice of a program that was replaced runs; asks one that does to leave.
  [[nodiscard]] bool have_old_left();

  ClDevice& device_;
  const uint64_t offset_;
  const uint32_t work_groups_;
  uint64_t told_ticket_ = 0;  // of the copy that asks a slice to leave; guarded by the residency
  // One for each work-group, the device's alone: its slices run one after the other, so that no two
  // ops of a work-group are ever under way.
  Buffer workspaces_;
  std::mutex mutex_;  // guards what follows, and the order of slices; never held in the driver
  std::shared_ptr<const ClKernel> prepared_;
  uint64_t prepares_ = 0;  // begun; one that nobody waits for any more brings nothing
  std::shared_ptr<const ClKernel> kernel_;  // its arguments are of the thread that gives slices
  struct Running {
    uint64_t ticket;
    uint32_t slice;
  };
  std::vector<Running> running_;  // launched and not seen to have returned, oldest first; a few
  std::size_t old_ = 0;           // of these, of programs that were replaced
  uint32_t at_work_ = 0;          // the slice that the worker runs; 0: none
  std::shared_ptr<const ClKernel> old_at_work_;  // what it runs, if that was replaced
  std::shared_ptr<const ClKernel> retired_;      // replaced; goes with the next `prepare`
  const std::shared_ptr<Ledger> ledger_ = std::make_shared<Ledger>("a slice");
  DriverCall worker_call_;              // of the worker's thread
  std::atomic<std::int64_t> asked_{0};  // when the driver was last asked now and then
  Queue queue_;                         // where it is immediate, or shared: for first runs
  std::optional<DriverQueue> own_;      // where slices do not alternate with copies
  // Present if the queue is immediate; kernel and queue are its own from the first launch on.
  std::optional<ImmediateWorker> worker_;
};

}  // namespace ringkernel::opencl
