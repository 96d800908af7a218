#include "bridge/channel/send_queue.hpp"

#include <string>
#include <utility>

#include "bridge/channel/interruption.hpp"

namespace ringkernel::bridge {
namespace {

std::uint32_t payload_limit(const RingView& ring) noexcept {
  return static_cast<std::uint32_t>(RK_RING_RECORD_MAX(ring.capacity) - sizeof(rk_record_header));
}

}  // namespace

SendQueue::SendQueue(ChannelShared& shared, const RingView& input, const RingView& output)
    : shared_(shared),
      payload_bytes_max_(payload_limit(input)),
      reply_bytes_max_(payload_limit(output)),
      room_(shared.demand.room_waiters),
      producer_(input),
      sampler_(shared.limits.sample_every) {}

Result<rk_record_header*> SendQueue::claim_record(const Envelope& envelope) {
  if (closed_) return close_reason_;
  if (envelope.deadline_ns != no_deadline && shared_.clock.coarse_ns() >= envelope.deadline_ns) {
    shared_.counts.expired.fetch_add(1, std::memory_order_relaxed);
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
  if (shared_.executor.failed()) return shared_.executor.failure();
  // What is queued goes first: a record past it would overtake.
  rk_record_header* header = nullptr;
  if (queue_.empty() && waiting_.empty()) header = producer_.try_claim(envelope.payload_bytes);
  return header;
}

void SendQueue::commit_record(rk_record_header* header, const Envelope& envelope, MessageId id,
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
  if (envelope.lease != nullptr) [[unlikely]]
    shared_.leases.add(id, envelope.lease);
  producer_.commit();
}

void SendQueue::publish_records() noexcept {
  producer_.publish();
  shared_.executor.ring(shared_.kernel);
  producer_.prefetch_next();
}

Result<Room> SendQueue::make_room(Ended& ended, std::int32_t priority) {
  // relaxed: (send) is held
  if (waiting_.empty() &&
      shared_.demand.queued.load(std::memory_order_relaxed) < shared_.limits.queue_max)
    return Room::found;
  const bool has_slot = shared_.pending.available();
  // Without a free slot the new message could not take the place of the old one.
  if (shared_.limits.policy == Policy::drop_oldest && has_slot && !queue_.empty()) {
    if (drop_oldest(ended, priority)) return Room::found;
    shared_.counts.dropped.fetch_add(1, std::memory_order_relaxed);
    return Error(Errc::message_dropped,
                 "ring and queue are full, and all that is queued has a higher priority");
  }
  RK_TRY_VOID(refuse(!has_slot));
  return Room::none;
}

Result<void> SendQueue::refuse(bool slots_are_taken) {
  switch (shared_.limits.policy) {
    case Policy::block: return {};
    case Policy::drop_newest:
    case Policy::drop_oldest:
      shared_.counts.dropped.fetch_add(1, std::memory_order_relaxed);
      return Error(Errc::message_dropped, why_no_room(slots_are_taken));
    case Policy::reject: break;
  }
  return Error(Errc::queue_full, why_no_room(slots_are_taken));
}

/// The oldest is the one at the front of the lowest priority that has one; none whose priority is
/// higher than the newcomer's. The queue is not empty.
bool SendQueue::drop_oldest(Ended& ended, std::int32_t priority) noexcept {
  const auto lowest = std::prev(queue_.end());
  if (lowest->first > priority) return false;
  ended.ids[ended.count++] = lowest->second.front().id;
  ended.dropped = true;
  lowest->second.front().envelope.release_lease();
  lowest->second.pop_front();
  if (lowest->second.empty()) queue_.erase(lowest);
  shared_.demand.queued.fetch_sub(1);
  return true;
}

bool SendQueue::accept(Receiver receiver, const Envelope& envelope) noexcept {
  bump(shared_.counts.accepted);  // published with the record
  if (receiver == Receiver::completion)
    shared_.demand.completions.fetch_add(1, std::memory_order_relaxed);
  if (envelope.assisted) shared_.demand.assisted.fetch_add(1, std::memory_order_relaxed);
  return shared_.demand.lower_deadline(envelope.deadline_ns);
}

void SendQueue::enqueue(MessageId id, Bucket& message, Bucket& to) noexcept {
  message.front().id = id;
  to.splice(to.end(), message);
  shared_.demand.queued.fetch_add(1);
}

void SendQueue::drop_empty_bucket(std::int32_t priority) noexcept {
  const auto bucket = queue_.find(priority);
  if (bucket != queue_.end() && bucket->second.empty()) queue_.erase(bucket);
}

bool SendQueue::must_launch(Executor::Wake how) noexcept {
  const bool launch = shared_.executor.must_launch(shared_.kernel, how);
  if (launch) ++senders_in_;
  return launch;
}

void SendQueue::after_submit(Executor::Wake how, bool launch, bool deadline_lowered) noexcept {
  if (launch) {
    shared_.executor.launch(shared_.kernel, how);
    senders_out_.fetch_add(1, std::memory_order_release);  // pairs with the acquire in try_retire
  }
  shared_.demand.wake_if_needed(deadline_lowered);
}

std::size_t SendQueue::flush(std::uint64_t now_ns, Ended& ended) noexcept {
  std::size_t left = 0;  // the queue, for the ring or because they had ended
  while (!queue_.empty() && !ended.full()) {
    auto bucket = queue_.begin();  // highest priority
    Queued& next = bucket->second.front();
    const bool armed = shared_.pending.armed(next.id);
    if (!armed || next.envelope.deadline_ns <= now_ns) {
      next.envelope.release_lease();
      if (armed) ended.ids[ended.count++] = next.id;
    } else {
      rk_record_header* header = producer_.try_claim(next.envelope.payload_bytes);
      if (header == nullptr) break;
      // relaxed: this thread, or one before with (send), has armed the slot; nobody arms it anew
      std::atomic<std::uint64_t>& entered_ns = shared_.pending.slot(next.id).entered_ns;
      const std::uint64_t queued_ns = entered_ns.load(std::memory_order_relaxed);
      const bool timed = queued_ns != 0;
      if (timed)
        entered_ns.store(std::max(shared_.clock.sample_ns(), queued_ns), std::memory_order_relaxed);
      std::copy_n(next.payload.data(), next.payload.size(),
                  reinterpret_cast<std::byte*>(header + 1));
      commit_record(header, next.envelope, next.id, timed);
      publish_records();
    }
    ++left;
    bucket->second.pop_front();
    if (bucket->second.empty()) queue_.erase(bucket);
    shared_.demand.queued.fetch_sub(1);
  }
  return left;
}

std::size_t SendQueue::admit(std::list<Waiting>& admitted) noexcept {
  const std::uint64_t now_ns = shared_.clock.now_ns();
  bool full = false;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto here = next++;
    const Envelope& envelope = here->envelope();
    if (here->leaves_ns() <= now_ns) {
      envelope.release_lease();
    } else {
      Bucket* bucket = nullptr;  // without memory for it there is no room
      if (!full && shared_.demand.queued.load() - waiting_.size() < shared_.limits.queue_max)
        (void)with_memory([&] { bucket = &queue_[envelope.priority]; });
      std::optional<MessageId> id;
      if (bucket != nullptr)
        id = shared_.pending.acquire(here->receiver, envelope.deadline_ns, here->completion,
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
    shared_.demand.queued.fetch_sub(1);
  }
  return admitted.size();
}

std::uint64_t SendQueue::submit_later(const Envelope& envelope, Receiver receiver,
                                      Completion* completion, MessageBuffer payload,
                                      Admission admission, std::uint64_t patience_ns) noexcept {
  std::list<Waiting> submission;
  const bool has_memory = with_memory([&] {
    submission.push_back({0, receiver, completion, {}, nullptr, {}, patience_ns});
    submission.front().message.push_back({0, envelope, std::move(payload)});
  });
  if (!has_memory) {
    envelope.release_lease();
    admission(no_memory());
    return 0;
  }
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = next_ticket_++;
  if (closed_) {
    lock.unlock();
    envelope.release_lease();
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
  shared_.demand.queued.fetch_add(1);
  const bool deadline_lowered =
      shared_.demand.lower_deadline(std::min(envelope.deadline_ns, patience_ns));
  lock.unlock();
  full_fence();  // pairs with Bridge::sleep
  shared_.demand.wake_if_needed(deadline_lowered);
  return ticket;
}

bool SendQueue::withdraw(std::uint64_t ticket) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& w) { return w.ticket == ticket; });
  if (found == waiting_.end()) return false;
  shared_.counts.cancelled.fetch_add(1, std::memory_order_relaxed);
  found->envelope().release_lease();
  waiting_.erase(found);
  shared_.demand.queued.fetch_sub(1);
  return true;
}

std::string SendQueue::why_no_room(bool slots_are_taken) const {
  const std::size_t answered = shared_.mailbox.size();
  if (answered >= shared_.limits.in_flight_max)
    return "nobody receives: " + std::to_string(answered) + " answered messages wait";
  std::string answered_text;
  if (answered != 0)
    answered_text = "; nobody has received " + std::to_string(answered) + " answered messages";
  if (slots_are_taken)
    return "all " + std::to_string(shared_.limits.in_flight_max) + " in-flight places are taken" +
           answered_text;
  return "the ring and " + std::to_string(shared_.limits.queue_max) +
         " places on the host are full" + answered_text;
}

/// Of a message whose deadline this is, if it is not over only its sender's patience is.
Error SendQueue::waited_in_vain(std::uint64_t deadline_ns, std::uint64_t now_ns) noexcept {
  const bool is_late = deadline_ns <= now_ns;
  if (is_late) shared_.counts.expired.fetch_add(1, std::memory_order_relaxed);
  Error error(make_error_code(is_late ? Errc::deadline_exceeded : Errc::queue_full));
  (void)with_memory([&] {
    error.detail = (is_late ? "while waiting for room: " : "") +
                   why_no_room(shared_.pending.in_use() >= shared_.limits.in_flight_max);
  });
  return error;
}

Result<void> SendQueue::wait_for_room(std::uint64_t deadline_ns, std::uint64_t patience_ns,
                                      const std::function<void()>& help) {
  // The count goes up before the last look, so that whoever makes room after it sees the count.
  const Counted waiting(shared_.demand.room_waiters);
  const std::uint64_t epoch = room_.epoch();
  help();
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return close_reason_;
    if (waiting_.empty() && shared_.demand.queued.load() < shared_.limits.queue_max &&
        shared_.pending.in_use() < shared_.limits.in_flight_max)
      return {};
  }
  shared_.demand.wake_if_needed(false);
  const std::uint64_t until_ns = std::min(deadline_ns, patience_ns);
  const Interruption interruption;
  const std::uint64_t now_ns = shared_.clock.now_ns();
  const std::uint64_t wakes_ns = interruption.wakes_at(until_ns, now_ns);
  std::optional<std::chrono::nanoseconds> limit;
  if (wakes_ns != no_deadline) limit = time_left(wakes_ns, now_ns);
  if (room_.wait(epoch, limit)) return {};
  if (wakes_ns < until_ns) {
    if (interruption.came()) return Interruption::error();
    return {};
  }
  // What was waited for is what is over: the clock may be a little behind the wait.
  return waited_in_vain(deadline_ns, std::max(shared_.clock.now_ns(), until_ns));
}

