/// Lets threads sleep until a copy has ended, and now and then look at the clock.
///
/// No sleeper arms a timer: on a virtual machine that costs more than the copies of a message (16
/// of 26 us were measured). One thread watches the time for all of them, while there are any.
///
/// Threading: any thread.
/// Ownership: the watching thread is the bell's own. Nobody may wait when the bell goes, on
/// whatever thread, also a driver's.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace ringkernel::opencl {

class CopyBell {
 public:
  explicit CopyBell(std::chrono::nanoseconds watch_period = std::chrono::milliseconds(2))
      : watch_period_(watch_period) {}
  CopyBell(const CopyBell&) = delete;
  CopyBell& operator=(const CopyBell&) = delete;
  ~CopyBell();

  /// How often it was rung so far.
  [[nodiscard]] std::uint64_t rings();
  void ring();
  /// Sleeps until there were more than `heard` rings, or up to twice the watch period. A caller who
  /// has counted the rings before he looked whether he must sleep misses none.
  void wait(std::uint64_t heard);

 private:
  void watch();

  const std::chrono::nanoseconds watch_period_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable rung_;
  std::condition_variable watched_;  // somebody sleeps, or the bell goes
  std::uint64_t rings_ = 0;
  std::uint64_t ticks_ = 0;  // periods that the watching thread has seen the end of
  std::uint32_t sleepers_ = 0;
  bool slept_ = false;  // somebody has, in the period that runs
  bool closing_ = false;
  std::thread watcher_;  // since somebody slept first
};

}  // namespace ringkernel::opencl
