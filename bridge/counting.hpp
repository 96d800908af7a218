/// Words that say who is there: a lock that nobody waits for, who waits, and how often.
///
/// Threading: any thread.
/// Memory ordering: as each of them says.
#pragma once

#include <atomic>
#include <cstdint>

namespace ringkernel::bridge {

/// A lock that is only ever tried, by std::unique_lock for instance: nobody waits for it, so giving
/// it back is one store.
class TryLock {
 public:
  [[nodiscard]] bool try_lock() noexcept {
    // acquire: what the last holder did; pairs with unlock. The look first leaves the line shared.
    return !held_.load(std::memory_order_relaxed) &&
           !held_.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

/// Counts somebody who waits, for as long as he does.
class Counted {
 public:
  explicit Counted(std::atomic<std::uint64_t>& count) : count_(count) { count_.fetch_add(1); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { count_.fetch_sub(1); }

 private:
  std::atomic<std::uint64_t>& count_;
};

/// Adds one to a counter that has one writer at a time; relaxed: a metric.
inline void bump(std::atomic<std::uint64_t>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace ringkernel::bridge
