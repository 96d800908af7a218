/// What a channel keeps in place because the device may still touch it: the resident tensors of
/// messages in flight.
///
/// A message's outcome does not end that. A call that timed out, was cancelled, or whose kernel
/// failed has its outcome on the host while its record lies in the input ring, and the device
/// executes it sooner or later. So a lease goes with the record and not with the slot, in one of
/// three ways:
///
///   - the message never enters the ring: it is dropped from the host's queue or list of waiting
///     submissions (withdrawn, expired, dropped by policy, cancelled, the channel closed). Whoever
///     takes it out releases the lease.
///   - the device answers it. The device takes the records of a ring in order, answers each, also
///     with a fault, and publishes an answer after its last access to the operands. So answers come
///     in the order of `add`, the host's acquire of the output ring orders those accesses before
///     `answered`, and it is called for late replies too.
///   - the kernel is terminated, and the executor obeys that it is absent: it has left both rings
///     for good, no record in them will be executed, and `release_all` ends what is left. A device
///     that does not obey in time, or is lost, is never assumed to have stopped: then the leases
///     stay, like the kernel's rings, until the backend says that all its slices have returned
///     (RingKernelRuntime::restart), or for as long as the runtime.
///
/// A lease is released before the message's outcome is handed over: whoever has the reply may give
/// the tensors back.
///
/// Threading: `add` under the channel's send lock, `answered` under its consume lock, `release_all`
/// when the channel is retired. The own lock is innermost; leases are released outside of it.
/// Memory ordering: `answered` stands behind the acquire of the device's answer, `release_all`
/// behind that of its state epoch (Executor::obeys): its accesses happened before the release.
/// Ownership: a lease is borrowed until it is released, exactly once.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "ringkernel/message_buffer.hpp"

namespace ringkernel::bridge {

/// Called exactly once, from any thread, possibly with locks of the channel held: must not wait for
/// messages and must not call the channel.
class Lease {
 public:
  virtual void release() noexcept = 0;

 protected:
  ~Lease() = default;

 private:
  friend class Leases;
  MessageId message_ = 0;  // while a channel keeps it, as is the next
  Lease* next_lease_ = nullptr;
};

class Leases {
 public:
  /// Before the record is published. Needs no memory, as all of this: the leases are the list.
  void add(MessageId id, Lease* lease) noexcept {
    const std::lock_guard lock(mutex_);
    lease->message_ = id;
    lease->next_lease_ = nullptr;
    (last_ != nullptr ? last_->next_lease_ : first_) = lease;
    last_ = lease;
    any_.store(true, std::memory_order_relaxed);  // published with the record
  }

  void answered(MessageId id) noexcept {
    // relaxed: the device's answer came after the record, and the record after the flag
    if (any_.load(std::memory_order_relaxed)) [[unlikely]]
      release_if_first(id);
  }

  void release_all() noexcept {
    Lease* left = nullptr;
    {
      const std::lock_guard lock(mutex_);
      left = std::exchange(first_, nullptr);
      last_ = nullptr;
      any_.store(false, std::memory_order_relaxed);  // the channel is retired
    }
    while (left != nullptr) std::exchange(left, left->next_lease_)->release();
  }

 private:
  void release_if_first(MessageId id) noexcept {
    Lease* lease = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (first_ == nullptr || first_->message_ != id) return;
      lease = std::exchange(first_, first_->next_lease_);
      if (first_ == nullptr) last_ = nullptr;
      any_.store(first_ != nullptr, std::memory_order_relaxed);  // as in answered
    }
    lease->release();
  }

  std::mutex mutex_;
  Lease* first_ = nullptr;  // in the order of their records
  Lease* last_ = nullptr;
  std::atomic<bool> any_{false};
};

}  // namespace ringkernel::bridge
