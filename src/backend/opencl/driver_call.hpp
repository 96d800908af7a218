/// Which call of the driver a thread is inside of, so that those who wait for it can say so: a
/// driver may never come back from any of them.
///
/// Threading: one thread enters and leaves, any thread reads.
/// Memory ordering: the two words of a call are figures for people, and relaxed.
/// Ownership: whoever names a call uses a string that lives as long as the process.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace ringkernel::opencl {

class DriverCall {
 public:
  using Clock = std::chrono::steady_clock;

  void enter(const char* name) noexcept {
    // relaxed, as all of these: who reads a name with the time of another call errs by one call
    since_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
    name_.store(name, std::memory_order_relaxed);
  }
  void leave() noexcept { name_.store(nullptr, std::memory_order_relaxed); }

  /// How long the thread has been inside the call; zero: it is inside of none.
  [[nodiscard]] Clock::duration duration() const noexcept;
  /// "the driver has not come back from clFlush for 1.2 s"; empty if it has, or a moment ago.
  [[nodiscard]] std::string text() const;

 private:
  std::atomic<const char*> name_{nullptr};
  std::atomic<Clock::rep> since_{0};
};

/// Of this thread; null: nobody waits for what it does.
inline constinit thread_local DriverCall* call_of_thread = nullptr;

/// Around a call of the driver.
class InDriver {
 public:
  explicit InDriver(const char* name) noexcept : call_(call_of_thread) {
    if (call_ != nullptr) call_->enter(name);
  }
  InDriver(const InDriver&) = delete;
  InDriver& operator=(const InDriver&) = delete;
  ~InDriver() {
    if (call_ != nullptr) call_->leave();
  }

 private:
  DriverCall* const call_;
};

/// In a thread that is to be waited for: its calls are noted, and found by `longest_call_text`.
class NotedThread {
 public:
  explicit NotedThread(std::shared_ptr<DriverCall> call);
  NotedThread(const NotedThread&) = delete;
  NotedThread& operator=(const NotedThread&) = delete;
  ~NotedThread();

 private:
  const std::shared_ptr<DriverCall> call_;
};

/// DriverCall::text of the thread of this process that has been inside a call for longest.
[[nodiscard]] std::string longest_call_text();

}  // namespace ringkernel::opencl
