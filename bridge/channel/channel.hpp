/// One ring kernel as the host talks to it: its two rings, what waits on the host for space, what
/// is in flight, and the mailbox of plain messages.
///
/// A message goes host queue (only if the ring is full) -> input ring -> device -> output ring ->
/// its receiver. It is accepted when `submit` returns its id; from then on it has exactly one
/// outcome.
///
/// Threading: any thread. Two locks, never held together except send inside consume:
///   send     input ring, host queue, doorbell, run state
///   consume  output ring; whoever holds it is the demultiplexer
/// A thread that waits for an outcome becomes the demultiplexer itself if nobody is (no hop to
/// another thread); otherwise it sleeps, and the bridge thread stays awake for it.
/// Memory ordering: every step that may need somebody else ends in `Executor::wake` or a full
/// fence, then looks whether that somebody sleeps (docs/PROTOCOL.md, "Who is awake").
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/circular_buffer.hpp>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bridge/channel/channel_types.hpp"
#include "bridge/channel/holds.hpp"
#include "bridge/channel/latencies.hpp"
#include "bridge/channel/method_counts.hpp"
#include "bridge/channel/pending.hpp"
#include "bridge/clock.hpp"
#include "bridge/counting.hpp"
#include "bridge/executor/executor.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/scope_guard.hpp"
#include "foundation/trace_log.hpp"
#include "ring/consumer.hpp"
#include "ring/producer.hpp"

namespace ringkernel::bridge {

class Channel {
 public:
  Channel(Executor& executor, std::uint32_t kernel, const RingView& input, const RingView& output,
          const ChannelLimits& limits, const Clock& clock, Nudge& nudge);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // --- sending --------------------------------------------------------------------------------

  /// Accepts one message, if there is room in the ring or on the host, and in flight. Under policy
  /// block it says whether there was. `write(std::byte*)` fills the payload in place.
  /// Errors: message_too_large; the reason given to `close`; without room, with what takes it:
  /// queue_full (reject), message_dropped (drop_newest; drop_oldest where nothing can make room).
  template <class Write>
  [[nodiscard]] Result<Submission> submit(const Envelope& envelope, Receiver receiver,
                                          Completion* completion, Executor::Wake how,
                                          Write&& write);
  /// As `submit`, but waits for room, as `wait_for_room` does, and notes in the envelope since
  /// when. Both times begin to run when there is none.
  template <class Write>
  [[nodiscard]] Result<MessageId> submit_when_room(Envelope& envelope, Receiver receiver,
                                                   Executor::Wake how, Write&& write,
                                                   Timeout& timeout, Timeout patience);

  /// Puts messages for the mailbox straight into the ring with one publication: `describe(i)` gives
  /// the envelope of message i as a Result<const Envelope*>, which the next may overwrite,
  /// `write(i, std::byte*)` fills its payload. Returns how many of the `count` it accepted, from
  /// the first on: 0 if there is no room in the ring at the moment.
  /// Errors: those of `submit` and `describe` for the first message; later ones only end the batch.
  template <class Describe, class Write>
  [[nodiscard]] Result<std::size_t> submit_batch(std::size_t count, Describe&& describe,
                                                 Write&& write);

  /// Waits until `submit` may succeed, until the message's deadline (deadline_exceeded) or until
  /// its sender's patience is over (queue_full). Both say what takes the room.
  [[nodiscard]] Result<void> wait_for_room(std::uint64_t deadline_ns,
                                           std::uint64_t patience_ns = no_deadline);

  /// Queues a message that found no room, to be admitted until then as above. Returns
  /// a ticket for `withdraw`.
  std::uint64_t submit_later(const Envelope& envelope, Receiver receiver, Completion* completion,
                             MessageBuffer payload, Admission admission,
                             std::uint64_t patience_ns = no_deadline) noexcept;
  /// Takes a queued submission back. False if it has been admitted or ended meanwhile.
  bool withdraw(std::uint64_t ticket) noexcept;

