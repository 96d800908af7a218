// The sum of a channel: what receives plain messages, and what is done now and then.
#include "bridge/channel/channel.hpp"

#include <algorithm>
#include <utility>

#include "bridge/channel/interruption.hpp"
#include "foundation/memory_error.hpp"
#include "ringkernel/protocol/fault.h"

namespace ringkernel::bridge {
namespace {

Outcome no_message(Error reason) noexcept {
  Outcome outcome;
  outcome.error = reason.code;
  outcome.detail = std::move(reason.detail);
  return outcome;
}

}  // namespace

Channel::Channel(Executor& executor, std::uint32_t kernel, const RingView& input,
                 const RingView& output, const ChannelLimits& limits, const Clock& clock,
                 Waker& waker, std::unique_ptr<WaitStrategy> strategy)
    : shared_(executor, kernel, limits, clock, waker),
      strategy_(strategy != nullptr ? std::move(strategy)
                                    : std::make_unique<WaitStrategy>(limits.spin_ns)),
      send_(shared_, input, output),
      demux_(shared_, send_, *strategy_, *this, output) {}

// --- sending ----------------------------------------------------------------------------------

Result<void> Channel::wait_for_room(std::uint64_t deadline_ns, std::uint64_t patience_ns) {
  return send_.wait_for_room(deadline_ns, patience_ns, [this] {
    (void)try_drain();
    try_housekeeping();
  });
}

bool Channel::can_run_here() noexcept {
  bool can = false;
  // Behind the end of the kernel the executor may be gone. Who has the lock is at work.
  demux_.while_attached([&] {
    can = in_flight() == 0 && shared_.executor.parked(shared_.kernel) && strategy_->assist_pays();
  });
  return can;
}

std::chrono::nanoseconds Channel::note_run_here(std::uint64_t begin_ns) noexcept {
  const std::uint64_t took_ns = shared_.clock.sample_ns() - begin_ns;
  strategy_->note_assist(strategy_->is_long(took_ns));
  return std::chrono::nanoseconds(took_ns);
}

// --- receiving --------------------------------------------------------------------------------

Outcome Channel::receive(Timeout timeout) {
  MessageId id = 0;
  Result<std::size_t> received = await_mailbox({&id, 1}, timeout);
  return received ? demux_.take(id) : no_message(std::move(received).error());
}

Result<std::size_t> Channel::await_mailbox(std::span<MessageId> ids, Timeout timeout) {
  const Interruption interruption;
  std::uint64_t start_ns = 0;
  for (;;) {
    RK_TRY(count, shared_.mailbox.take(ids));
    if (count != 0) return count;
    if (try_drain().value_or(0) != 0) continue;
    const std::uint64_t now_ns = shared_.clock.now_ns();
    if (start_ns == 0) start_ns = now_ns;
    const std::uint64_t deadline_ns = timeout.deadline_ns(now_ns);
    if (now_ns >= deadline_ns) return Error(Errc::deadline_exceeded, "no message came in time");
    try_housekeeping();
    if (!idle() && strategy_->receives_on(now_ns - start_ns)) {
      rest_receiving();
      continue;
    }
    const Counted waiting(shared_.demand.receivers);
    full_fence();  // pairs with Bridge::sleep
    shared_.demand.wake_if_needed(false);
    const std::uint64_t wakes_ns = interruption.wakes_at(deadline_ns, now_ns);
    std::optional<std::chrono::nanoseconds> limit;
    if (wakes_ns != no_deadline) limit = time_left(wakes_ns, now_ns);
    if (shared_.mailbox.wait(limit)) continue;
    if (interruption.came()) return Interruption::error();
  }
}

void Channel::rest_receiving() {
  auto step = WaitStrategy::Step::poll;
  demux_.while_attached([&] {
    Executor& executor = shared_.executor;
    const bool tells_core = executor.tells_core(kernel());
    step = strategy_->receive({.is_starting = executor.starting(kernel()),
                               .tells_core = tells_core,
                               .needs_core = tells_core && executor.needs_core(kernel())});
    if (step == WaitStrategy::Step::hand_over) executor.note_handover();
  });
  strategy_->rest(step);
}

std::uint64_t Channel::receive_later(Completion* completion, std::uint64_t deadline_ns) {
  Mailbox::Receivings receiving{{0, deadline_ns, completion}};  // nothing has changed yet
  (void)try_drain();
  Mailbox::Added added = shared_.mailbox.add(receiving);
  if (added.id != 0) {
    completion->complete(demux_.take(added.id));
  } else if (added.closed) {
    completion->complete(no_message(*std::move(added.closed)));
  } else {
    const bool deadline_lowered = shared_.demand.lower_deadline(deadline_ns);
    full_fence();  // pairs with Bridge::sleep
    shared_.demand.wake_if_needed(deadline_lowered);
  }
  return added.ticket;
}

// --- lifecycle --------------------------------------------------------------------------------

void Channel::close(const Error& reason) noexcept {
  demux_.note_ending();
  send_.close(reason);
}

void Channel::fail_all(const Error& reason) noexcept {
  demux_.end_armed([](const Slot&) { return true; }, reason.code, reason.detail);
  for (const Mailbox::Receiving& receiving : shared_.mailbox.close(reason))
    receiving.completion->complete(no_message(reason));
}

// --- duty cycle -------------------------------------------------------------------------------

std::size_t Channel::do_housekeeping(std::uint64_t now_ns) noexcept {
  SendQueue::Ended ended;
  const std::size_t work = send_.advance(now_ns, ended);
  finish_ended(ended);
  if (work != 0) send_.advanced();
  if (next_deadline_ns() <= now_ns) expire(now_ns);
  if (!idle()) (void)with_memory([this] { check_device(); });  // or the next time
  return work;
}

void Channel::try_housekeeping() {
  // Whoever has the consume lock otherwise does them too.
  demux_.while_attached([this] { (void)do_housekeeping(shared_.clock.now_ns()); });
}

void Channel::finish_ended(const SendQueue::Ended& ended) noexcept {
  for (const MessageId id : std::span(ended.ids).first(ended.count)) {
    if (ended.dropped)
      demux_.end(id, make_error_code(Errc::message_dropped),
                 "a later message took its place in the queue");
    else
      demux_.end(id, make_error_code(Errc::deadline_exceeded), "while queued on the host");
  }
}

void Channel::expire(std::uint64_t now_ns) noexcept {
  shared_.demand.forget_deadline();  // before the scans: later deadlines lower it again
  bool lowered = false;
  const auto is_overdue = [&](const Slot& slot) {
    const std::uint64_t deadline_ns = slot.deadline_ns.load(std::memory_order_relaxed);
    if (slot.receiver.load(std::memory_order_relaxed) == Receiver::waiter)
      return false;  // own clock
    if (deadline_ns <= now_ns) return true;
    lowered |= shared_.demand.lower_deadline(deadline_ns);
    return false;
  };
  demux_.end_armed(is_overdue, make_error_code(Errc::deadline_exceeded),
                   "while waiting for the reply");
  const Mailbox::Receivings overdue = shared_.mailbox.take_overdue(
      now_ns,
      [&](std::uint64_t deadline_ns) { lowered |= shared_.demand.lower_deadline(deadline_ns); });
  for (const Mailbox::Receiving& receiving : overdue)
    receiving.completion->complete(
        no_message(error_of(Errc::deadline_exceeded, "no message came in time")));
  lowered |= send_.note_deadlines();
  full_fence();  // pairs with Bridge::sleep, which may have looked while there was no deadline
  shared_.demand.wake_if_needed(lowered);
}

void Channel::check_device() {
  Executor& executor = shared_.executor;
  std::optional<Error> reason;
  if (executor.failed()) {
    reason = executor.failure();
  } else if (const std::uint32_t fault = executor.fault(kernel()); fault != 0) {
    // The message that overran is told first: its reply is on its way, unless it has spoilt the
    // ring.
    if (fault == RK_FAULT_program_overran && !demux_.has_overrun() && !demux_.is_broken()) return;
    reason = why_unusable(fault);
  } else if (demux_.is_broken()) {
    reason = Error(Errc::bad_record, "the kernel's output ring is unusable");
  }
  if (!reason) {
    // A slice that used up its budget leaves the rest to the next one.
    executor.go_on(kernel());
    return;
  }
  close(*reason);
  fail_all(*reason);
}

// --- metrics ----------------------------------------------------------------------------------

std::vector<Channel::InFlight> Channel::longest_in_flight(std::size_t count) {
  std::vector<InFlight> found;
  if (shared_.latencies == nullptr) return found;
  const auto longest_first = [](const InFlight& a, const InFlight& b) {
    return a.accepted_ns < b.accepted_ns;
  };
  // The `count` longest so far are a heap with the shortest of them on top.
  shared_.pending.for_each_armed([&](MessageId id, const Slot& slot) {
    found.push_back({id, slot.accepted_ns.load(std::memory_order_relaxed)});  // a metric
    std::ranges::push_heap(found, longest_first);
    if (found.size() <= count) return;
    std::ranges::pop_heap(found, longest_first);
    found.pop_back();
  });
  std::ranges::sort_heap(found, longest_first);
  return found;
}

}  // namespace ringkernel::bridge
