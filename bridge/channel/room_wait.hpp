/// Threads that wait until there may be room.
///
/// Threading: any thread.
/// Memory ordering: a waiter counts itself (BridgeDemand::room_waiters), notes the epoch, fences
/// and looks for room. Whoever makes room fences and then looks at the count: one of the two sees
/// the other (docs/PROTOCOL.md, "Who is awake"). The lock orders the epoch.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "bridge/fence.hpp"

namespace ringkernel::bridge {

class RoomWait {
 public:
  /// `waiters`: how many wait; they count themselves.
  explicit RoomWait(const std::atomic<std::uint64_t>& waiters) noexcept : waiters_(waiters) {}

  /// How often room was made for those who waited. A full fence behind it.
  [[nodiscard]] std::uint64_t epoch() {
    std::unique_lock lock(mutex_);
    const std::uint64_t epoch = epoch_;
    lock.unlock();
    full_fence();
    return epoch;
  }

  /// Sleeps until room has been made since `epoch`, no longer than `limit`. False: in vain.
  bool wait(std::uint64_t epoch, std::optional<std::chrono::nanoseconds> limit) {
    std::unique_lock lock(mutex_);
    const auto made = [&] { return epoch_ != epoch; };
    if (limit) return changed_.wait_for(lock, *limit, made);
    changed_.wait(lock, made);
    return true;
  }

  /// There is room, perhaps.
  void made() noexcept {
    full_fence();                                               // pairs with the fence in epoch
    if (waiters_.load(std::memory_order_relaxed) == 0) return;  // ordered by the fence
    {
      const std::lock_guard lock(mutex_);
      ++epoch_;
    }
    changed_.notify_all();
  }

 private:
  const std::atomic<std::uint64_t>& waiters_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t epoch_ = 0;
};

}  // namespace ringkernel::bridge
