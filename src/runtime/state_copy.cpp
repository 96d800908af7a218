// The state of a ring kernel while it is active: a copy during a pause, and its text.
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
  const std::uint64_t deadline_ns = runtime_->deadline_ns(timeout);
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
      if (is_ours)
        if (auto copied = try_copy_state(pause, timeout)) return std::move(*copied);
    }
    if (runtime_->clock().now_ns() >= deadline_ns)
      return Error(Errc::busy, "kernel '" + id_ + "': " +
                                   (is_ours ? "the device is busy with a message, and does not let "
                                              "go of the state"
                                            : "its state is being copied for another"));
    const std::uint64_t sleep_ns = idle.idle();
    if (sleep_ns != 0) std::this_thread::sleep_for(std::chrono::nanoseconds(sleep_ns));
  }
}

std::optional<Result<KernelState::StateCopy>> KernelState::try_copy_state(
    std::optional<std::uint32_t>& pause, std::chrono::nanoseconds patience) {
  const bool rests = status_ == KernelStatus::launched || status_ == KernelStatus::deactivated;
  if (!rests && status_ != KernelStatus::active)
    return Error(Errc::invalid_state, "kernel '" + id_ + "' is " + name(status_));
  if (Result<void> usable = check_usable(); !usable) return std::move(usable).error();
  if (rings_.state_bytes == 0)
    return Error(Errc::state_mismatch,
                 "kernel '" + id_ + "' of program '" + options_.program + "' has no state");
  if (migrating_ || deactivating_) return std::nullopt;  // whose pause it is, and who ends it
  if (!rests) {
    bridge::Executor& executor = program_->executor();
    executor.go_on(kernel_);
    // Not this pause, or not any more: whoever has changed the run state has activated it anew. The
    // device has to see that first: who asks again and again must not keep it from its messages.
    if (!pause || executor.epoch(kernel_) != *pause) {
      if (!executor.obeys(kernel_, executor.epoch(kernel_))) return std::nullopt;
      pause = channel_->set_state(RK_KERNEL_PAUSED);
    }
    if (!executor.obeys(kernel_, *pause)) return std::nullopt;
  }
  StateCopy copy{definition_, behaviour_, std::vector<std::byte>(rings_.state_bytes)};
  Result<void> read = runtime_->memory().to_host(rings_.state_offset, copy.bytes.size(), patience);
  if (!read) return std::move(read).error();
  std::memcpy(copy.bytes.data(), runtime_->arena().data() + rings_.state_offset, copy.bytes.size());
  return copy;
}

/// Who has told the device another run state since then decides on how the kernel goes on.
void KernelState::end_pause(std::uint32_t pause) noexcept {
  const std::lock_guard lock(mutex_);
  if (status_ == KernelStatus::terminated || ending_told_) return;  // the place may be another's
  if (program_->executor().epoch(kernel_) == pause) channel_->set_state(RK_KERNEL_RUNNING);
}

}  // namespace ringkernel::detail
