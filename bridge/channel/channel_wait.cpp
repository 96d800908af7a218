// Waiting for one outcome: leading, sleeping, assisting.
#include <chrono>
#include <thread>

#include "bridge/channel/channel.hpp"
#include "bridge/channel/interruption.hpp"
#include "bridge/idle.hpp"

namespace ringkernel::bridge {
namespace {

/// Looks at the ring's position that make a poll; each is hardly more than a load.
constexpr std::uint32_t looks_per_poll = 4;
/// Polls between two looks at the clock, the device and the host queue while leading.
constexpr std::uint32_t chore_polls = 256;
/// Polls between two looks whether the executor waits for this very core.
constexpr std::uint32_t handover_polls = 64;
/// Polls without a pause in between: the length of a usual round trip.
constexpr std::uint32_t eager_polls = 200;
/// How long Channel::assist polls, and how often it looks at the clock.
constexpr std::uint64_t assist_ns = 5'000;
constexpr std::uint32_t assist_clock_polls = 32;
/// How long an op may keep a thread that did not ask to wait for it.
constexpr std::uint64_t assist_op_ns = 100'000;
/// How many submissions go by without assistance after it was in vain: 16, and twice as many each
/// time, up to 1024.
constexpr std::uint32_t assist_pause_min = 16;
constexpr std::uint32_t assist_pauses_max = 6;
/// How long a leader waits for a slice that is being started, at least, before it gives up; and for
/// how long it then sleeps at a time where slices do not say on which core they run.
constexpr std::uint64_t start_patience_ns = 200'000;
constexpr std::chrono::microseconds start_pause{20};
/// Polls of a waiter that found somebody else leading, before it sleeps.
constexpr std::uint32_t follower_polls = 64;

}  // namespace

Outcome Channel::wait(MessageId id, Timeout timeout) noexcept {
  const Interruption interruption;
  for (;;) {
    if (consume_lock_.try_lock()) {
      lead(id, timeout);
      consume_lock_.unlock();
      if (sleepers_.load() != 0) nudge_.nudge();  // nobody leads any more; the bridge may be dozing
    } else {
      for (std::uint32_t poll = 0; poll < follower_polls && !pending_.done(id); ++poll) cpu_pause();
    }
    if (pending_.done(id)) return take(id);
    const std::uint64_t now_ns = clock_.now_ns();
    const std::uint64_t deadline_ns = timeout.deadline_ns(now_ns);
    if (deadline_ns <= now_ns) {
      end(id, make_error_code(Errc::deadline_exceeded), "while waiting for the reply");
      continue;  // whoever won the slot finishes it: it is done, or about to be
    }
    const Counted sleeping(sleepers_);
    full_fence();  // the count before the look whether the bridge sleeps; pairs with Bridge::sleep
    nudge_.nudge();
    if (!pending_.sleep(id)) continue;
    Slot& slot = pending_.slot(id);
    const std::uint64_t wakes_ns = interruption.wakes_at(deadline_ns, now_ns);
    if (wakes_ns == no_deadline) {
      slot.wake_up.acquire();
    } else if (!slot.wake_up.try_acquire_for(time_left(wakes_ns, now_ns))) {
      if (!pending_.stay_awake(id))
        slot.wake_up.acquire();  // claimed meanwhile: the token is on its way
      else if (interruption.came())
        end(id, boost::asio::error::operation_aborted, "interrupted");
    }
  }
}

void Channel::lead(MessageId id, Timeout& timeout) {
  if (retired_) return;  // the end of the kernel ends the message; the executor may be gone
  std::uint64_t start_ns = 0;
  bool was_starting = false;
  for (std::uint32_t poll = 1;; ++poll) {
    std::uint32_t looks = looks_per_poll;
    while (consumer_.empty() && --looks != 0) {
    }
    if (looks != 0 && drain() != 0 && pending_.done(id)) return;
    const bool leaves_core = poll % handover_polls == 1 && executor_.needs_core(kernel_);
    if (poll % chore_polls != 0 && !leaves_core) {
      if (poll > eager_polls) cpu_pause();
      continue;
    }
    const std::uint64_t now_ns = clock_.now_ns();
    const bool starting = executor_.starting(kernel_);
    if (start_ns == 0 || (was_starting && !starting)) start_ns = now_ns;
    was_starting = starting;
    const std::uint64_t patience_ns =
        starting ? std::max(start_patience_ns, limits_.spin_ns) : limits_.spin_ns;
    if (pending_.done(id) || now_ns >= timeout.deadline_ns(now_ns) ||
        now_ns - start_ns >= patience_ns || ending_.load(std::memory_order_relaxed))  // advice
      return;
    (void)do_chores(now_ns);
    // A slice that never gives a core back would keep it until the scheduler's next tick.
    if (starting && !executor_.tells_core(kernel_)) {
      std::this_thread::sleep_for(start_pause);
      continue;
    }
    if (leaves_core) executor_.note_handover();
    std::this_thread::yield();
  }
}

bool Channel::hand_over() {
  {
    const std::unique_lock lock(consume_lock_, std::try_to_lock);
    if (!lock.owns_lock() || retired_ || !executor_.tells_core(kernel_)) return false;
    if (!executor_.needs_core(kernel_)) return false;
    executor_.note_handover();
  }
  std::this_thread::yield();
  return true;
}

bool Channel::assist_pays() noexcept {
  // relaxed: advice; a lost count costs one try
  const std::uint32_t pause = assist_pause_.load(std::memory_order_relaxed);
  if (pause == 0) return true;
  assist_pause_.store(pause - 1, std::memory_order_relaxed);
  return false;
}

void Channel::assist(MessageId id, std::uint64_t submitted_ns) {
  const std::uint64_t begin_ns = clock_.now_ns();
  bool in_vain = begin_ns - submitted_ns > assist_op_ns;
  for (std::uint32_t poll = 1; pending_.armed(id); ++poll) {
    if (try_drain().value_or(0) != 0) continue;
    if (poll % assist_clock_polls != 0 || clock_.now_ns() < begin_ns + assist_ns) continue;
    // Where the next one may run on its sender's thread, a pause would bring others to the rings,
    // who then stand in its way.
    in_vain = in_vain || !executor_.runs_on_caller();
    leave_to_bridge(id);
    break;
  }
  note_assist(in_vain);
}

void Channel::note_assist(bool in_vain) noexcept {
  // relaxed: advice, as in assist_pays
  const std::uint32_t pauses = assist_pauses_.load(std::memory_order_relaxed);
  if (in_vain) {
    assist_pause_.store(assist_pause_min << pauses, std::memory_order_relaxed);
    assist_pauses_.store(std::min(pauses + 1, assist_pauses_max), std::memory_order_relaxed);
  } else if (pauses != 0) {
    assist_pauses_.store(0, std::memory_order_relaxed);
  }
}

bool Channel::can_run_here() noexcept {
  // Behind the end of the kernel the executor may be gone. Who has the lock is at work.
  const std::unique_lock lock(consume_lock_, std::try_to_lock);
  if (!lock.owns_lock() || retired_) return false;
  return in_flight() == 0 && executor_.parked(kernel_) && assist_pays();
}

std::chrono::nanoseconds Channel::note_run_here(std::uint64_t begin_ns) noexcept {
  const std::uint64_t took_ns = clock_.sample_ns() - begin_ns;
  note_assist(took_ns > assist_op_ns);
  return std::chrono::nanoseconds(took_ns);
}

void Channel::leave_to_bridge(MessageId id) noexcept {
  if (!pending_.slot(id).assisted.exchange(false)) return;
  assisted_.fetch_sub(1);
  full_fence();  // pairs with Bridge::sleep
  nudge_if_needed(false);
}

}  // namespace ringkernel::bridge