void SendQueue::room_made() noexcept {
  if (shared_.limits.policy == Policy::block) room_.made();  // otherwise nobody waits for room
}

std::size_t SendQueue::advance(std::uint64_t now_ns, Ended& ended) noexcept {
  // relaxed: a hint; looked at again next time
  if (shared_.demand.queued.load(std::memory_order_relaxed) == 0) return 0;
  std::size_t work = 0;
  std::list<Waiting> admitted;
  {
    const std::lock_guard lock(mutex_);
    work += flush(now_ns, ended);
    work += admit(admitted);
    work += flush(now_ns, ended);
  }
  for (Waiting& submission : admitted) {
    if (submission.message.empty())  // it is in the queue, or further
      submission.admission(submission.ticket);
    else  // what it waited for is over, if not at the time that this turn began
      submission.admission(waited_in_vain(submission.envelope().deadline_ns,
                                          std::max(now_ns, submission.leaves_ns())));
  }
  return work;
}

void SendQueue::advanced() noexcept {
  shared_.executor.wake(shared_.kernel, Executor::Wake::launch);
  room_made();
}

bool SendQueue::note_deadlines() noexcept {
  bool lowered = false;
  const std::lock_guard lock(mutex_);
  for (const Waiting& submission : waiting_)
    lowered |= shared_.demand.lower_deadline(submission.leaves_ns());
  return lowered;
}