  /// Whether assisting has paid lately. While it has not, most submissions are left to others.
  [[nodiscard]] bool assist_pays() noexcept;
  /// Polls for the outcome of a message submitted as assisted, for as long as a short op takes;
  /// then leaves it to the bridge thread. Never waits. For a thread that would otherwise go to
  /// sleep until the bridge thread wakes it, which costs more than the whole round trip.
  /// `submitted_ns`: when the submission began, which may have run the op on this thread.
  void assist(MessageId id, std::uint64_t submitted_ns);
  /// Leaves a message submitted as assisted to the bridge thread: nobody polls for it.
  void leave_to_bridge(MessageId id) noexcept;

  /// Where ops run on their callers' threads: whether nobody is at work there, and ops have been
  /// short lately. Advice: another sender may come in between.
  [[nodiscard]] bool can_run_here() noexcept;
  /// Behind one that was sent because of it, which began then: how long it took. What took long is
  /// not to be run so again soon.
  std::chrono::nanoseconds note_run_here(std::uint64_t begin_ns) noexcept;

  /// Ends a message without its reply: operation_aborted. False if it has its outcome.
  bool cancel(MessageId id) noexcept;

  // --- receiving ------------------------------------------------------------------------------

  /// Waits for the outcome of a message submitted for Receiver::waiter.
  [[nodiscard]] Outcome wait(MessageId id, Timeout timeout) noexcept;

  /// The next mailbox outcome. One with id 0 is no message's: deadline_exceeded, or the reason of
  /// `fail_all` when the mailbox is empty.
  [[nodiscard]] Outcome receive(Timeout timeout);
  /// Calls `give(Outcome&&)` for the mailbox outcomes that are there, at least one and at most
  /// `count`. Returns how many. Errors: as `receive`.
  template <class Give>
  [[nodiscard]] Result<std::size_t> receive_some(std::size_t count, Timeout timeout, Give&& give);

  /// Calls `completion` with the next mailbox outcome. Returns a ticket for `stop_receiving`.
  std::uint64_t receive_later(Completion* completion, std::uint64_t deadline_ns);
  /// Takes a waiting receiver back. False if it has been served meanwhile.
  bool stop_receiving(std::uint64_t ticket);

  // --- lifecycle ------------------------------------------------------------------------------

  /// Changes the run state on the device; returns the epoch for Executor::obeys.
  std::uint32_t set_state(std::uint32_t state);

  /// No message is accepted from here on; waiting submissions end with `reason`. Idempotent.
  void close(const Error& reason) noexcept;
  /// Every message still in flight ends with `reason`, receivers that find the mailbox empty too.
  void fail_all(const Error& reason) noexcept;
  /// Lets go of the rings for good: after `close`, when the device obeys that the kernel is absent,
  /// or is lost. False while another thread is inside one of them: try again.
  [[nodiscard]] bool try_retire() noexcept;
  /// After `try_retire`, when the device obeys that the kernel is absent: nothing that messages
  /// hold will be touched any more.
  void release_holds() noexcept { holds_.release_all(); }

  // --- duty cycle (bridge thread, or a waiting thread) ----------------------------------------

  /// Delivers what lies in the output ring. nullopt: somebody else is at it.
  std::optional<std::size_t> try_drain() noexcept;
  /// Moves queued messages into the ring, expires deadlines, notices a broken kernel. For those who
  /// keep the kernel from being retired meanwhile: they serve its bridge, lead, or end it
  /// themselves.
  std::size_t do_chores(std::uint64_t now_ns) noexcept;
  /// Whether anything waits that only the bridge thread will do.
  [[nodiscard]] bool needs_bridge() const noexcept;
  /// When something expires at the earliest that only the bridge thread may notice.
  [[nodiscard]] std::uint64_t next_deadline_ns() const noexcept {
    return next_deadline_ns_.load(std::memory_order_relaxed);  // as needs_bridge
  }

