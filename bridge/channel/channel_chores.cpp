// What a channel wants done now and then: queues moved, deadlines watched, the device looked at;
// and its figures.
#include <algorithm>
#include <utility>

#include "bridge/channel/channel.hpp"
#include "foundation/memory_error.hpp"
#include "ringkernel/protocol/fault.h"

namespace ringkernel::bridge {

std::size_t Channel::do_chores(std::uint64_t now_ns) noexcept {
  std::size_t work = 0;
  if (queued_.load(std::memory_order_relaxed) != 0) {  // a hint: looked at again next time
    Ended ended;
    std::list<Waiting> admitted;
    {
      const std::lock_guard lock(send_mutex_);
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
    finish_ended(ended);
    if (work != 0) {
      executor_.wake(kernel_, Executor::Wake::launch);
      room_made();
    }
  }
  if (next_deadline_ns_.load(std::memory_order_relaxed) <= now_ns) expire(now_ns);
  if (!idle()) (void)with_memory([this] { check_device(); });  // or the next time
  return work;
}

void Channel::expire(std::uint64_t now_ns) noexcept {
  next_deadline_ns_.store(no_deadline);  // before the scans: later deadlines lower it again
  bool lowered = false;
  const auto is_overdue = [&](const Slot& slot) {
    const std::uint64_t deadline_ns = slot.deadline_ns.load(std::memory_order_relaxed);
    if (slot.receiver.load(std::memory_order_relaxed) == Receiver::waiter)
      return false;  // own clock
    if (deadline_ns <= now_ns) return true;
    lowered |= lower_next_deadline(deadline_ns);
    return false;
  };
  end_armed(is_overdue, make_error_code(Errc::deadline_exceeded), "while waiting for the reply");
  std::list<WaitingReceiver> overdue;
  {
    const std::lock_guard lock(mailbox_mutex_);
    for (auto next = receivers_.begin(); next != receivers_.end();) {
      const auto here = next++;
      if (here->deadline_ns > now_ns)
        lowered |= lower_next_deadline(here->deadline_ns);
      else
        overdue.splice(overdue.end(), receivers_, here);
    }
    receivers_waiting_.fetch_sub(overdue.size());
  }
  for (const WaitingReceiver& receiver : overdue)
    receiver.completion->complete(
        no_message(error_of(Errc::deadline_exceeded, "no message came in time")));
  {
    const std::lock_guard lock(send_mutex_);
    for (const Waiting& submission : waiting_)
      lowered |= lower_next_deadline(submission.leaves_ns());
  }
  full_fence();  // pairs with Bridge::sleep, which may have looked while there was no deadline
  nudge_if_needed(lowered);
}

void Channel::check_device() {
  std::optional<Error> reason;
  if (executor_.failed()) {
    reason = executor_.failure();
  } else if (const std::uint32_t fault = executor_.fault(kernel_); fault != 0) {
    // The message that overran is told first: its reply is on its way, unless it has spoilt the
    // ring. acquire: pairs with the release in deliver; broken_ stands alone
    if (fault == RK_FAULT_program_overran && !has_overrun_.load(std::memory_order_acquire) &&
        !broken_.load(std::memory_order_relaxed))
      return;
    reason = why_unusable(fault);
  } else if (broken_.load(std::memory_order_relaxed)) {
    reason = Error(Errc::bad_record, "the kernel's output ring is unusable");
  }
  if (!reason) {
    // A slice that used up its budget leaves the rest to the next one.
    executor_.go_on(kernel_);
    return;
  }
  close(*reason);
  fail_all(*reason);
}

bool Channel::lower_next_deadline(std::uint64_t deadline_ns) noexcept {
  std::uint64_t seen = next_deadline_ns_.load();
  while (deadline_ns < seen)
    if (next_deadline_ns_.compare_exchange_weak(seen, deadline_ns)) return true;
  return false;
}

void Channel::try_chores() {
  // The kernel is not retired while the consume lock is held. Whoever has it otherwise does them
  // too.
  const std::unique_lock lock(consume_lock_, std::try_to_lock);
  if (lock.owns_lock() && !retired_) (void)do_chores(clock_.now_ns());
}

/// After a full fence: the bridge has to know of deadlines, to sleep no longer than until then.
void Channel::nudge_if_needed(bool deadline_lowered) noexcept {
  if (deadline_lowered || needs_bridge()) nudge_.nudge();
}

bool Channel::needs_bridge() const noexcept {
  // relaxed: the caller stands behind a full fence
  const auto load = [](const auto& word) { return word.load(std::memory_order_relaxed); };
  if (load(queued_) != 0 || load(sleepers_) != 0 || load(completions_) > load(assisted_))
    return true;
  return (load(receivers_waiting_) != 0 || load(room_waiters_) != 0) && !idle();
}

std::uint64_t Channel::unanswered() const noexcept {
  const auto load = [](const auto& word) { return word.load(std::memory_order_acquire); };
  // The outcomes are read first: what is accepted in between makes the result too large, not too
  // small.
  const std::uint64_t outcomes =
      load(counters_.replied) + load(counters_.faulted) + load(counters_.ended);
  return load(counters_.accepted) - outcomes;
}

ChannelCounters Channel::counters() const noexcept { return counters_.read(); }

std::vector<Channel::InFlight> Channel::longest_in_flight(std::size_t count) {
  std::vector<InFlight> found;
  if (latencies_ == nullptr) return found;
  const auto longest_first = [](const InFlight& a, const InFlight& b) {
    return a.accepted_ns < b.accepted_ns;
  };
  // The `count` longest so far are a heap with the shortest of them on top.
  pending_.for_each_armed([&](MessageId id, const Slot& slot) {
    found.push_back({id, slot.accepted_ns.load(std::memory_order_relaxed)});  // a figure
    std::ranges::push_heap(found, longest_first);
    if (found.size() <= count) return;
    std::ranges::pop_heap(found, longest_first);
    found.pop_back();
  });
  std::ranges::sort_heap(found, longest_first);
  return found;
}

}  // namespace ringkernel::bridge