void SendQueue::ring() noexcept {
  const std::lock_guard lock(mutex_);
  shared_.executor.ring(shared_.kernel);
}

std::uint32_t SendQueue::set_state(std::uint32_t state) {
  std::uint32_t epoch = 0;
  {
    const std::lock_guard lock(mutex_);
    epoch = shared_.executor.set_state(shared_.kernel, state);
  }
  shared_.executor.wake(shared_.kernel, Executor::Wake::launch);
  return epoch;
}

void SendQueue::close(const Error& reason) noexcept {
  std::list<Waiting> waiting;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    close_reason_ = reason;
    waiting.swap(waiting_);
    shared_.demand.queued.fetch_sub(waiting.size());
  }
  for (Waiting& submission : waiting) {
    submission.envelope().release_lease();
    submission.admission(reason);
  }
  room_made();
}

bool SendQueue::try_retire() noexcept {
  const std::lock_guard lock(mutex_);
  // acquire: the sender is done with the executor; pairs with the release in after_submit
  if (senders_in_ != senders_out_.load(std::memory_order_acquire)) return false;
  std::size_t queued = 0;
  for (const auto& [priority, bucket] : queue_) {
    for (const Queued& message : bucket) message.envelope.release_lease();
    queued += bucket.size();
  }
  queue_.clear();
  shared_.demand.queued.fetch_sub(queued);
  return true;
}

}  // namespace ringkernel::bridge