  [[nodiscard]] std::uint32_t kernel() const noexcept { return kernel_; }
  [[nodiscard]] Executor& executor() noexcept { return executor_; }
  /// Messages accepted whose outcome is not known yet; never less than the truth.
  [[nodiscard]] std::uint64_t unanswered() const noexcept;
  [[nodiscard]] bool idle() const noexcept { return unanswered() == 0; }
  [[nodiscard]] std::uint32_t in_flight() const noexcept { return pending_.in_use(); }
  [[nodiscard]] std::uint64_t queued() const noexcept { return queued_.load(); }
  /// Outcomes of plain messages that nobody has received yet; each keeps its in-flight place.
  [[nodiscard]] std::size_t unreceived() const;
  [[nodiscard]] std::uint32_t in_flight_max() const noexcept { return limits_.in_flight_max; }
  [[nodiscard]] ChannelCounters counters() const noexcept;
  /// Of messages that the device has answered; nullptr if no times are taken.
  [[nodiscard]] const Latencies* latencies() const noexcept { return latencies_.get(); }
  [[nodiscard]] MethodCounts& methods() noexcept { return methods_; }
  /// Those that have waited longest for their outcome, at most `count`, in order. Looks at every
  /// slot. Empty if no times are taken.
  struct InFlight {
    MessageId id;
    std::uint64_t accepted_ns;  ///< to a few milliseconds
  };
  [[nodiscard]] std::vector<InFlight> longest_in_flight(std::size_t count);
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
  struct WaitingReceiver {
    std::uint64_t ticket;
    std::uint64_t deadline_ns;
    Completion* completion;
  };
  /// Single writers: `accepted` under the send lock, `replied`, `faulted`, `late` under the consume
  /// lock; the others are rare enough to be added to by anybody.
  struct Atomics {
    std::atomic<std::uint64_t> accepted{0};
    alignas(64) std::atomic<std::uint64_t> replied{0}, faulted{0}, late{0};
    std::atomic<std::uint64_t> ended{0}, dropped{0}, expired{0}, cancelled{0};
  };
  /// Outcomes for the mailbox that a drain has met and not put there yet: one lock for many.
  struct Arrivals {
    std::array<MessageId, batch_max> ids;
    std::size_t count = 0;
  };
  /// Messages whose outcomes are to be handed over once the send lock is free: overdue, or dropped.
  struct Ended {
    std::array<MessageId, 16> ids;
    std::size_t count = 0;
    bool dropped = false;

    [[nodiscard]] bool full() const noexcept { return count == ids.size(); }
  };

  // channel_send.cpp; the send lock is held by the caller of those marked (send)
  Result<rk_record_header*> claim_record(const Envelope& envelope);  // (send)
  void commit_record(rk_record_header* header, const Envelope& envelope, MessageId id,
                     bool timed);                               // (send)
  void publish_records() noexcept;                              // (send)
  Result<Room> make_room(Ended& ended, std::int32_t priority);  // (send)
  /// What the policy says of a message without room. Under block: nothing, it may wait.
  [[nodiscard]] Result<void> refuse(bool slots_are_taken);
  void enqueue(MessageId id, Bucket& message, Bucket& to) noexcept;  // (send)
  void drop_empty_bucket(std::int32_t priority) noexcept;            // (send)
  std::size_t flush(std::uint64_t now_ns, Ended& ended) noexcept;    // (send)
  std::size_t admit(std::list<Waiting>& admitted) noexcept;          // (send)
  bool drop_oldest(Ended& ended, std::int32_t priority) noexcept;    // (send)
  [[nodiscard]] std::string why_no_room(bool slots_are_taken) const;
  /// Counts for `assist_pays`.
  void note_assist(bool in_vain) noexcept;
  Error waited_in_vain(std::uint64_t deadline_ns, std::uint64_t now_ns) noexcept;
  /// For the next message; `now_ns` is coarse. With (send) held.
  Stamp stamp(Sampler& sampler, std::uint64_t now_ns, std::uint64_t since_ns = 0) noexcept {
    const std::uint64_t at_ns = sampler.next(now_ns) ? std::max(clock_.sample_ns(), since_ns) : 0;
    return {since_ns != 0 ? since_ns : at_ns != 0 ? at_ns : now_ns, at_ns};
  }
  [[nodiscard]] std::uint64_t coarse_ns() const noexcept {
    return latencies_ != nullptr ? clock_.coarse_ns() : 0;
  }
  /// Counts the message in. True if its deadline is the next one.
  bool accept(Receiver receiver, const Envelope& envelope) noexcept;  // (send)
  /// Whether the sender has to go on and launch a slice, without the lock; then it is counted in.
  /// A full fence: what it published comes before what it reads next.
  bool must_launch(Executor::Wake how) noexcept;  // (send)
  void after_submit(Executor::Wake how, bool launch, bool deadline_lowered) noexcept;
  void finish_ended(const Ended& ended) noexcept;

