/// Runs slices one after the other, on a thread of its own or on the caller's when that thread has
/// nothing to do.
///
/// Threading: any thread.
/// Memory ordering: a slice sees what the one before it wrote, and who has waited sees what slices
/// wrote: each ends with a release of `state_`, and begins, or is found ended, by an acquire.
/// Ownership: the destructor waits for the slices that were launched.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace ringkernel {

class SliceWorker {
 public:
  /// `run_slice` is called with the slice's number, by one thread at a time.
  explicit SliceWorker(std::function<void(std::uint32_t)> run_slice)
      : run_slice_(std::move(run_slice)) {
    queue_.reserve(queue_usual);
  }
  SliceWorker(const SliceWorker&) = delete;
  SliceWorker& operator=(const SliceWorker&) = delete;
  ~SliceWorker();

  /// Starts the thread, which the first `launch` does otherwise.
  void start();
  /// Where it throws nothing has happened; with its thread started, and few slices waiting, it does
  /// not.
  void launch(std::uint32_t slice);
  /// Runs a slice on this thread. False if one is running or waiting to run, or while somebody is
  /// in `wait`. Two atomic operations where nobody waits.
  [[nodiscard]] bool run(std::uint32_t slice);
  /// False if slices were still running after `timeout_ns`.
  [[nodiscard]] bool wait(std::uint64_t timeout_ns);
  /// Waits for the slice that runs at the moment alone. Those that begin later see what this thread
  /// wrote before. False if it still ran after `timeout_ns`.
  [[nodiscard]] bool wait_for_current(std::uint64_t timeout_ns);

 private:
  /// A slice runs. Whoever sets it runs the slice, and clears it.
  static constexpr std::uint32_t running = 1;
  /// Something is queued, or somebody waits: no `run`, and who ends a slice takes the mutex.
  static constexpr std::uint32_t attended = 2;
  /// Slices that wait at most, where one is launched when the one before it is about to end.
  static constexpr std::size_t queue_usual = 16;

  [[nodiscard]] bool is_running() const noexcept {
    // acquire: what the slice wrote; pairs with the releases in end()
    return (state_.load(std::memory_order_acquire) & running) != 0;
  }
  /// Sets or clears `attended`; the mutex is held.
  void note_attended() noexcept;
  /// Ends the slice that this thread ran with `run`.
  void end();
  void thread_main();

  const std::function<void(std::uint32_t)> run_slice_;

  /// All changes are read-modify-writes, so that each sees the one before: a slice that ends
  /// without the mutex ended before anybody asked to be told, who then finds it ended.
  std::atomic<std::uint32_t> state_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint32_t> queue_;  // short; guarded by mutex_, as are the following
  bool closing_ = false;
  int waiters_ = 0;
  std::uint64_t turns_ = 0;  // slices that the thread began
  std::thread thread_;       // started by the first launch
};

}  // namespace ringkernel
