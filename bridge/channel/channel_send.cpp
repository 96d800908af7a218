// The sending half of a channel: claim, queue, admit, policies.
#include <algorithm>
#include <string>
#include <utility>

#include "bridge/channel/channel.hpp"
#include "bridge/channel/interruption.hpp"

namespace ringkernel::bridge {
namespace {

std::uint32_t payload_limit(const RingView& ring) noexcept {
  return static_cast<std::uint32_t>(RK_RING_RECORD_MAX(ring.capacity) - sizeof(rk_record_header));
}

}  // namespace

Channel::Channel(Executor& executor, std::uint32_t kernel, const RingView& input,
                 const RingView& output, const ChannelLimits& limits, const Clock& clock,
                 Nudge& nudge)
    : executor_(executor),
      kernel_(kernel),
      limits_(limits),
      clock_(clock),
      nudge_(nudge),
      pending_(limits.in_flight_max),
      payload_bytes_max_(payload_limit(input)),
      reply_bytes_max_(payload_limit(output)),
      latencies_(limits.sample_every != 0 ? Latencies::make() : nullptr),
      producer_(input),
      sampler_(limits.sample_every),
      consumer_(output),
      mailbox_(limits.in_flight_max) {}

Result<rk_record_header*> Channel::claim_record(const Envelope& envelope) {
  if (closed_) return close_reason_;
  if (envelope.deadline_ns != no_deadline && clock_.coarse_ns() >= envelope.deadline_ns) {
    counters_.expired.fetch_add(1, std::memory_order_relaxed);
    return Error(Errc::deadline_exceeded, "before the message was accepted");
  }
  if (envelope.payload_bytes > payload_bytes_max_)
    return Error(Errc::message_too_large, std::to_string(envelope.payload_bytes) +
                                              " bytes; the input ring takes " +
                                              std::to_string(payload_bytes_max_));
  if (envelope.reply_bytes > reply_bytes_max_)
    return Error(Errc::message_too_large, "the reply has " + std::to_string(envelope.reply_bytes) +
                                              " bytes; the output ring takes " +
                                              std::to_string(reply_bytes_max_));
  if (executor_.failed()) return executor_.failure();
  // What is queued goes first: a record past it would overtake.
  rk_record_header* header = nullptr;
  if (queue_.empty() && waiting_.empty()) header = producer_.try_claim(envelope.payload_bytes);
  return header;
}

void Channel::commit_record(rk_record_header* header, const Envelope& envelope, MessageId id,
                            bool timed) {
  header->kind = RK_RECORD_REQUEST;
  header->flags = timed ? RK_RECORD_TIMED : 0;
  header->correlation_id = id;
  header->payload_bytes = envelope.payload_bytes;
  header->selector = envelope.selector;
  header->prefix_offset = envelope.prefix_offset;
  header->prefix_bytes = envelope.prefix_bytes;
  header->reply_bytes = envelope.reply_bytes;
  header->fault = 0;
  header->fault_detail = envelope.deadline_ns != no_deadline ? envelope.deadline_ns : 0;
  header->taken_ticks = 0;
  header->done_ticks = envelope.timeout_ns != no_deadline ? envelope.timeout_ns : 0;
  if (envelope.hold != nullptr) [[unlikely]]
    holds_.add(id, envelope.hold);
  producer_.commit();
}

void Channel::publish_records() noexcept {
  producer_.publish();
  executor_.ring(kernel_);
  producer_.prefetch_next();
}

Result<Room> Channel::make_room(Ended& ended, std::int32_t priority) {
  // relaxed: (send) is held
  if (waiting_.empty() && queued_.load(std::memory_order_relaxed) < limits_.queue_max)
    return Room::found;
  const bool has_slot = pending_.available();
  // Without a free slot the new message could not take the place of the old one.
  if (limits_.policy == Policy::drop_oldest && has_slot && !queue_.empty()) {
    if (drop_oldest(ended, priority)) return Room::found;
    counters_.dropped.fetch_add(1, std::memory_order_relaxed);
    return Error(Errc::message_dropped,
                 "ring and queue are full, and all that is queued has a higher priority");
  }
  RK_TRY_VOID(refuse(!has_slot));
  return Room::none;
}

Result<void> Channel::refuse(bool slots_are_taken) {
  switch (limits_.policy) {
    case Policy::block: return {};
    case Policy::drop_newest:
    case Policy::drop_oldest:
      counters_.dropped.fetch_add(1, std::memory_order_relaxed);
      return Error(Errc::message_dropped, why_no_room(slots_are_taken));
    case Policy::reject: break;
  }
  return Error(Errc::queue_full, why_no_room(slots_are_taken));
}

/// The oldest is the one at the front of the lowest priority that has one; none whose priority is
/// higher than the newcomer's. The queue is not empty.
bool Channel::drop_oldest(Ended& ended, std::int32_t priority) noexcept {
  const auto lowest = std::prev(queue_.end());
  if (lowest->first > priority) return false;
  ended.ids[ended.count++] = lowest->second.front().id;
  ended.dropped = true;
  lowest->second.front().envelope.release_hold();
  lowest->second.pop_front();
  if (lowest->second.empty()) queue_.erase(lowest);
  queued_.fetch_sub(1);
  return true;
}

bool Channel::accept(Receiver receiver, const Envelope& envelope) noexcept {
  bump(counters_.accepted);  // published with the record
  if (receiver == Receiver::completion) completions_.fetch_add(1, std::memory_order_relaxed);
  if (envelope.assisted) assisted_.fetch_add(1, std::memory_order_relaxed);
  return lower_next_deadline(envelope.deadline_ns);
}

void Channel::enqueue(MessageId id, Bucket& message, Bucket& to) noexcept {
  message.front().id = id;
  to.splice(to.end(), message);
  queued_.fetch_add(1);
}

void Channel::drop_empty_bucket(std::int32_t priority) noexcept {
  const auto bucket = queue_.find(priority);
  if (bucket != queue_.end() && bucket->second.empty()) queue_.erase(bucket);
}

bool Channel::must_launch(Executor::Wake how) noexcept {
  const bool launch = executor_.must_launch(kernel_, how);
  if (launch) ++senders_in_;
  return launch;
}

void Channel::after_submit(Executor::Wake how, bool launch, bool deadline_lowered) noexcept {
  if (launch) {
    executor_.launch(kernel_, how);
    senders_out_.fetch_add(1, std::memory_order_release);  // pairs with the acquire in try_retire
  }
  nudge_if_needed(deadline_lowered);
}

std::size_t Channel::flush(std::uint64_t now_ns, Ended& ended) noexcept {
  std::size_t left = 0;  // the queue, for the ring or because they had ended
  while (!queue_.empty() && !ended.full()) {
    auto bucket = queue_.begin();  // highest priority
    Queued& next = bucket->second.front();
    const bool armed = pending_.armed(next.id);
    if (!armed || next.envelope.deadline_ns <= now_ns) {
      next.envelope.release_hold();
      if (armed) ended.ids[ended.count++] = next.id;
    } else {
      rk_record_header* header = producer_.try_claim(next.envelope.payload_bytes);
      if (header == nullptr) break;
      // relaxed: this thread, or one before with (send), has armed the slot; nobody arms it anew
      std::atomic<std::uint64_t>& entered_ns = pending_.slot(next.id).entered_ns;
      const std::uint64_t queued_ns = entered_ns.load(std::memory_order_relaxed);
      const bool timed = queued_ns != 0;
      if (timed)
        entered_ns.store(std::max(clock_.sample_ns(), queued_ns), std::memory_order_relaxed);
      std::copy_n(next.payload.data(), next.payload.size(),
                  reinterpret_cast<std::byte*>(header + 1));
      commit_record(header, next.envelope, next.id, timed);
      publish_records();
    }
    ++left;
    bucket->second.pop_front();
    if (bucket->second.empty()) queue_.erase(bucket);
    queued_.fetch_sub(1);
  }
  return left;
}

std::size_t Channel::admit(std::list<Waiting>& admitted) noexcept {
  const std::uint64_t now_ns = clock_.now_ns();
  bool full = false;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto here = next++;
    const Envelope& envelope = here->envelope();
    if (here->leaves_ns() <= now_ns) {
      envelope.release_hold();
    } else {
      Bucket* bucket = nullptr;  // without memory for it there is no room
      if (!full && queued_.load() - waiting_.size() < limits_.queue_max)
        (void)with_memory([&] { bucket = &queue_[envelope.priority]; });
      std::optional<MessageId> id;
      if (bucket != nullptr)
        id = pending_.acquire(here->receiver, envelope.deadline_ns, here->completion,
                              envelope.assisted, here->stamp);
      if (!id) {
        if (bucket != nullptr) drop_empty_bucket(envelope.priority);
        full = true;  // nobody overtakes, but whose time is up leaves
        continue;
      }
      (void)accept(here->receiver, envelope);
      enqueue(*id, here->message, *bucket);
      here->ticket = *id;  // what is told
    }
    admitted.splice(admitted.end(), waiting_, here);
    queued_.fetch_sub(1);
  }
  return admitted.size();
}