  // channel_receive.cpp; the consume lock is held by the caller of those marked (consume)
  std::size_t drain() noexcept;                                               // (consume)
  void deliver(const rk_record_header& header, Arrivals& arrivals) noexcept;  // (consume)
  void put_in_mailbox(Arrivals& arrivals) noexcept;
  void lead(MessageId id, Timeout& timeout);  // (consume)
  bool hand_over();  // true: the executor has had this core for a while, where it needed it
  void try_chores();
  void note_reply(Slot& slot, const rk_record_header& reply) noexcept;  // (consume)
  void note_receipt(const Slot& slot) noexcept;
  void settle(Slot& slot, bool asleep) noexcept;
  void end(MessageId id, error_code error, std::string_view detail) noexcept;
  /// Those that `wanted(slot)` takes, in the order in which they were accepted, or in any where
  /// there is no memory to find it out.
  template <class Wanted>
  void end_armed(Wanted&& wanted, error_code error, std::string_view detail) noexcept;
  void to_mailbox(std::span<const MessageId> ids) noexcept;
  std::optional<MessageId> pop_mailbox();
  /// Waits for mailbox outcomes and takes as many as there are, at most `ids.size()`.
  Result<std::size_t> await_mailbox(std::span<MessageId> ids, Timeout timeout);
  static Outcome no_message(Error reason) noexcept;
  Outcome take(MessageId id);
  template <class Slots>
  Outcome take(MessageId id, Slots& slots) {
    Slot& slot = pending_.slot(id);
    if (slot.replied_ns != 0) [[unlikely]]
      note_receipt(slot);
    Outcome outcome = std::move(slot.outcome);
    slots.release(slot);
    return outcome;
  }

  // channel_chores.cpp
  void room_made() noexcept;
  void expire(std::uint64_t now_ns) noexcept;
  void check_device();
  bool lower_next_deadline(std::uint64_t deadline_ns) noexcept;
  void nudge_if_needed(bool deadline_lowered) noexcept;

  Executor& executor_;
  const std::uint32_t kernel_;
  const ChannelLimits limits_;
  const Clock& clock_;
  Nudge& nudge_;
  Pending pending_;
  Holds holds_;
  const std::uint32_t payload_bytes_max_;
  const std::uint32_t reply_bytes_max_;
  Atomics counters_;
  const Latencies::Pointer latencies_;
  MethodCounts methods_;

  alignas(64) std::mutex send_mutex_;
  Producer producer_;
  Sampler sampler_;
  Buckets queue_;
  std::list<Waiting> waiting_;
  std::uint64_t next_ticket_ = 1;
  bool closed_ = false;
  Error close_reason_;
  std::uint64_t senders_in_ = 0;               // accepted a message and went on to launch a slice
  std::atomic<std::uint64_t> senders_out_{0};  // of these, are done with it

  alignas(64) TryLock consume_lock_;
  Consumer consumer_;
  bool retired_ = false;
  std::atomic<bool> has_overrun_{false};  // the reply of the message that overran was there
  std::atomic<bool> broken_{false};       // the output ring made no sense
  std::atomic<bool> ending_{false};       // closed: who leads makes room for who retires the kernel

  alignas(64) mutable std::mutex mailbox_mutex_;
  std::condition_variable mailbox_changed_;
  boost::circular_buffer<MessageId> mailbox_;  // with room for all that can be in flight
  std::list<WaitingReceiver> receivers_;
  std::uint64_t next_receiver_ = 1;
  bool mailbox_closed_ = false;
  Error mailbox_close_reason_;

