/// The native device: host memory as arena, and an executor whose slices run one after the other on
/// a thread of its own, or on the caller's when that thread has nothing to do.
///
/// Threading: any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

#include "backend/native/programs.hpp"
#include "ringkernel/error.hpp"

namespace ringkernel::native {

struct Arena {
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
};

class Executor {
 public:
  Executor(Arena arena, SliceFunction slice_function, std::uint64_t offset)
      : arena_(arena), slice_function_(slice_function), offset_(offset) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  /// Waits for the slices that were launched.
  ~Executor();

  void launch(std::uint32_t slice);
  /// Runs a slice on this thread. False if one is running or waiting to run.
  [[nodiscard]] bool run(std::uint32_t slice);
  /// False if slices were still running after `timeout_ns`.
  [[nodiscard]] bool wait(std::uint64_t timeout_ns);

 private:
  void thread_main();
  void run_slice(std::uint32_t slice);

  const Arena arena_;
  const SliceFunction slice_function_;
  const std::uint64_t offset_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::uint32_t> queue_;  // guarded by mutex_, as are the following
  bool running_ = false;
  bool closing_ = false;
  int waiters_ = 0;
  std::thread thread_;  // started by the first launch
};

}  // namespace ringkernel::native
