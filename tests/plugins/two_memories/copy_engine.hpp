/// Copies between host memory and the memory of a device that keeps its own, in order, by a
/// thread: what a DMA engine is to a GPU. `sliced` runs slices in the same order.
///
/// Threading: any thread.
/// Memory ordering: a word is copied by one atomic load and store, acquire and release, as the
/// device's own threads access it; what is guessed is copied without order.
/// Ownership: the destructor waits for what was started.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "ringkernel/backend_abi.h"

namespace ringkernel::two_memories {

class CopyEngine {
 public:
  using Job = std::function<void()>;

  CopyEngine() = default;
  CopyEngine(const CopyEngine&) = delete;
  CopyEngine& operator=(const CopyEngine&) = delete;
  ~CopyEngine();

  /// Runs `job` behind all that were started. Returns its ticket.
  std::uint64_t start(Job job);
  /// False if the job was still waiting or running after `timeout_ns`.
  [[nodiscard]] bool wait(std::uint64_t ticket, std::uint64_t timeout_ns);

  static void copy(const rk_copy& copy, std::byte* device_memory) noexcept;

 private:
  void thread_main();

  std::mutex mutex_;
  std::condition_variable started_;
  std::condition_variable ended_;
  std::deque<Job> jobs_;  // guarded by mutex_, as are the following
  std::uint64_t tickets_ = 0;
  std::uint64_t done_ = 0;
  bool closing_ = false;
  std::thread thread_;  // started by the first job
};

}  // namespace ringkernel::two_memories