  std::mutex room_mutex_;
  std::condition_variable room_changed_;
  std::uint64_t room_epoch_ = 0;

  // Words that other threads look at to decide who has to be awake.
  alignas(64) std::atomic<std::uint64_t> completions_{0};  // unanswered, Receiver::completion
  std::atomic<std::uint64_t> assisted_{0};                 // of these, somebody polls for them
  std::atomic<std::uint32_t> assist_pause_{0}, assist_pauses_{0};  // to the next try; in a row
  std::atomic<std::uint64_t> sleepers_{0};                         // threads asleep in wait
  std::atomic<std::uint64_t> receivers_waiting_{0};
  std::atomic<std::uint64_t> queued_{0};  // in queue_ and waiting_
  std::atomic<std::uint64_t> room_waiters_{0};
  std::atomic<std::uint64_t> next_deadline_ns_{no_deadline};
};

template <class Write>
Result<MessageId> Channel::submit_when_room(Envelope& envelope, Receiver receiver,
                                            Executor::Wake how, Write&& write, Timeout& timeout,
                                            Timeout patience) {
  for (;;) {
    RK_TRY(submission, submit(envelope, receiver, nullptr, how, write));
    if (submission.room == Room::found) return submission.id;
    const std::uint64_t now_ns = clock_.now_ns();
    if (envelope.waits_since_ns == 0) envelope.waits_since_ns = now_ns;
    RK_TRY_VOID(wait_for_room(std::min(envelope.deadline_ns, timeout.deadline_ns(now_ns)),
                              patience.deadline_ns(now_ns)));
  }
}

template <class Write>
Result<Submission> Channel::submit(const Envelope& envelope, Receiver receiver,
                                   Completion* completion, Executor::Wake how, Write&& write) {
  Ended ended;
  const ScopeGuard finishing([&]() noexcept {  // behind the lock, also where something throws
    if (ended.count != 0) finish_ended(ended);
  });
  std::optional<MessageId> id;
  bool deadline_lowered = false;
  bool launch = false;
  {
    const std::lock_guard lock(send_mutex_);
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
    id = pending_.acquire(receiver, envelope.deadline_ns, completion, envelope.assisted, now,
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
Result<std::size_t> Channel::submit_batch(std::size_t count, Describe&& describe, Write&& write) {
  // The slots are taken before the first record is written: a read-modify-write in between would
  // wait for the record's lines to arrive from the device's core.
  std::array<std::uint32_t, batch_max> slots;
  std::size_t taken = 0;
  std::size_t accepted = 0;
  bool deadline_lowered = false;
  bool launch = false;
  Result<void> result;
  {
    const std::lock_guard lock(send_mutex_);
    for (; taken < std::min(count, batch_max); ++taken) {
      const auto index = pending_.take_index();
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
      const MessageId id = pending_.arm(slots[accepted], Receiver::mailbox,
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
    for (std::size_t unused = accepted; unused < taken; ++unused) pending_.give_back(slots[unused]);
  }
  if (accepted != 0) {
    after_submit(Executor::Wake::launch, launch, deadline_lowered);
    return accepted;
  }
  if (!result) return std::move(result).error();
  return std::size_t{0};
}

template <class Give>
Result<std::size_t> Channel::receive_some(std::size_t count, Timeout timeout, Give&& give) {
  std::array<MessageId, batch_max> ids;
  RK_TRY(received, await_mailbox(std::span(ids).first(std::min(count, batch_max)), timeout));
  {
    Pending::Chain taken(pending_);
    for (std::size_t i = 0; i < received; ++i) give(take(ids[i], taken));
  }
  room_made();
  return received;
}

template <class Wanted>
void Channel::end_armed(Wanted&& wanted, error_code error, std::string_view detail) noexcept {
  const bool is_in_order = with_memory([&] {
    for (const MessageId id : pending_.armed_in_order(wanted)) end(id, error, detail);
  });
  if (is_in_order) return;
  pending_.for_each_armed([&](MessageId id, Slot& slot) {
    if (wanted(slot)) end(id, error, detail);
  });
}

}  // namespace ringkernel::bridge
