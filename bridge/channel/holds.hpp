/// What a channel keeps in place because the device may still touch it: the resident tensors of
/// messages in flight.
///
/// A message's outcome does not end that. A call that timed out, was cancelled, or whose kernel
/// failed has its outcome on the host while its record lies in the input ring, and the device
/// executes it sooner or later. So a hold goes with the record and not with the slot, in one of
/// three ways:
///
///   - the message never enters the ring: it is dropped from the host's queue or list of waiting
///     submissions (withdrawn, expired, dropped by policy, cancelled, the channel closed). Whoever
///     takes it out releases the hold.
///   - the device answers it. The device takes the records of a ring in order, answers each, also
///     with a fault, and publishes an answer after its last access to the operands. So answers come
///     in the order of `add`, the host's acquire of the output ring orders those accesses before
///     `answered`, and it is called for late replies too.
///   - the kernel is terminated, and the executor obeys that it is absent: it has left both rings
///     for good, no record in them will be executed, and `release_all` ends what is left. A device
///     that does not obey in time, or is lost, is never assumed to have stopped: then the holds
///     stay, like the kernel's rings, until the backend says that all its slices have returned
///     (RingKernelRuntime::restart), or for as long as the runtime.
///
/// A hold is released before the message's outcome is handed over: whoever has the reply may give
/// the tensors back.
///
/// Threading: `add` under the channel's send lock, `answered` under its consume lock, `release_all`
/// when the channel is retired. The own lock is innermost; holds are released outside of it.
/// Memory ordering: `answered` stands behind the acquire of the device's answer, `release_all`
/// behind that of its state epoch (Executor::obeys): its accesses happened before the release.
/// Ownership: a hold is borrowed until it is released, exactly once.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "ringkernel/message_buffer.hpp"

namespace ringkernel::bridge {

/// Called exactly once, from any thread, possibly with locks of the channel held: must not wait for
/// messages and must not call the channel.
class Hold {
 public:
  virtual void release() noexcept = 0;

 protected:
  ~Hold() = default;

 private:
  friend class Holds;
  MessageId message_ = 0;  // while a channel keeps it, as is the next
  Hold* next_hold_ = nullptr;
};

class Holds {
 public:
  /// Before the record is published. Needs no memory, as all of this: the holds are the list.
  void add(MessageId id, Hold* hold) noexcept {
    const std::lock_guard lock(mutex_);
    hold->message_ = id;
    hold->next_hold_ = nullptr;
    (last_ != nullptr ? last_->next_hold_ : first_) = hold;
    last_ = hold;
    any_.store(true, std::memory_order_relaxed);  // published with the record
  }

  void answered(MessageId id) noexcept {
    // relaxed: the device's answer came after the record, and the record after the flag
    if (any_.load(std::memory_order_relaxed)) [[unlikely]]
      release_if_first(id);
  }

  void release_all() noexcept {
    Hold* left = nullptr;
    {
      const std::lock_guard lock(mutex_);
      left = std::exchange(first_, nullptr);
      last_ = nullptr;
      any_.store(false, std::memory_order_relaxed);  // the channel is retired
    }
    while (left != nullptr) std::exchange(left, left->next_hold_)->release();
  }

 private:
  void release_if_first(MessageId id) noexcept {
    Hold* hold = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (first_ == nullptr || first_->message_ != id) return;
      hold = std::exchange(first_, first_->next_hold_);
      if (first_ == nullptr) last_ = nullptr;
      any_.store(first_ != nullptr, std::memory_order_relaxed);  // as in answered
    }
    hold->release();
  }

  std::mutex mutex_;
  Hold* first_ = nullptr;  // in the order of their records
  Hold* last_ = nullptr;
  std::atomic<bool> any_{false};
};

}  // namespace ringkernel::bridge
