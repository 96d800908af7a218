// The receiving half of a channel: demultiplexing, waiting, mailbox, the ends of messages.
#include <algorithm>
#include <boost/asio/error.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "bridge/channel/channel.hpp"
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

// --- demultiplexer ----------------------------------------------------------------------------

std::optional<std::size_t> Channel::try_drain() noexcept {
  const std::unique_lock lock(consume_lock_, std::try_to_lock);
  if (!lock.owns_lock()) return std::nullopt;
  return drain();
}

std::size_t Channel::drain() noexcept {
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
  if (executor_.backpressured(kernel_)) {
    {
      const std::lock_guard lock(send_mutex_);
      executor_.ring(kernel_);
    }
    executor_.wake(kernel_, Executor::Wake::launch);
  }
  return delivered;
}

void Channel::deliver(const rk_record_header& header, Arrivals& arrivals) noexcept {
  bool asleep = false;
  holds_.answered(header.correlation_id);
  methods_.count(header.selector, header.fault != 0);
  Slot* const slot =
      header.kind == RK_RECORD_REPLY ? pending_.claim(header.correlation_id, &asleep) : nullptr;
  // release: its slot is taken; pairs with the acquire in check_device
  if (header.fault == RK_FAULT_program_overran) [[unlikely]]
    has_overrun_.store(true, std::memory_order_release);
  if (slot == nullptr) {
    bump(counters_.late);
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
      counters_.expired.fetch_add(1, std::memory_order_relaxed);
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
  // Counted first: whoever has the outcome finds it in the figures.
  bump(outcome.error ? counters_.faulted : counters_.replied);
  if (slot->receiver.load(std::memory_order_relaxed) == Receiver::mailbox)  // acquired by claim
    arrivals.ids[arrivals.count++] = outcome.id;
  else
    settle(*slot, asleep);
}

void Channel::note_reply(Slot& slot, const rk_record_header& reply) noexcept {
  // relaxed: as above
  const std::uint64_t accepted_ns = slot.accepted_ns.load(std::memory_order_relaxed);
  const std::uint64_t entered_ns = slot.entered_ns.load(std::memory_order_relaxed);
  slot.replied_ns = std::max(clock_.sample_ns(), entered_ns);
  latencies_->host_queue.record_alone(span_ns(accepted_ns, entered_ns));
  latencies_->device.record_alone(span_ns(entered_ns, slot.replied_ns));
  slot.outcome.selector = reply.selector;  // for the trace
  methods_.record(reply.selector, span_ns(accepted_ns, slot.replied_ns));
  slot.taken_ns = reply.done_ticks != 0 ? clock_.ns_of_ticks(reply.taken_ticks) : 0;
  if (slot.taken_ns == 0) return;
  // A device whose clock is wrong must not spoil the sums.
  slot.taken_ns = std::clamp(slot.taken_ns, entered_ns, slot.replied_ns);
  slot.done_ns = std::clamp(clock_.ns_of_ticks(reply.done_ticks), slot.taken_ns, slot.replied_ns);
  latencies_->to_device.record_alone(slot.taken_ns - entered_ns);
  latencies_->executor.record_alone(slot.done_ns - slot.taken_ns);
  latencies_->to_host.record_alone(slot.replied_ns - slot.done_ns);
}

void Channel::note_receipt(const Slot& slot) noexcept {
  const std::uint64_t now_ns = std::max(clock_.sample_ns(), slot.replied_ns);
  const std::uint64_t accepted_ns = slot.accepted_ns.load(std::memory_order_relaxed);
  latencies_->delivery.record(span_ns(slot.replied_ns, now_ns));
  latencies_->total.record(span_ns(accepted_ns, now_ns));
  if (limits_.trace == nullptr) return;
  limits_.trace->note([&] {
    TraceEvent event =
        TraceEvent::of(TraceKind::message, slot.outcome.id, accepted_ns, now_ns, limits_.name);
    event.selector = slot.outcome.selector;
    event.entered_ns = slot.entered_ns.load(std::memory_order_relaxed);  // the receiver's own slot
    event.taken_ns = slot.taken_ns;
    event.done_ns = slot.taken_ns != 0 ? slot.done_ns : 0;
    event.replied_ns = slot.replied_ns;
    return event;
  });
}

void Channel::settle(Slot& slot, bool asleep) noexcept {
  const MessageId id = slot.outcome.id;
  switch (slot.receiver.load(std::memory_order_relaxed)) {  // acquired with the claim
    case Receiver::waiter: pending_.finish(slot, asleep); break;
    case Receiver::completion: {
      Completion* const completion = slot.completion;
      if (slot.assisted.exchange(false)) assisted_.fetch_sub(1);
      completions_.fetch_sub(1, std::memory_order_relaxed);
      completion->complete(take(id));
      break;
    }
    case Receiver::mailbox: to_mailbox({&id, 1}); break;
  }
}

void Channel::end(MessageId id, error_code error, std::string_view detail) noexcept {
  std::string text;  // before the slot is claimed
  (void)with_memory([&] { text = detail; });
  bool asleep = false;
  Slot* const slot = pending_.claim(id, &asleep);
  if (slot == nullptr) return;
  if (error == make_error_code(Errc::deadline_exceeded))
    counters_.expired.fetch_add(1, std::memory_order_relaxed);
  if (error == make_error_code(Errc::message_dropped))
    counters_.dropped.fetch_add(1, std::memory_order_relaxed);
  if (error == boost::asio::error::operation_aborted)
    counters_.cancelled.fetch_add(1, std::memory_order_relaxed);
  slot->outcome.id = id;
  slot->outcome.error = error;
  slot->outcome.detail = std::move(text);
  slot->outcome.fault_detail = 0;
  counters_.ended.fetch_add(1, std::memory_order_relaxed);
  settle(*slot, asleep);
}

bool Channel::cancel(MessageId id) noexcept {
  if (!pending_.armed(id)) return false;
  end(id, boost::asio::error::operation_aborted, "cancelled");
  return true;
}

void Channel::fail_all(const Error& reason) noexcept {
  end_armed([](const Slot&) { return true; }, reason.code, reason.detail);
  std::list<WaitingReceiver> receivers;
  {
    const std::lock_guard lock(mailbox_mutex_);
    mailbox_closed_ = true;
    mailbox_close_reason_ = reason;
    receivers.swap(receivers_);
    receivers_waiting_.fetch_sub(receivers.size());
  }
  mailbox_changed_.notify_all();
  for (const WaitingReceiver& receiver : receivers)
    receiver.completion->complete(no_message(reason));
}

bool Channel::try_retire() noexcept {
  {
    const std::unique_lock lock(consume_lock_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    (void)drain();  // replies that were made before the end are replies
    retired_ = true;
  }
  const std::lock_guard lock(send_mutex_);
  // acquire: the sender is done with the executor; pairs with the release in after_submit
  if (senders_in_ != senders_out_.load(std::memory_order_acquire)) return false;
  std::size_t queued = 0;
  for (const auto& [priority, bucket] : queue_) {
    for (const Queued& message : bucket) message.envelope.release_hold();
    queued += bucket.size();
  }
  queue_.clear();
  queued_.fetch_sub(queued);
  return true;
}

Outcome Channel::take(MessageId id) {
  Outcome outcome = take(id, pending_);
  room_made();
  return outcome;
}

// --- mailbox ----------------------------------------------------------------------------------

void Channel::to_mailbox(std::span<const MessageId> ids) noexcept {
  while (!ids.empty()) {
    Completion* completion = nullptr;
    {
      const std::lock_guard lock(mailbox_mutex_);
      if (receivers_.empty()) {
        for (const MessageId id : ids) mailbox_.push_back(id);  // each has a slot of its own
      } else {
        completion = receivers_.front().completion;
        receivers_.pop_front();
        receivers_waiting_.fetch_sub(1);
      }
    }
    if (completion == nullptr) break;
    completion->complete(take(ids.front()));
    ids = ids.subspan(1);
  }
  if (!ids.empty() && receivers_waiting_.load() != 0) mailbox_changed_.notify_all();
}

void Channel::put_in_mailbox(Arrivals& arrivals) noexcept {
  if (arrivals.count == 0) return;
  to_mailbox(std::span(arrivals.ids).first(arrivals.count));
  arrivals.count = 0;
}

std::size_t Channel::unreceived() const {
  const std::lock_guard lock(mailbox_mutex_);
  return mailbox_.size();
}

std::optional<MessageId> Channel::pop_mailbox() {
  if (mailbox_.empty()) return std::nullopt;
  const MessageId id = mailbox_.front();
  mailbox_.pop_front();
  return id;
}

Outcome Channel::receive(Timeout timeout) {
  MessageId id = 0;
  Result<std::size_t> received = await_mailbox({&id, 1}, timeout);
  return received ? take(id) : no_message(std::move(received).error());
}

Result<std::size_t> Channel::await_mailbox(std::span<MessageId> ids, Timeout timeout) {
  const Interruption interruption;
  std::uint64_t start_ns = 0;
  for (;;) {
    {
      const std::lock_guard lock(mailbox_mutex_);
      const std::size_t count = std::min(mailbox_.size(), ids.size());
      if (count != 0) {
        std::copy_n(mailbox_.begin(), count, ids.begin());
        mailbox_.erase_begin(count);
        return count;
      }
      if (mailbox_closed_) return mailbox_close_reason_;
    }
    if (try_drain().value_or(0) != 0) continue;
    const std::uint64_t now_ns = clock_.now_ns();
    if (start_ns == 0) start_ns = now_ns;
    const std::uint64_t deadline_ns = timeout.deadline_ns(now_ns);
    if (now_ns >= deadline_ns) return Error(Errc::deadline_exceeded, "no message came in time");
    try_chores();
    if (!idle() && now_ns - start_ns < limits_.spin_ns) {
      if (!hand_over()) cpu_pause();
      continue;
    }
    const Counted waiting(receivers_waiting_);
    full_fence();  // pairs with Bridge::sleep
    if (needs_bridge()) nudge_.nudge();
    std::unique_lock lock(mailbox_mutex_);
    const auto ready = [this] { return !mailbox_.empty() || mailbox_closed_; };
    const std::uint64_t wakes_ns = interruption.wakes_at(deadline_ns, now_ns);
    if (wakes_ns == no_deadline) {
      mailbox_changed_.wait(lock, ready);
      continue;
    }
    if (mailbox_changed_.wait_for(lock, time_left(wakes_ns, now_ns), ready)) continue;
    lock.unlock();
    if (interruption.came()) return Interruption::error();
  }
}

Outcome Channel::no_message(Error reason) noexcept {
  Outcome outcome;
  outcome.error = reason.code;
  outcome.detail = std::move(reason.detail);
  return outcome;
}

std::uint64_t Channel::receive_later(Completion* completion, std::uint64_t deadline_ns) {
  std::list<WaitingReceiver> receiver{{0, deadline_ns, completion}};  // nothing has changed yet
  (void)try_drain();
  std::unique_lock lock(mailbox_mutex_);
  const std::uint64_t ticket = next_receiver_++;
  if (const auto id = pop_mailbox()) {
    lock.unlock();
    completion->complete(take(*id));
  } else if (mailbox_closed_) {
    Outcome outcome = no_message(mailbox_close_reason_);
    lock.unlock();
    completion->complete(std::move(outcome));
  } else {
    receiver.front().ticket = ticket;
    receivers_.splice(receivers_.end(), receiver);
    receivers_waiting_.fetch_add(1);
    lock.unlock();
    const bool deadline_lowered = lower_next_deadline(deadline_ns);
    full_fence();  // pairs with Bridge::sleep
    nudge_if_needed(deadline_lowered);
  }
  return ticket;
}

bool Channel::stop_receiving(std::uint64_t ticket) {
  const std::lock_guard lock(mailbox_mutex_);
  const auto found = std::find_if(receivers_.begin(), receivers_.end(),
                                  [&](const WaitingReceiver& r) { return r.ticket == ticket; });
  if (found == receivers_.end()) return false;
  receivers_.erase(found);
  receivers_waiting_.fetch_sub(1);
  return true;
}

}  // namespace ringkernel::bridge
