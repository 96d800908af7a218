/// The way of an answer to its receiver: drains the output ring, finds the slot of each answer, and
/// hands its outcome to the waiting thread, the completion or the mailbox.
///
/// A thread that waits for an outcome becomes the demultiplexer itself if nobody is: it leads, for
/// all who wait, with no hop to another thread. The others follow: they sleep until the leader has
/// delivered their outcome, and the bridge thread stays awake for them.
///
/// Threading: any thread, by the consume lock: the output ring; whoever holds it is the
/// demultiplexer. It is only ever tried. Inside it the send lock may be taken.
/// Memory ordering: an outcome is published by its slot (Pending). Where somebody else may be
/// needed there is a full fence, then a look (docs/PROTOCOL.md, "Who is awake"). Other atomics name
/// their partners.
/// Ownership: borrows what the channel shares, its send queue and its strategy.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "bridge/channel/channel_shared.hpp"
#include "bridge/channel/send_queue.hpp"
#include "bridge/channel/wait_strategy.hpp"
#include "bridge/counting.hpp"
#include "foundation/memory_error.hpp"
#include "ring/consumer.hpp"

namespace ringkernel::bridge {

/// What whoever leads does for the whole channel now and then; implemented by Channel.
class Housekeeping {
 public:
  virtual std::size_t do_housekeeping(std::uint64_t now_ns) noexcept = 0;

 protected:
  ~Housekeeping() = default;
};

class ReplyDemux {
 public:
  ReplyDemux(ChannelShared& shared, SendQueue& send, WaitStrategy& strategy,
             Housekeeping& housekeeping, const RingView& output)
      : shared_(shared),
        send_(send),
        strategy_(strategy),
        housekeeping_(housekeeping),
        runs_on_caller_(shared.executor.runs_on_caller()),
        consumer_(output) {}

  /// Delivers what lies in the output ring. nullopt: somebody else is at it.
  std::optional<std::size_t> try_drain() noexcept;
  /// Calls `use()` if nobody is at the output ring and the kernel is not retired, which it is not
  /// meanwhile. False: not called.
  template <class Use>
  bool while_attached(Use&& use);

  /// As those of Channel.
  [[nodiscard]] Outcome wait(MessageId id, Timeout timeout) noexcept;
  void assist(MessageId id, std::uint64_t submitted_ns);
  void leave_to_bridge(MessageId id) noexcept;
  bool cancel(MessageId id) noexcept;

  /// The outcome of a message that is over; its slot is given back.
  [[nodiscard]] Outcome take(MessageId id);
  /// The same for one of several, whose slots `slots` gives back together; then comes
  /// SendQueue::room_made.
  template <class Slots>
  [[nodiscard]] Outcome take(MessageId id, Slots& slots);

  /// Ends a message without its reply, unless it has its outcome.
  void end(MessageId id, error_code error, std::string_view detail) noexcept;
  /// Those that `wanted(slot)` takes, in the order in which they were accepted, or in any where
  /// there is no memory to find it out.
  template <class Wanted>
  void end_armed(Wanted&& wanted, error_code error, std::string_view detail) noexcept;

  /// The channel is closed: whoever leads makes room for who retires the kernel.
  void note_ending() noexcept {
    ending_.store(true, std::memory_order_relaxed);  // pairs with lead; the bridge comes anyway
  }
  /// Drains for the last time. False while somebody else is at the output ring.
  [[nodiscard]] bool try_retire() noexcept;

  /// The output ring made no sense. relaxed: stands alone.
  [[nodiscard]] bool is_broken() const noexcept { return broken_.load(std::memory_order_relaxed); }
  /// The reply of the message that overran was there. acquire: its slot is taken; pairs with the
  /// release in deliver.
  [[nodiscard]] bool has_overrun() const noexcept {
    return has_overrun_.load(std::memory_order_acquire);
  }

 private:
  /// Outcomes for the mailbox that a drain has met and not put there yet: one lock for many.
  struct Arrivals {
    std::array<MessageId, batch_max> ids;
    std::size_t count = 0;
  };

  // The consume lock is held by the caller of these.
  std::size_t drain() noexcept;
  void deliver(const rk_record_header& header, Arrivals& arrivals) noexcept;
  void lead(MessageId id, Timeout& timeout);
  void note_reply(Slot& slot, const rk_record_header& reply) noexcept;

  void record_delivery(const Slot& slot) noexcept;
  void settle(Slot& slot, bool asleep) noexcept;
  void put_in_mailbox(Arrivals& arrivals) noexcept;
  void to_mailbox(std::span<const MessageId> ids) noexcept;

  ChannelShared& shared_;
  SendQueue& send_;
  WaitStrategy& strategy_;
  Housekeeping& housekeeping_;
  const bool runs_on_caller_;  // of the executor, which may be gone behind the end of the kernel

  alignas(64) TryLock consume_lock_;
  Consumer consumer_;
  bool retired_ = false;
  std::atomic<bool> has_overrun_{false};
  std::atomic<bool> broken_{false};
  std::atomic<bool> ending_{false};
};

template <class Use>
bool ReplyDemux::while_attached(Use&& use) {
  const std::unique_lock lock(consume_lock_, std::try_to_lock);
  if (!lock.owns_lock() || retired_) return false;
  use();
  return true;
}

template <class Slots>
Outcome ReplyDemux::take(MessageId id, Slots& slots) {
  Slot& slot = shared_.pending.slot(id);
  if (slot.replied_ns != 0) [[unlikely]]
    record_delivery(slot);
  Outcome outcome = std::move(slot.outcome);
  slots.release(slot);
  return outcome;
}

template <class Wanted>
void ReplyDemux::end_armed(Wanted&& wanted, error_code error, std::string_view detail) noexcept {
  const bool is_in_order = with_memory([&] {
    for (const MessageId id : shared_.pending.armed_in_order(wanted)) end(id, error, detail);
  });
  if (is_in_order) return;
  shared_.pending.for_each_armed([&](MessageId id, Slot& slot) {
    if (wanted(slot)) end(id, error, detail);
  });
}

}  // namespace ringkernel::bridge
