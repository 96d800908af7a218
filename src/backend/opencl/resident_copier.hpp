/// Copies by a resident kernel of the device (kernels/copier.cl) instead of commands of the driver:
/// small ones, in batches, one batch at a time. The host and the kernel meet in a mailbox, in
/// memory of the host that a running kernel shares; NVIDIA's GPUs have that (docs/decisions/0023).
///
/// The kernel leaves when it is told to, or has polled in vain for a while. It has then done the
/// batch under way as a whole, or nothing of it; its last word is which run has left.
///
/// NVIDIA's driver does not say that a kernel has ended while one that was launched before it runs.
/// So this one makes way for each slice, and is launched again behind it.
///
/// Threading: any thread. `look` and `try_start` are called by one at a time. Nobody but the thread
/// that it works on, whoever makes way and the destructor is inside the driver.
/// Memory ordering: kernels/copier.h.
/// Ownership: refers to found device, context and arena. The destructor waits for the kernel.
/// Errors: Errc::backend_unavailable from `open`, with what is missing or the self-test's finding.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backend/opencl/cl.hpp"
#include "backend/opencl/driver_thread.hpp"
#include "backend/opencl/query.hpp"
#include "backend/opencl/self_test/self_test.hpp"
#include "ringkernel/backend_abi.h"

namespace ringkernel::opencl {

class ResidentCopier final : private Residency::Member {
 public:
  enum class Memory : std::uint8_t {
    of_nvidia,  ///< clCreateBufferNV
    any         ///< what the driver allocates for the host: for drivers that run on it
  };
  /// Builds the kernel, and tries it on memory of its own first.
  static Result<std::unique_ptr<ResidentCopier>> open(const FoundDevice& found, const Probe& probe,
                                                      cl_mem arena, Memory memory);
  ~ResidentCopier();
  ResidentCopier(const ResidentCopier&) = delete;
  ResidentCopier& operator=(const ResidentCopier&) = delete;

  /// The thread that launches the kernel, from here on. It ends before this, and behind `withdraw`.
  void work_on(DriverThread& thread) noexcept { thread_ = &thread; }
  /// The kernel is to leave, and does not come back.
  void withdraw();
  /// Has the kernel launched if it has left, unless it is to be kept out. Not with the residency's
  /// lock.
  void ensure_runs();
  /// Has the kernel leave, before another one is launched, and stay away as long as the lock is
  /// held. Does not wait for it.
  [[nodiscard]] std::unique_lock<std::mutex> make_way();
  /// Posts the copies. False: they do not fit, or the kernel is not there.
  [[nodiscard]] bool try_start(std::span<const rk_copy> copies);

  enum class Outcome : std::uint8_t { under_way, done, not_served };
  /// What became of the batch posted last; `done` once. Not served: the kernel left before.
  [[nodiscard]] Outcome look();
  /// How many were posted.
  [[nodiscard]] std::uint32_t batches() const noexcept { return posted_; }
  /// Of the batch posted last.
  [[nodiscard]] std::span<const rk_copy> copies() const noexcept { return copies_; }

 private:
  ResidentCopier(const FoundDevice& found, Queue queue, ClKernel kernel, Buffer mailbox) noexcept;

  static Result<std::unique_ptr<ResidentCopier>> make(const FoundDevice& found, const Probe& probe,
                                                      cl_program program, cl_mem arena,
                                                      Memory memory);
  void launch() noexcept;
  /// For that run, which may be the next one.
  void post(std::span<const rk_copy> copies, std::uint32_t units, std::uint32_t run);
  /// Patterns there and back.
  [[nodiscard]] Result<void> test();
  [[nodiscard]] Result<void> test_batch(rk_u32 number);

  bool try_returned() override;
  bool try_ask_to_leave(uint32_t slice) override;
  bool was_told() override { return true; }
  /// Whether that run has returned; 0, before the first one: it has.
  [[nodiscard]] bool has_left(std::uint32_t run) const noexcept;
  /// Has the driver asked, which also tells of a kernel that has failed.
  void ask_whether_ended();
  void ask_to_leave(std::uint32_t run) noexcept;

  template <class T>
  [[nodiscard]] T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<T*>(mapped_ + offset);
  }

  const FoundDevice& found_;
  Queue queue_;
  ClKernel kernel_;
  Buffer mailbox_;
  std::byte* mapped_ = nullptr;

  std::vector<rk_copy> copies_;  // of the batch posted last
  std::uint32_t posted_ = 0;     // its number
  std::uint32_t batch_run_ = 0;  // which is to serve it
  std::uint32_t looks_ = 0;      // in vain

  DriverThread* thread_ = nullptr;      // null: before there is one, whoever calls
  std::mutex launch_mutex_;             // of a launch, or held against one
  Event running_;                       // the kernel's; the thread's alone
  std::atomic<std::uint32_t> run_{0};   // of the kernel; changed with that lock
  std::atomic<bool> leaving_{false};    // it was told to leave
  std::atomic<bool> launching_{false};  // counted as resident, and perhaps not launched yet
  std::atomic<bool> has_ended_{true};   // as the driver says
  std::atomic<bool> asking_{false};     // it is being asked
};

}  // namespace ringkernel::opencl
