/// Runs slices one after the other, on a thread of its own or on the caller's when that thread has
/// nothing to do.
///
/// Threading: any thread.
/// Ownership: the destructor waits for the slices that were launched.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace ringkernel {

class SliceWorker {
 public:
  /// `run_slice` is called with the slice's number, by one thread at a time.
  explicit SliceWorker(std::function<void(std::uint32_t)> run_slice)
      : run_slice_(std::move(run_slice)) {}
  SliceWorker(const SliceWorker&) = delete;
  SliceWorker& operator=(const SliceWorker&) = delete;
  ~SliceWorker();

  void launch(std::uint32_t slice);
  /// Runs a slice on this thread. False if one is running or waiting to run.
  [[nodiscard]] bool run(std::uint32_t slice);
  /// False if slices were still running after `timeout_ns`.
  [[nodiscard]] bool wait(std::uint64_t timeout_ns);

 private:
  void thread_main();

  const std::function<void(std::uint32_t)> run_slice_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::uint32_t> queue_;  // guarded by mutex_, as are the following
  bool running_ = false;
  bool closing_ = false;
  int waiters_ = 0;
  std::thread thread_;  // started by the first launch
};

}  // namespace ringkernel
