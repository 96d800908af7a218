#include "bridge/channel/reply_demux.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <string>
#include <utility>

#include "bridge/channel/interruption.hpp"
#include "bridge/idle.hpp"
#include "ringkernel/protocol/fault.h"

namespace ringkernel::bridge {
namespace {

/// Zero where they are the other way round.
std::uint64_t span_ns(std::uint64_t from_ns, std::uint64_t to_ns) noexcept {
  return to_ns > from_ns ? to_ns - from_ns : 0;
}

/// How the device says that a message failed. A handler's own fault is one code, whatever its
/// number.
void take_fault(const rk_record_header& header, Outcome& outcome) noexcept {
  if (header.fault == RK_FAULT_deadline_passed) {
    outcome.error = make_error_code(Errc::deadline_exceeded);
    (void)with_memory([&] { outcome.detail = "while the device was at work on it"; });
    return;
  }
  const bool is_handlers = header.fault > RK_FAULT_HANDLER_BASE;
  outcome.error =
      make_error_code(is_handlers ? Errc::handler_fault : static_cast<Errc>(header.fault));
  outcome.fault_code = is_handlers ? header.fault - RK_FAULT_HANDLER_BASE : 0;
  outcome.fault_detail = header.fault_detail;
  outcome.selector = header.selector;
}
}  // namespace

std::optional<std::size_t> ReplyDemux::try_drain() noexcept {
  const std::unique_lock lock(consume_lock_, std::try_to_lock);
  if (!lock.owns_lock()) return std::nullopt;
  return drain();
}

std::size_t ReplyDemux::drain() noexcept {
  if (retired_) return 0;
  std::size_t delivered = 0;
  Arrivals arrivals;
  while (const rk_record_header* header = consumer_.front()) {
    deliver(*header, arrivals);
    consumer_.pop();
    ++delivered;
    if (arrivals.count == arrivals.ids.size()) put_in_mailbox(arrivals);
  }
  put_in_mailbox(arrivals);
  if (consumer_.corrupt()) broken_.store(true, std::memory_order_relaxed);  // stands alone
  if (delivered == 0) return 0;
  consumer_.release();
  full_fence();  // release before the look at the note; pairs with rk_claim_or_wait
  if (shared_.executor.backpressured(shared_.kernel)) {
    send_.ring();
    shared_.executor.wake(shared_.kernel, Executor::Wake::launch);
  }
  return delivered;
}

void ReplyDemux::deliver(const rk_record_header& header, Arrivals& arrivals) noexcept {
  bool asleep = false;
  shared_.leases.answered(header.correlation_id);
  shared_.methods.count(header.selector, header.fault != 0);
  Slot* const slot = header.kind == RK_RECORD_REPLY
                         ? shared_.pending.claim(header.correlation_id, &asleep)
                         : nullptr;
  // release: its slot is taken; pairs with the acquire in has_overrun
  if (header.fault == RK_FAULT_program_overran) [[unlikely]]
    has_overrun_.store(true, std::memory_order_release);
  if (slot == nullptr) {
    bump(shared_.counts.late);
    return;
  }
  Outcome& outcome = slot->outcome;
  outcome.id = header.correlation_id;
  outcome.error = error_code();
  outcome.fault_detail = 0;
  outcome.version = header.flags;
  if (header.fault != 0) {
    take_fault(header, outcome);
    if (header.fault == RK_FAULT_deadline_passed)
      shared_.counts.expired.fetch_add(1, std::memory_order_relaxed);
  } else if (sizeof header + header.payload_bytes > header.length) {
    outcome.error = make_error_code(Errc::bad_record);
  } else if (const std::span reply(reinterpret_cast<const std::byte*>(&header + 1),
                                   header.payload_bytes);
             slot->reply_place == nullptr || !slot->reply_place->take(reply)) {
    outcome.payload = MessageBuffer::try_make(reply.size());
    std::copy_n(reply.data(), outcome.payload.size(), outcome.payload.data());
    if (outcome.payload.size() != header.payload_bytes) [[unlikely]]
      outcome.error = make_error_code(Errc::allocation_failure);
  }
  // relaxed: claim has acquired the slot, and the reply what was stored before its request
  if (slot->entered_ns.load(std::memory_order_relaxed) != 0) [[unlikely]]
    note_reply(*slot, header);
  // Counted first: whoever has the outcome finds it in the metrics.
  bump(outcome.error ? shared_.counts.faulted : shared_.counts.replied);
  if (slot->receiver.load(std::memory_order_relaxed) == Receiver::mailbox)  // acquired by claim
    arrivals.ids[arrivals.count++] = outcome.id;
  else
    settle(*slot, asleep);
}

void ReplyDemux::note_reply(Slot& slot, const rk_record_header& reply) noexcept {
  // relaxed: as above
  const std::uint64_t accepted_ns = slot.accepted_ns.load(std::memory_order_relaxed);
  const std::uint64_t entered_ns = slot.entered_ns.load(std::memory_order_relaxed);
  slot.replied_ns = std::max(shared_.clock.sample_ns(), entered_ns);
  shared_.latencies->host_queue.record_alone(span_ns(accepted_ns, entered_ns));
  shared_.latencies->device.record_alone(span_ns(entered_ns, slot.replied_ns));
  slot.outcome.selector = reply.selector;  // for the trace
  shared_.methods.record(reply.selector, span_ns(accepted_ns, slot.replied_ns));
  slot.taken_ns = reply.done_ticks != 0 ? shared_.clock.ns_of_ticks(reply.taken_ticks) : 0;
  if (slot.taken_ns == 0) return;
  // A device whose clock is wrong must not spoil the sums.
  slot.taken_ns = std::clamp(slot.taken_ns, entered_ns, slot.replied_ns);
  slot.done_ns =
      std::clamp(shared_.clock.ns_of_ticks(reply.done_ticks), slot.taken_ns, slot.replied_ns);
  shared_.latencies->to_device.record_alone(slot.taken_ns - entered_ns);
  shared_.latencies->executor.record_alone(slot.done_ns - slot.taken_ns);
  shared_.latencies->to_host.record_alone(slot.replied_ns - slot.done_ns);
}

void ReplyDemux::record_delivery(const Slot& slot) noexcept {
  const std::uint64_t now_ns = std::max(shared_.clock.sample_ns(), slot.replied_ns);
  const std::uint64_t accepted_ns = slot.accepted_ns.load(std::memory_order_relaxed);
  shared_.latencies->delivery.record(span_ns(slot.replied_ns, now_ns));
  shared_.latencies->total.record(span_ns(accepted_ns, now_ns));
  if (shared_.limits.trace == nullptr) return;
  shared_.limits.trace->note([&] {
    TraceEvent event = TraceEvent::of(TraceKind::message, slot.outcome.id, accepted_ns, now_ns,
                                      shared_.limits.name);
    event.selector = slot.outcome.selector;
    event.entered_ns = slot.entered_ns.load(std::memory_order_relaxed);  // the receiver's own slot
    event.taken_ns = slot.taken_ns;
    event.done_ns = slot.taken_ns != 0 ? slot.done_ns : 0;
    event.replied_ns = slot.replied_ns;
    return event;
  });
}

void ReplyDemux::settle(Slot& slot, bool asleep) noexcept {
  const MessageId id = slot.outcome.id;
  switch (slot.receiver.load(std::memory_order_relaxed)) {  // acquired with the claim
    case Receiver::waiter: shared_.pending.finish(slot, asleep); break;
    case Receiver::completion: {
      Completion* const completion = slot.completion;
      if (slot.assisted.exchange(false)) shared_.demand.assisted.fetch_sub(1);
      shared_.demand.completions.fetch_sub(1, std::memory_order_relaxed);
      completion->complete(take(id));
      break;
    }
    case Receiver::mailbox: to_mailbox({&id, 1}); break;
  }
}

void ReplyDemux::end(MessageId id, error_code error, std::string_view detail) noexcept {
  std::string text;  // before the slot is claimed
  (void)with_memory([&] { text = detail; });
  bool asleep = false;
  Slot* const slot = shared_.pending.claim(id, &asleep);
  if (slot == nullptr) return;
  if (error == make_error_code(Errc::deadline_exceeded))
    shared_.counts.expired.fetch_add(1, std::memory_order_relaxed);
  if (error == make_error_code(Errc::message_dropped))
    shared_.counts.dropped.fetch_add(1, std::memory_order_relaxed);
  if (error == boost::asio::error::operation_aborted)
    shared_.counts.cancelled.fetch_add(1, std::memory_order_relaxed);
  slot->outcome.id = id;
  slot->outcome.error = error;
  slot->outcome.detail = std::move(text);
  slot->outcome.fault_detail = 0;
  shared_.counts.ended.fetch_add(1, std::memory_order_relaxed);
  settle(*slot, asleep);
}

bool ReplyDemux::cancel(MessageId id) noexcept {
  if (!shared_.pending.armed(id)) return false;
  end(id, boost::asio::error::operation_aborted, "cancelled");
  return true;
}

Outcome ReplyDemux::wait(MessageId id, Timeout timeout) noexcept {
  const Interruption interruption;
  for (;;) {
    if (consume_lock_.try_lock()) {
      lead(id, timeout);
      consume_lock_.unlock();
      if (shared_.demand.sleepers.load() != 0)
        shared_.demand.wake();  // nobody leads any more; the bridge may be dozing
    } else {
      for (std::uint32_t poll = 0; poll < WaitStrategy::follower_polls && !shared_.pending.done(id);
           ++poll)
        cpu_pause();
    }
    if (shared_.pending.done(id)) return take(id);
    const std::uint64_t now_ns = shared_.clock.now_ns();
    const std::uint64_t deadline_ns = timeout.deadline_ns(now_ns);
    if (deadline_ns <= now_ns) {
      end(id, make_error_code(Errc::deadline_exceeded), "while waiting for the reply");
      continue;  // whoever won the slot finishes it: it is done, or about to be
    }
    const Counted sleeping(shared_.demand.sleepers);
    full_fence();  // the count before the look whether the bridge sleeps; pairs with Bridge::sleep
    shared_.demand.wake();
    if (!shared_.pending.sleep(id)) continue;
    Slot& slot = shared_.pending.slot(id);
    const std::uint64_t wakes_ns = interruption.wakes_at(deadline_ns, now_ns);
    if (wakes_ns == no_deadline) {
      slot.wake_up.acquire();
    } else if (!slot.wake_up.try_acquire_for(time_left(wakes_ns, now_ns))) {
      if (!shared_.pending.stay_awake(id))
        slot.wake_up.acquire();  // claimed meanwhile: the token is on its way
      else if (interruption.came())
        end(id, boost::asio::error::operation_aborted, "interrupted");
    }
  }
}

void ReplyDemux::lead(MessageId id, Timeout& timeout) {
  if (retired_) return;  // the end of the kernel ends the message; the executor may be gone
  WaitStrategy::Lead lead;
  for (;;) {
    std::uint32_t looks = WaitStrategy::looks_per_poll;
    while (consumer_.empty() && --looks != 0) {
    }
    if (looks != 0 && drain() != 0 && shared_.pending.done(id)) return;
    const bool leaves_core =
        lead.next_looks_at_core() && shared_.executor.needs_core(shared_.kernel);
    if (!lead.is_turn_over() && !leaves_core) {
      lead.pause();
      continue;
    }
    const std::uint64_t now_ns = shared_.clock.now_ns();
    const WaitStrategy::Step step =
        strategy_.lead(lead, now_ns,
                       {.is_starting = shared_.executor.starting(shared_.kernel),
                        .tells_core = shared_.executor.tells_core(shared_.kernel),
                        .needs_core = leaves_core});
    if (shared_.pending.done(id) || now_ns >= timeout.deadline_ns(now_ns) ||
        step == WaitStrategy::Step::stop || ending_.load(std::memory_order_relaxed))  // advice
      return;
    (void)housekeeping_.do_housekeeping(now_ns);
    if (step == WaitStrategy::Step::hand_over) shared_.executor.note_handover();
    strategy_.rest(step);
  }
}

void ReplyDemux::assist(MessageId id, std::uint64_t submitted_ns) {
  const std::uint64_t begin_ns = shared_.clock.now_ns();
  bool in_vain = strategy_.is_long(begin_ns - submitted_ns);
  for (std::uint32_t poll = 1; shared_.pending.armed(id); ++poll) {
    if (try_drain().value_or(0) != 0) continue;
    if (poll % WaitStrategy::assist_clock_polls != 0 ||
        strategy_.assists_on(shared_.clock.now_ns() - begin_ns))
      continue;
    // Where the next one may run on its sender's thread, a pause would bring others to the rings,
    // who then stand in its way.
    in_vain = in_vain || !runs_on_caller_;
    leave_to_bridge(id);
    break;
  }
  strategy_.note_assist(in_vain);
}

void ReplyDemux::leave_to_bridge(MessageId id) noexcept {
  if (!shared_.pending.slot(id).assisted.exchange(false)) return;
  shared_.demand.assisted.fetch_sub(1);
  full_fence();  // pairs with Bridge::sleep
  shared_.demand.wake_if_needed(false);
}

bool ReplyDemux::try_retire() noexcept {
  const std::unique_lock lock(consume_lock_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  (void)drain();  // replies that were made before the end are replies
  retired_ = true;
  return true;
}

Outcome ReplyDemux::take(MessageId id) {
  Outcome outcome = take(id, shared_.pending);
  send_.room_made();
  return outcome;
}

void ReplyDemux::to_mailbox(std::span<const MessageId> ids) noexcept {
  shared_.mailbox.put(
      ids, [this](Completion& completion, MessageId id) { completion.complete(take(id)); });
}

void ReplyDemux::put_in_mailbox(Arrivals& arrivals) noexcept {
  if (arrivals.count == 0) return;
  to_mailbox(std::span(arrivals.ids).first(arrivals.count));
  arrivals.count = 0;
}

}  // namespace ringkernel::bridge
