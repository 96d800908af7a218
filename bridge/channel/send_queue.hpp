/// The way of a message to the device: the input ring, the queue on the host for what finds no room
/// there, and those who wait to get into either.
///
/// A message without room is treated by the policy. Nothing overtakes: what is queued goes into the
/// ring first, and who waits is admitted to the queue first.
///
/// Threading: any thread, by the send lock: input ring, host queue, doorbell, run state.
/// Memory ordering: a message is published by the ring; then comes Executor::must_launch, a full
/// fence (docs/PROTOCOL.md, "Parking"). The count of finished launches names its partner below.
/// Ownership: borrows what the channel shares; the payloads of queued messages are its own.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "bridge/channel/channel_shared.hpp"
#include "bridge/channel/room_wait.hpp"
#include "bridge/counting.hpp"
#include "foundation/memory_error.hpp"
#include "ring/producer.hpp"

namespace ringkernel::bridge {

class SendQueue {
 public:
  /// Messages that have left the queue without getting into the ring: overdue, or dropped. Their
  /// outcomes are to be handed over without the lock.
  struct Ended {
    std::array<MessageId, 16> ids;
    std::size_t count = 0;
    bool dropped = false;

    [[nodiscard]] bool full() const noexcept { return count == ids.size(); }
  };

  SendQueue(ChannelShared& shared, const RingView& input, const RingView& output);

  /// As Channel::submit; what had to make room is in `ended`.
  template <class Write>
  [[nodiscard]] Result<Submission> submit(const Envelope& envelope, Receiver receiver,
                                          Completion* completion, Executor::Wake how, Ended& ended,
                                          Write&& write);
  /// As Channel::submit_batch.
  template <class Describe, class Write>
  [[nodiscard]] Result<std::size_t> submit_batch(std::size_t count, Describe&& describe,
                                                 Write&& write);
  /// As those of Channel.
  std::uint64_t submit_later(const Envelope& envelope, Receiver receiver, Completion* completion,
                             MessageBuffer payload, Admission admission,
                             std::uint64_t patience_ns) noexcept;
  bool withdraw(std::uint64_t ticket) noexcept;

  /// As Channel::wait_for_room. `help()` does what may make room, without a lock.
  [[nodiscard]] Result<void> wait_for_room(std::uint64_t deadline_ns, std::uint64_t patience_ns,
                                           const std::function<void()>& help);
  /// A place in flight is free, or the queue has moved.
  void room_made() noexcept;

  /// Moves queued messages into the ring and admits who waits. Returns how many have left their
  /// place; if any has, `advanced` must follow.
  [[nodiscard]] std::size_t advance(std::uint64_t now_ns, Ended& ended) noexcept;
  void advanced() noexcept;
  /// Tells the bridge until when those who wait want to be looked at. True: sooner than it knew.
  [[nodiscard]] bool note_deadlines() noexcept;

  /// Rings the doorbell for something other than a message.
  void ring() noexcept;
  /// Changes the run state on the device; returns the epoch for Executor::obeys.
  std::uint32_t set_state(std::uint32_t state);

  /// As Channel::close.
  void close(const Error& reason) noexcept;
  /// Behind `close`: forgets the queue, unless a sender is still inside the executor.
  [[nodiscard]] bool try_retire() noexcept;

  [[nodiscard]] std::uint32_t payload_bytes_max() const noexcept { return payload_bytes_max_; }

 private:
  /// A message with a slot that waits for ring space.
  struct Queued {
    MessageId id;
    Envelope envelope;
    MessageBuffer payload;
  };
  using Bucket = std::list<Queued>;
  using Buckets = std::map<std::int32_t, Bucket, std::greater<>>;
  /// A message that waits for a slot and a place in the queue.
  struct Waiting {
    std::uint64_t ticket;
    Receiver receiver;
    Completion* completion;
    Bucket message;  // itself, ready to go into the queue; with the id that it got there, if it did
    Admission admission;
    Stamp stamp;
    std::uint64_t patience_ns;  // until then it waits for room

    [[nodiscard]] const Envelope& envelope() const noexcept { return message.front().envelope; }
    [[nodiscard]] std::uint64_t leaves_ns() const noexcept {
      return std::min(envelope().deadline_ns, patience_ns);
    }
  };

  // The send lock is held by the caller of these.
  Result<rk_record_header*> claim_record(const Envelope& envelope);
  void commit_record(rk_record_header* header, const Envelope& envelope, MessageId id, bool timed);
  void publish_records() noexcept;
  Result<Room> make_room(Ended& ended, std::int32_t priority);
  void enqueue(MessageId id, Bucket& message, Bucket& to) noexcept;
  void drop_empty_bucket(std::int32_t priority) noexcept;
  std::size_t flush(std::uint64_t now_ns, Ended& ended) noexcept;
  std::size_t admit(std::list<Waiting>& admitted) noexcept;
  bool drop_oldest(Ended& ended, std::int32_t priority) noexcept;
  /// For the next message; `now_ns` is coarse.
  Stamp stamp(Sampler& sampler, std::uint64_t now_ns, std::uint64_t since_ns = 0) noexcept {
    const std::uint64_t at_ns =
        sampler.next(now_ns) ? std::max(shared_.clock.sample_ns(), since_ns) : 0;
    return {since_ns != 0 ? since_ns : at_ns != 0 ? at_ns : now_ns, at_ns};
  }
  /// Counts the message in. True if its deadline is the next one.
  bool accept(Receiver receiver, const Envelope& envelope) noexcept;
  /// Whether the sender has to go on and launch a slice, without the lock; then it is counted in.
  /// A full fence: what it published comes before what it reads next.
  bool must_launch(Executor::Wake how) noexcept;

