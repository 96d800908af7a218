/// What of a channel needs the bridge thread: who waits for it, until when it may sleep, and how it
/// is woken.
///
/// Threading: any thread.
/// Memory ordering: whoever raises a count or lowers the deadline stands before a full fence and
/// then looks whether the bridge sleeps (`wake_if_needed`). It pairs with the fence of
/// Bridge::sleep, which announces its sleep and then looks here (docs/PROTOCOL.md, "Who is awake").
/// Ownership: borrows the counts and the waker.
#pragma once

#include <atomic>
#include <cstdint>

#include "bridge/channel/channel_counts.hpp"
#include "bridge/channel/channel_types.hpp"
#include "bridge/clock.hpp"

namespace ringkernel::bridge {

class BridgeDemand {
 public:
  BridgeDemand(const ChannelCounts& counts, Waker& waker) noexcept
      : counts_(counts), waker_(waker) {}

  /// Whether anything waits that only the bridge thread will do.
  [[nodiscard]] bool exists() const noexcept {
    // relaxed: the caller stands behind a full fence
    const auto load = [](const auto& word) { return word.load(std::memory_order_relaxed); };
    if (load(queued) != 0 || load(sleepers) != 0 || load(completions) > load(assisted)) return true;
    return (load(receivers) != 0 || load(room_waiters) != 0) && !counts_.idle();
  }

  void wake() noexcept { waker_.wake(); }
  /// After a full fence. The bridge has to know of deadlines, to sleep no longer than until then.
  void wake_if_needed(bool deadline_lowered) noexcept {
    if (deadline_lowered || exists()) waker_.wake();
  }

  /// When something expires at the earliest that only the bridge thread may notice.
  [[nodiscard]] std::uint64_t next_deadline_ns() const noexcept {
    return next_deadline_ns_.load(std::memory_order_relaxed);  // as in exists
  }
  /// True if this deadline is the next one.
  bool lower_deadline(std::uint64_t deadline_ns) noexcept {
    std::uint64_t seen = next_deadline_ns_.load();
    while (deadline_ns < seen)
      if (next_deadline_ns_.compare_exchange_weak(seen, deadline_ns)) return true;
    return false;
  }
  /// Before all deadlines are looked at: those still to come lower it again.
  void forget_deadline() noexcept { next_deadline_ns_.store(no_deadline); }

  std::atomic<std::uint64_t> completions{0};   ///< unanswered, Receiver::completion
  std::atomic<std::uint64_t> assisted{0};      ///< of these, somebody polls for them
  std::atomic<std::uint64_t> sleepers{0};      ///< threads asleep in `wait`
  std::atomic<std::uint64_t> receivers{0};     ///< who waits for a mailbox outcome
  std::atomic<std::uint64_t> queued{0};        ///< in the host queue, or waiting to get there
  std::atomic<std::uint64_t> room_waiters{0};  ///< threads that wait for room

 private:
  std::atomic<std::uint64_t> next_deadline_ns_{no_deadline};
  const ChannelCounts& counts_;
  Waker& waker_;
};

}  // namespace ringkernel::bridge
