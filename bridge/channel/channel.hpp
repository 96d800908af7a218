/// One ring kernel as the host talks to it: the sum of what sends, what receives, the mailbox of
/// plain messages, and how threads wait.
///
/// A message goes host queue (only if the ring is full) -> input ring -> device -> output ring ->
/// its receiver. It is accepted when `submit` returns its id; from then on it has exactly one
/// outcome.
///
/// It has more than 25 public functions because all that the runtime asks of a ring kernel's
/// messages is asked here. Most are one line: the work is done by `SendQueue`, `ReplyDemux` and
/// `Mailbox`.
///
/// Threading: any thread. Two locks, never held together except send inside consume:
///   send     SendQueue: input ring, host queue, doorbell, run state
///   consume  ReplyDemux: output ring; whoever holds it is the demultiplexer
/// Memory ordering: every step that may need somebody else ends in `Executor::wake` or a full
/// fence, then looks whether that somebody sleeps (docs/PROTOCOL.md, "Who is awake").
/// Ownership: borrows executor, clock and waker; owns the rest.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bridge/channel/channel_shared.hpp"
#include "bridge/channel/channel_types.hpp"
#include "bridge/channel/reply_demux.hpp"
#include "bridge/channel/send_queue.hpp"
#include "bridge/channel/wait_strategy.hpp"
#include "foundation/scope_guard.hpp"

namespace ringkernel::bridge {

class Channel final : private Housekeeping {
 public:
  /// `strategy`: how threads wait; null: a WaitStrategy with the limits' `spin_ns`.
  Channel(Executor& executor, std::uint32_t kernel, const RingView& input, const RingView& output,
          const ChannelLimits& limits, const Clock& clock, Waker& waker,
          std::unique_ptr<WaitStrategy> strategy = nullptr);
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
                             std::uint64_t patience_ns = no_deadline) noexcept {
    return send_.submit_later(envelope, receiver, completion, std::move(payload),
                              std::move(admission), patience_ns);
  }
  /// Takes a queued submission back. False if it has been admitted or ended meanwhile.
  bool withdraw(std::uint64_t ticket) noexcept { return send_.withdraw(ticket); }

  /// Whether assisting has paid lately. While it has not, most submissions are left to others.
  [[nodiscard]] bool assist_pays() noexcept { return strategy_->assist_pays(); }
  /// Polls for the outcome of a message submitted as assisted, for as long as a short op takes;
  /// then leaves it to the bridge thread. Never waits. For a thread that would otherwise go to
  /// sleep until the bridge thread wakes it, which costs more than the whole round trip.
  /// `submitted_ns`: when the submission began, which may have run the op on this thread.
  void assist(MessageId id, std::uint64_t submitted_ns) { demux_.assist(id, submitted_ns); }
  /// Leaves a message submitted as assisted to the bridge thread: nobody polls for it.
  void leave_to_bridge(MessageId id) noexcept { demux_.leave_to_bridge(id); }

  /// Where ops run on their callers' threads: whether nobody is at work there, and ops have been
  /// short lately. Advice: another sender may come in between.
  [[nodiscard]] bool can_run_here() noexcept;
  /// Behind one that was sent because of it, which began then: how long it took. What took long is
  /// not to be run so again soon.
  std::chrono::nanoseconds note_run_here(std::uint64_t begin_ns) noexcept;

  /// Ends a message without its reply: operation_aborted. False if it has its outcome.
  bool cancel(MessageId id) noexcept { return demux_.cancel(id); }

  // --- receiving ------------------------------------------------------------------------------

  /// Waits for the outcome of a message submitted for Receiver::waiter.
  [[nodiscard]] Outcome wait(MessageId id, Timeout timeout) noexcept {
    return demux_.wait(id, timeout);
  }

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
  bool stop_receiving(std::uint64_t ticket) { return shared_.mailbox.remove(ticket); }

  // --- lifecycle ------------------------------------------------------------------------------

  /// Changes the run state on the device; returns the epoch for Executor::obeys.
  std::uint32_t set_state(std::uint32_t state) { return send_.set_state(state); }

  /// No message is accepted from here on; waiting submissions end with `reason`. Idempotent.
  void close(const Error& reason) noexcept;
  /// Every message still in flight ends with `reason`, receivers that find the mailbox empty too.
  void fail_all(const Error& reason) noexcept;
  /// Lets go of the rings for good: after `close`, when the device obeys that the kernel is absent,
  /// or is lost. False while another thread is inside one of them: try again.
  [[nodiscard]] bool try_retire() noexcept { return demux_.try_retire() && send_.try_retire(); }
  /// After `try_retire`, when the device obeys that the kernel is absent: nothing that messages
  /// hold will be touched any more.
  void release_leases() noexcept { shared_.leases.release_all(); }

  // --- duty cycle (bridge thread, or a waiting thread) ----------------------------------------