  void after_submit(Executor::Wake how, bool launch, bool deadline_lowered) noexcept;
  /// What the policy says of a message without room. Under block: nothing, it may wait.
  [[nodiscard]] Result<void> refuse(bool slots_are_taken);
  [[nodiscard]] std::string why_no_room(bool slots_are_taken) const;
  Error waited_in_vain(std::uint64_t deadline_ns, std::uint64_t now_ns) noexcept;
  [[nodiscard]] std::uint64_t coarse_ns() const noexcept {
    return shared_.latencies != nullptr ? shared_.clock.coarse_ns() : 0;
  }

  ChannelShared& shared_;
  const std::uint32_t payload_bytes_max_;
  const std::uint32_t reply_bytes_max_;
  RoomWait room_;

  alignas(64) std::mutex mutex_;
  Producer producer_;
  Sampler sampler_;
  Buckets queue_;
  std::list<Waiting> waiting_;
  std::uint64_t next_ticket_ = 1;
  bool closed_ = false;
  Error close_reason_;
  std::uint64_t senders_in_ = 0;               // accepted a message and went on to launch a slice
  std::atomic<std::uint64_t> senders_out_{0};  // of these, are done with it
};

template <class Write>
Result<Submission> SendQueue::submit(const Envelope& envelope, Receiver receiver,
                                     Completion* completion, Executor::Wake how, Ended& ended,
                                     Write&& write) {
  std::optional<MessageId> id;
  bool deadline_lowered = false;
  bool launch = false;
  {
    const std::lock_guard lock(mutex_);
    RK_TRY(header, claim_record(envelope));
    Bucket queued;
    Bucket* bucket = nullptr;
    if (header == nullptr) {
      RK_TRY(room, make_room(ended, envelope.priority));
      if (room == Room::none) return Submission();
      queued.push_back({0, envelope, MessageBuffer(envelope.payload_bytes)});
      bucket = &queue_[envelope.priority];  // nothing throws behind it
    }
    const Stamp now = stamp(sampler_, coarse_ns(), envelope.waits_since_ns);
    id = shared_.pending.acquire(receiver, envelope.deadline_ns, completion, envelope.assisted, now,
                                 envelope.reply_place);
    if (!id) {
      if (header != nullptr) producer_.abort();
    } else if (header != nullptr) {
      deadline_lowered = accept(receiver, envelope);
      write(reinterpret_cast<std::byte*>(header + 1));
      commit_record(header, envelope, *id, now.sampled_ns != 0);
      publish_records();
    } else {
      deadline_lowered = accept(receiver, envelope);
      write(queued.front().payload.data());
      enqueue(*id, queued, *bucket);
    }
    if (bucket != nullptr) drop_empty_bucket(envelope.priority);
    if (id) launch = must_launch(how);
  }
  if (!id) {
    RK_TRY_VOID(refuse(true));
    return Submission();
  }
  after_submit(how, launch, deadline_lowered);
  return Submission{Room::found, *id};
}

template <class Describe, class Write>
Result<std::size_t> SendQueue::submit_batch(std::size_t count, Describe&& describe, Write&& write) {
  // The slots are taken before the first record is written: a read-modify-write in between would
  // wait for the record's lines to arrive from the device's core.
  std::array<std::uint32_t, batch_max> slots;
  std::size_t taken = 0;
  std::size_t accepted = 0;
  bool deadline_lowered = false;
  bool launch = false;
  Result<void> result;
  {
    const std::lock_guard lock(mutex_);
    for (; taken < std::min(count, batch_max); ++taken) {
      const auto index = shared_.pending.take_index();
      if (!index) break;
      slots[taken] = *index;
    }
    const std::uint64_t now_ns = coarse_ns();
    Sampler sampler = sampler_;  // its countdown stays in a register
    for (; accepted < taken; ++accepted) {
      const Result<const Envelope*> envelope = describe(accepted);
      Result<rk_record_header*> header = or_no_memory([&]() -> Result<rk_record_header*> {
        if (!envelope) return envelope.error();
        return claim_record(**envelope);
      });
      if (!header) result = header.error();
      if (!header || *header == nullptr) break;
      const Stamp now = stamp(sampler, now_ns);
      const MessageId id = shared_.pending.arm(slots[accepted], Receiver::mailbox,
                                               (*envelope)->deadline_ns, nullptr, false, now);
      deadline_lowered |= accept(Receiver::mailbox, **envelope);
      write(accepted, reinterpret_cast<std::byte*>(*header + 1));
      commit_record(*header, **envelope, id, now.sampled_ns != 0);
    }
    sampler_ = sampler;
    if (accepted != 0) {
      publish_records();
      launch = must_launch(Executor::Wake::launch);
    }
    for (std::size_t unused = accepted; unused < taken; ++unused)
      shared_.pending.give_back(slots[unused]);
  }
  if (accepted != 0) {
    after_submit(Executor::Wake::launch, launch, deadline_lowered);
    return accepted;
  }
  if (!result) return std::move(result).error();
  return std::size_t{0};
}

}  // namespace ringkernel::bridge
