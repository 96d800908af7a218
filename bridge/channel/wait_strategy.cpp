#include "bridge/channel/wait_strategy.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace ringkernel::bridge {
namespace {

/// How long assistance polls.
constexpr std::uint64_t assist_ns = 5'000;
/// How long an op may keep a thread that did not ask to wait for it.
constexpr std::uint64_t assist_op_ns = 100'000;
/// How many calls go by without assistance after it was in vain: 16, and twice as many each time,
/// up to 1024.
constexpr std::uint32_t assist_pause_min = 16;
constexpr std::uint32_t assist_pauses_max = 6;
/// How long a leader waits for a slice that is being started, at least, before it gives up; and for
/// how long it then sleeps at a time where slices do not say on which core they run.
constexpr std::uint64_t start_patience_ns = 200'000;
constexpr std::chrono::microseconds start_pause{20};

}  // namespace

WaitStrategy::Step WaitStrategy::lead(Lead& lead, std::uint64_t now_ns,
                                      const SliceView& slice) const noexcept {
  // The time begins anew when the slice has begun.
  if (lead.start_ns_ == 0 || (lead.was_starting_ && !slice.is_starting)) lead.start_ns_ = now_ns;
  lead.was_starting_ = slice.is_starting;
  const std::uint64_t patience_ns =
      slice.is_starting ? std::max(start_patience_ns, spin_ns_) : spin_ns_;
  if (now_ns - lead.start_ns_ >= patience_ns) return Step::stop;
  // A slice that never gives a core back would keep it until the scheduler's next tick.
  if (slice.is_starting && !slice.tells_core) return Step::sleep;
  return slice.needs_core ? Step::hand_over : Step::yield;
}

bool WaitStrategy::receives_on(std::uint64_t waited_ns) const noexcept {
  return waited_ns < spin_ns_;
}

WaitStrategy::Step WaitStrategy::receive(const SliceView& slice) const noexcept {
  return slice.tells_core && slice.needs_core ? Step::hand_over : Step::poll;
}

void WaitStrategy::rest(Step step) const noexcept {
  switch (step) {
    case Step::poll: cpu_pause(); break;
    case Step::yield:
    case Step::hand_over: std::this_thread::yield(); break;
    case Step::sleep: std::this_thread::sleep_for(start_pause); break;
    case Step::stop: break;
  }
}

bool WaitStrategy::assist_pays() noexcept {
  const std::uint32_t pause = assist_pause_.load(std::memory_order_relaxed);
  if (pause == 0) return true;
  assist_pause_.store(pause - 1, std::memory_order_relaxed);
  return false;
}

bool WaitStrategy::assists_on(std::uint64_t polled_ns) const noexcept {
  return polled_ns < assist_ns;
}

bool WaitStrategy::is_long(std::uint64_t op_ns) const noexcept { return op_ns > assist_op_ns; }

void WaitStrategy::note_assist(bool in_vain) noexcept {
  const std::uint32_t pauses = assist_pauses_.load(std::memory_order_relaxed);
  if (in_vain) {
    assist_pause_.store(assist_pause_min << pauses, std::memory_order_relaxed);
    assist_pauses_.store(std::min(pauses + 1, assist_pauses_max), std::memory_order_relaxed);
  } else if (pauses != 0) {
    assist_pauses_.store(0, std::memory_order_relaxed);
  }
}

}  // namespace ringkernel::bridge
