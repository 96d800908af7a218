/// From when to when each slice of a program ran, for the trace. Nobody is told when a slice ends:
/// whoever launches or runs the next one sees it, and so does who takes the trace.
///
/// Threading: any thread.
/// Memory ordering: a lock; whether there is a span is looked at without it, and relaxed, by those
/// who have seen the slice park.
/// Ownership: borrows the log and the clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "bridge/clock.hpp"
#include "foundation/trace_log.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel {

class SliceTrace {
 public:
  /// `log`: nullptr: nobody is told of anything.
  SliceTrace(TraceLog* log, const bridge::Clock& clock, std::string program)
      : log_(log), clock_(clock), program_(std::move(program)) {}

  /// The slice is about to begin; the one before has ended.
  void launched(std::uint32_t slice) {
    if (log_ == nullptr) return;
    const std::lock_guard lock(mutex_);
    end();
    slice_ = slice;
    begin_ns_ = clock_.now_ns();
    is_open_.store(true, std::memory_order_relaxed);
  }
  /// The slice that was launched last has ended, if any was.
  void ended() {
    // relaxed: whoever may run a slice has seen the one before it park
    if (!is_open_.load(std::memory_order_relaxed)) [[likely]]
      return;
    const std::lock_guard lock(mutex_);
    end();
  }
  /// The same if `has_parked()`, which is asked with the lock: a slice that is launched meanwhile
  /// is not the one to be told of yet.
  template <class HasParked>
  void ended_if(HasParked&& has_parked) {
    const std::lock_guard lock(mutex_);
    if (has_parked()) end();
  }

 private:
  /// With the lock.
  void end() {
    if (!is_open_.load(std::memory_order_relaxed)) return;  // changed with the lock
    log_->keep(TraceEvent::of(TraceKind::slice, slice_, begin_ns_, clock_.now_ns(), program_));
    is_open_.store(false, std::memory_order_relaxed);
  }

  TraceLog* const log_;
  const bridge::Clock& clock_;
  const std::string program_;
  std::mutex mutex_;  // guards the two below, and whether they are anything
  std::uint32_t slice_ = 0;
  std::uint64_t begin_ns_ = 0;
  std::atomic<bool> is_open_{false};
};

/// A port whose slices are traced.
template <class Port>
class TracedPort final : public Port {
 public:
  template <class... Args>
  explicit TracedPort(SliceTrace& trace, Args&&... args)
      : Port(std::forward<Args>(args)...), trace_(trace) {}

  [[nodiscard]] Result<void> launch(std::uint32_t slice) override {
    trace_.launched(slice);
    return Port::launch(slice);
  }
  [[nodiscard]] bool run(std::uint32_t slice) override {
    trace_.ended();
    return Port::run(slice);
  }

 private:
  SliceTrace& trace_;
};

}  // namespace ringkernel
