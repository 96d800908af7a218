// The memory of a ring kernel while it is active, from outside: copies during a pause.
#include <cstring>
#include <thread>
#include <utility>

#include "bridge/idle.hpp"
#include "foundation/scope_guard.hpp"
#include "foundation/timeout.hpp"
#include "runtime/kernel_state.hpp"

namespace ringkernel::detail {
namespace {

std::string hexadecimal(const std::vector<std::byte>& bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text = "\"";
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text + "\"";
}

}  // namespace

Result<std::string> KernelState::state_json(std::chrono::nanoseconds timeout) {
  RK_TRY(copy, copy_state(timeout));
  if (copy.behaviour == nullptr) return hexadecimal(copy.bytes);
  return copy.definition->schema()->state_json(*copy.behaviour->state, copy.bytes);
}

Result<KernelState::StateCopy> KernelState::copy_state(std::chrono::nanoseconds timeout) {
  StateCopy copy;
  RK_TRY(ended, pause_for(runtime_->deadline_ns(timeout), [&] { return fill(copy, timeout); }));
  if (ended != Pause::copied)
    return Error(Errc::busy,
                 "kernel '" + id_ + "': " +
                     (ended == Pause::not_obeyed ? "the device is busy with a message, and does not"
                                                   " let go of the state"
                                                 : "its state is being copied for another"));
  return copy;
}

Result<void> KernelState::fill(StateCopy& copy, std::chrono::nanoseconds patience) {
  if (rings_.state_bytes == 0)
    return Error(Errc::state_mismatch,
                 "kernel '" + id_ + "' of program '" + options_.program + "' has no state");
  copy = {definition_, behaviour_, std::vector<std::byte>(rings_.state_bytes)};
  RK_TRY_VOID(runtime_->memory().to_host(rings_.state_offset, copy.bytes.size(), patience));
  std::memcpy(copy.bytes.data(), runtime_->arena().data() + rings_.state_offset, copy.bytes.size());
  return {};
}

Result<void> KernelState::wait_for_accepted(std::uint64_t deadline_ns) {
  const std::uint64_t accepted = channel_->counters().accepted;
  bridge::IdleStrategy idle;
  for (;;) {
    const bridge::ChannelCounters now = channel_->counters();
    if (now.replied + now.failed >= accepted) return {};
    if (runtime_->clock().now_ns() >= deadline_ns)
      return Error(Errc::deadline_exceeded, "while messages in flight ran on '" + id_ + "'");
    if (runtime_->bridge().serve_channels(bridge::Bridge::Drain::all) != 0) idle.reset();
    const std::uint64_t sleep_ns = idle.idle();
    if (sleep_ns != 0) std::this_thread::sleep_for(std::chrono::nanoseconds(sleep_ns));
  }
}

Result<void> KernelState::copy_region(std::chrono::nanoseconds timeout, const RegionCopy& copy) {
  const std::uint64_t deadline_ns = runtime_->deadline_ns(timeout);
  RK_TRY_VOID(wait_for_accepted(deadline_ns));
  const Result<Pause> ended = pause_for(deadline_ns, [&] { return copy_now(copy, timeout); });
  if (ended && *ended == Pause::copied) return {};
  if (ended) return Error(Errc::deadline_exceeded, "while a message ran on '" + id_ + "'");
  if (!(ended.error() == Errc::invalid_state)) return ended.error();
  const std::lock_guard lock(mutex_);
  return end_reason_;
}

Result<void> KernelState::copy_now(const RegionCopy& copy, std::chrono::nanoseconds patience) {
  DeviceMemory& memory = runtime_->memory();
  const std::uint64_t offset = region_.offset() + copy.offset;
  std::byte* const place = runtime_->arena().data() + offset;
  if (copy.to != nullptr) {
    RK_TRY_VOID(memory.to_host(offset, copy.bytes, patience));
    std::memcpy(copy.to, place, copy.bytes);
    return {};
  }
  RK_TRY_VOID(memory.check_no_late_copies());
  if (copy.from != nullptr)
    std::memcpy(place, copy.from, copy.bytes);
  else
    std::memset(place, 0, copy.bytes);
  return memory.to_device(offset, copy.bytes, patience);
}

Result<KernelState::Pause> KernelState::pause_for(std::uint64_t deadline_ns,
                                                  const std::function<Result<void>()>& copy) {
  std::optional<std::uint32_t> pause;
  bool is_ours = false;  // the turn to copy
  const ScopeGuard going_on([&]() noexcept {
    if (pause) end_pause(*pause);
    const std::lock_guard lock(mutex_);
    if (is_ours) copying_ = false;
  });
  bridge::IdleStrategy idle;
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (!std::exchange(copying_, true)) is_ours = true;
      if (is_ours) {
        RK_TRY(rests, try_pause(pause));
        if (rests) {
          RK_TRY_VOID(copy());
          return Pause::copied;
        }
      }
    }
    if (runtime_->clock().now_ns() >= deadline_ns)
      return is_ours ? Pause::not_obeyed : Pause::others;
    const std::uint64_t sleep_ns = idle.idle();
    if (sleep_ns != 0) std::this_thread::sleep_for(std::chrono::nanoseconds(sleep_ns));
  }
}

Result<bool> KernelState::try_pause(std::optional<std::uint32_t>& pause) {
  const bool rests = status_ == KernelStatus::launched || status_ == KernelStatus::deactivated;
  if (!rests && status_ != KernelStatus::active)
    return Error(Errc::invalid_state, "kernel '" + id_ + "' is " + name(status_));
  RK_TRY_VOID(check_usable());
  if (migrating_ || deactivating_) return false;  // whose pause it is, and who ends it
  if (rests) return true;
  bridge::Executor& executor = program_->executor();
  executor.go_on(kernel_);
  // Not this pause, or not any more: whoever has changed the run state has activated it anew. The
  // device has to see that first: who asks again and again must not keep it from its messages.
  if (!pause || executor.epoch(kernel_) != *pause) {
    if (!executor.obeys(kernel_, executor.epoch(kernel_))) return false;
    pause = channel_->set_state(RK_KERNEL_PAUSED);
  }
  return executor.obeys(kernel_, *pause);
}

/// Who has told the device another run state since then decides on how the kernel goes on.
void KernelState::end_pause(std::uint32_t pause) noexcept {
  const std::lock_guard lock(mutex_);
  if (status_ == KernelStatus::terminated || ending_told_) return;  // the place may be another's
  if (program_->executor().epoch(kernel_) == pause) channel_->set_state(RK_KERNEL_RUNNING);
}

}  // namespace ringkernel::detail