  /// Delivers what lies in the output ring. nullopt: somebody else is at it.
  std::optional<std::size_t> try_drain() noexcept { return demux_.try_drain(); }
  /// Moves queued messages into the ring, expires deadlines, notices a broken kernel. For those who
  /// keep the kernel from being retired meanwhile: they serve its bridge, lead, or end it
  /// themselves.
  std::size_t do_housekeeping(std::uint64_t now_ns) noexcept override;
  /// Whether anything waits that only the bridge thread will do.
  [[nodiscard]] bool needs_bridge() const noexcept { return shared_.demand.exists(); }
  /// When something expires at the earliest that only the bridge thread may notice.
  [[nodiscard]] std::uint64_t next_deadline_ns() const noexcept {
    return shared_.demand.next_deadline_ns();
  }

  // --- metrics --------------------------------------------------------------------------------

  [[nodiscard]] std::uint32_t kernel() const noexcept { return shared_.kernel; }
  [[nodiscard]] Executor& executor() noexcept { return shared_.executor; }
  /// Messages accepted whose outcome is not known yet; never less than the truth.
  [[nodiscard]] std::uint64_t unanswered() const noexcept { return shared_.counts.unanswered(); }
  [[nodiscard]] bool idle() const noexcept { return shared_.counts.idle(); }
  [[nodiscard]] std::uint32_t in_flight() const noexcept { return shared_.pending.in_use(); }
  [[nodiscard]] std::uint64_t queued() const noexcept { return shared_.demand.queued.load(); }
  /// Outcomes of plain messages that nobody has received yet; each keeps its in-flight place.
  [[nodiscard]] std::size_t unreceived() const { return shared_.mailbox.size(); }
  [[nodiscard]] std::uint32_t in_flight_max() const noexcept {
    return shared_.limits.in_flight_max;
  }
  [[nodiscard]] ChannelCounters counters() const noexcept { return shared_.counts.metrics(); }
  /// Of messages that the device has answered; nullptr if no times are taken.
  [[nodiscard]] const Latencies* latencies() const noexcept { return shared_.latencies.get(); }
  [[nodiscard]] MethodCounts& methods() noexcept { return shared_.methods; }
  /// Those that have waited longest for their outcome, at most `count`, in order. Looks at every
  /// slot. Empty if no times are taken.
  struct InFlight {
    MessageId id;
    std::uint64_t accepted_ns;  ///< to a few milliseconds
  };
  [[nodiscard]] std::vector<InFlight> longest_in_flight(std::size_t count);
  [[nodiscard]] std::uint32_t payload_bytes_max() const noexcept {
    return send_.payload_bytes_max();
  }

 private:
  /// Waits for mailbox outcomes and takes as many as there are, at most `ids.size()`.
  Result<std::size_t> await_mailbox(std::span<MessageId> ids, Timeout timeout);
  /// Between two looks of a thread that waits for one.
  void rest_receiving();
  /// The housekeeping, if nobody else is at them.
  void try_housekeeping();
  void expire(std::uint64_t now_ns) noexcept;
  void check_device();
  void finish_ended(const SendQueue::Ended& ended) noexcept;

  ChannelShared shared_;
  const std::unique_ptr<WaitStrategy> strategy_;
  SendQueue send_;
  ReplyDemux demux_;
};

template <class Write>
Result<Submission> Channel::submit(const Envelope& envelope, Receiver receiver,
                                   Completion* completion, Executor::Wake how, Write&& write) {
  SendQueue::Ended ended;
  const ScopeGuard finishing([&]() noexcept {  // behind the lock, also where something throws
    if (ended.count != 0) finish_ended(ended);
  });
  return send_.submit(envelope, receiver, completion, how, ended, write);
}

template <class Write>
Result<MessageId> Channel::submit_when_room(Envelope& envelope, Receiver receiver,
                                            Executor::Wake how, Write&& write, Timeout& timeout,
                                            Timeout patience) {
  for (;;) {
    RK_TRY(submission, submit(envelope, receiver, nullptr, how, write));
    if (submission.room == Room::found) return submission.id;
    const std::uint64_t now_ns = shared_.clock.now_ns();
    if (envelope.waits_since_ns == 0) envelope.waits_since_ns = now_ns;
    RK_TRY_VOID(wait_for_room(std::min(envelope.deadline_ns, timeout.deadline_ns(now_ns)),
                              patience.deadline_ns(now_ns)));
  }
}

template <class Describe, class Write>
Result<std::size_t> Channel::submit_batch(std::size_t count, Describe&& describe, Write&& write) {
  return send_.submit_batch(count, describe, write);
}

template <class Give>
Result<std::size_t> Channel::receive_some(std::size_t count, Timeout timeout, Give&& give) {
  std::array<MessageId, batch_max> ids;
  RK_TRY(received, await_mailbox(std::span(ids).first(std::min(count, batch_max)), timeout));
  {
    Pending::Chain taken(shared_.pending);
    for (std::size_t i = 0; i < received; ++i) give(demux_.take(ids[i], taken));
  }
  send_.room_made();
  return received;
}

}  // namespace ringkernel::bridge