std::uint64_t Channel::submit_later(const Envelope& envelope, Receiver receiver,
                                    Completion* completion, MessageBuffer payload,
                                    Admission admission, std::uint64_t patience_ns) noexcept {
  std::list<Waiting> submission;
  const bool has_memory = with_memory([&] {
    submission.push_back({0, receiver, completion, {}, nullptr, {}, patience_ns});
    submission.front().message.push_back({0, envelope, std::move(payload)});
  });
  if (!has_memory) {
    envelope.release_hold();
    admission(no_memory());
    return 0;
  }
  std::unique_lock lock(send_mutex_);
  const std::uint64_t ticket = next_ticket_++;
  if (closed_) {
    lock.unlock();
    envelope.release_hold();
    admission(close_reason_);  // written once, before closed_
    return ticket;
  }
  submission.front().ticket = ticket;
  submission.front().admission = std::move(admission);
  submission.front().stamp = stamp(sampler_, coarse_ns());
  const auto place = std::ranges::find_if(waiting_, [&](const Waiting& other) {
    return other.envelope().priority < envelope.priority;
  });
  waiting_.splice(place, submission);
  queued_.fetch_add(1);
  const bool deadline_lowered = lower_next_deadline(std::min(envelope.deadline_ns, patience_ns));
  lock.unlock();
  full_fence();  // pairs with Bridge::sleep
  nudge_if_needed(deadline_lowered);
  return ticket;
}

bool Channel::withdraw(std::uint64_t ticket) noexcept {
  const std::lock_guard lock(send_mutex_);
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& w) { return w.ticket == ticket; });
  if (found == waiting_.end()) return false;
  counters_.cancelled.fetch_add(1, std::memory_order_relaxed);
  found->envelope().release_hold();
  waiting_.erase(found);
  queued_.fetch_sub(1);
  return true;
}

std::string Channel::why_no_room(bool slots_are_taken) const {
  const std::size_t answered = unreceived();
  if (answered >= limits_.in_flight_max)
    return "nobody receives: " + std::to_string(answered) + " answered messages wait";
  std::string answered_text;
  if (answered != 0)
    answered_text = "; nobody has received " + std::to_string(answered) + " answered messages";
  if (slots_are_taken)
    return "all " + std::to_string(limits_.in_flight_max) + " in-flight places are taken" +
           answered_text;
  return "the ring and " + std::to_string(limits_.queue_max) + " places on the host are full" +
         answered_text;
}

/// Of a message whose deadline this is, if it is not over only its sender's patience is.
Error Channel::waited_in_vain(std::uint64_t deadline_ns, std::uint64_t now_ns) noexcept {
  const bool is_late = deadline_ns <= now_ns;
  if (is_late) counters_.expired.fetch_add(1, std::memory_order_relaxed);
  Error error(make_error_code(is_late ? Errc::deadline_exceeded : Errc::queue_full));
  (void)with_memory([&] {
    error.detail = (is_late ? "while waiting for room: " : "") +
                   why_no_room(pending_.in_use() >= limits_.in_flight_max);
  });
  return error;
}

Result<void> Channel::wait_for_room(std::uint64_t deadline_ns, std::uint64_t patience_ns) {
  // The count goes up before the last look, so that whoever makes room after it sees the count.
  const Counted waiting(room_waiters_);
  std::unique_lock lock(room_mutex_);
  const std::uint64_t epoch = room_epoch_;
  lock.unlock();
  full_fence();
  (void)try_drain();
  try_chores();
  {
    const std::lock_guard send_lock(send_mutex_);
    if (closed_) return close_reason_;
    if (waiting_.empty() && queued_.load() < limits_.queue_max &&
        pending_.in_use() < limits_.in_flight_max)
      return {};
  }
  if (needs_bridge()) nudge_.nudge();
  lock.lock();
  const auto room = [&] { return room_epoch_ != epoch; };
  const std::uint64_t until_ns = std::min(deadline_ns, patience_ns);
  const Interruption interruption;
  const std::uint64_t now_ns = clock_.now_ns();
  const std::uint64_t wakes_ns = interruption.wakes_at(until_ns, now_ns);
  if (wakes_ns == no_deadline) {
    room_changed_.wait(lock, room);
    return {};
  }
  if (room_changed_.wait_for(lock, time_left(wakes_ns, now_ns), room)) return {};
  lock.unlock();
  if (wakes_ns < until_ns) {
    if (interruption.came()) return Interruption::error();
    return {};
  }
  // What was waited for is what is over: the clock may be a little behind the wait.
  return waited_in_vain(deadline_ns, std::max(clock_.now_ns(), until_ns));
}

void Channel::room_made() noexcept {
  if (limits_.policy != Policy::block) return;  // nobody waits for room
  full_fence();                                 // pairs with the fence in wait_for_room
  if (room_waiters_.load(std::memory_order_relaxed) == 0) return;
  {
    const std::lock_guard lock(room_mutex_);
    ++room_epoch_;
  }
  room_changed_.notify_all();
}

void Channel::finish_ended(const Ended& ended) noexcept {
  for (const MessageId id : std::span(ended.ids).first(ended.count)) {
    if (ended.dropped)
      end(id, make_error_code(Errc::message_dropped),
          "a later message took its place in the queue");
    else
      end(id, make_error_code(Errc::deadline_exceeded), "while queued on the host");
  }
}

std::uint32_t Channel::set_state(std::uint32_t state) {
  std::uint32_t epoch = 0;
  {
    const std::lock_guard lock(send_mutex_);
    epoch = executor_.set_state(kernel_, state);
  }
  executor_.wake(kernel_, Executor::Wake::launch);
  return epoch;
}

void Channel::close(const Error& reason) noexcept {
  std::list<Waiting> waiting;
  {
    const std::lock_guard lock(send_mutex_);
    if (closed_) return;
    closed_ = true;
    ending_.store(true, std::memory_order_relaxed);  // pairs with lead; the bridge comes anyway
    close_reason_ = reason;
    waiting.swap(waiting_);
    queued_.fetch_sub(waiting.size());
  }
  for (Waiting& submission : waiting) {
    submission.envelope().release_hold();
    submission.admission(reason);
  }
  room_made();
}

}  // namespace ringkernel::bridge
