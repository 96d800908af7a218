#include "runtime/lifecycle.hpp"

#include <utility>

#include "bridge/idle.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/scope_guard.hpp"
#include "foundation/timeout.hpp"
#include "ringkernel/protocol/control_block.h"

namespace ringkernel::detail {
void Lifecycle::launched() noexcept {
  const std::lock_guard lock(mutex_);
  set_status(KernelStatus::launched);
}

std::uint64_t Lifecycle::deadline_ns(std::chrono::nanoseconds timeout) const noexcept {
  return clock_.now_ns() + bounded_ns(timeout);
}

KernelStatus Lifecycle::status() const {
  const std::lock_guard lock(looking_);  // with it nobody ends the kernel, nor then its executor
  return has_failed() ? KernelStatus::failed : status_;
}

bool Lifecycle::has_failed() const {
  const bool lives = status_ == KernelStatus::launched || status_ == KernelStatus::active ||
                     status_ == KernelStatus::deactivated;
  return lives && (is_unmigrated_ || place_.executor->failed() ||
                   place_.executor->fault(place_.kernel) != 0);
}

Result<void> Lifecycle::check_usable() const {
  if (!has_failed()) return {};
  bridge::Executor& executor = *place_.executor;
  if (executor.failed()) return executor.failure();
  if (is_unmigrated_) return unmigrated();
  Error error = bridge::why_unusable(executor.fault(place_.kernel));
  error.detail = "kernel '" + id_ + "': " + error.detail;
  return error;
}

Error Lifecycle::wrong_state(const char* wanted) const {
  if (end_reason_ == Errc::runtime_closed) return end_reason_;
  return {Errc::invalid_state, "kernel '" + id_ + "': " + name(status_) + " -> " + wanted +
                                   (deactivating_ ? " while it is being deactivated" : "")};
}

Error Lifecycle::is_migrating() const {
  return {Errc::busy, "the state of kernel '" + id_ + "' is being migrated"};
}

Error Lifecycle::unmigrated() const {
  return {Errc::state_mismatch,
          "the state of kernel '" + id_ + "' was not migrated in time: it can only be terminated"};
}

Error Lifecycle::terminated_reason() const noexcept {
  Error reason(make_error_code(Errc::kernel_terminated));
  (void)with_memory([&] { reason.detail = "'" + id_ + "'"; });
  return reason;
}

Error Lifecycle::end_reason() const {
  const std::lock_guard lock(mutex_);
  return end_reason_;
}

Result<void> Lifecycle::check_launched() const {
  const std::lock_guard lock(mutex_);
  // Everything else knows better what is wrong, or is about to be right.
  if (status_ != KernelStatus::launched || has_failed()) return {};
  return Error(Errc::invalid_state,
               "kernel '" + id_ +
                   "' is launched and was never active, so no reply would come: activate it first");
}

Error Lifecycle::explained(Error error) const {
  if (!(error == Errc::deadline_exceeded) && !(error == Errc::queue_full)) return error;
  const std::lock_guard lock(mutex_);
  if (status_ != KernelStatus::launched && status_ != KernelStatus::deactivated) return error;
  error.detail += "; kernel '" + id_ + "' is " + name(status_) +
                  ": it takes messages and runs none until it is activated";
  return error;
}

void Lifecycle::set_status(KernelStatus status) noexcept {
  {
    const std::lock_guard lock(looking_);
    status_ = status;
  }
  // relaxed: advice; pairs with is_active
  is_active_.store(status == KernelStatus::active, std::memory_order_relaxed);
  host_.changed(status);
}

void Lifecycle::set_unmigrated() noexcept {
  const std::lock_guard lock(looking_);
  is_unmigrated_ = true;
}

void Lifecycle::tell_failure() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // a copy may take long
  if (failure_told_ || !has_failed()) return;
  failure_told_ = true;
  host_.changed(KernelStatus::failed);
}

Result<void> Lifecycle::activate() {
  const std::lock_guard lock(mutex_);
  RK_TRY_VOID(check_usable());
  if (status_ != KernelStatus::launched && status_ != KernelStatus::deactivated)
    return wrong_state("active");
  if (migrating_) return is_migrating();
  set_status(KernelStatus::active);
  was_active_.store(true, std::memory_order_relaxed);  // pairs with check_replies; stands alone
  on_device_ = true;
  place_.channel->set_state(RK_KERNEL_RUNNING);
  return {};
}

void Lifecycle::drive(bridge::WatchList watches, const bridge::Clock& clock) noexcept {
  bridge::IdleStrategy idle;
  while (watches.poll(clock.now_ns()), !watches.empty()) idle.rest();
}

Result<void> Lifecycle::deactivate() {
  Result<void> result;
  bridge::WatchList watch;
  RK_TRY(begun, start_deactivate([&](Result<void> ended) { result = std::move(ended); }));
  watch.push(std::move(begun));
  drive(std::move(watch), clock_);
  return result;
}

Result<void> Lifecycle::terminate(const TerminateOptions& options, const Error& reason) noexcept {
  bridge::WatchList watch;
  if (auto begun = start_terminate(options, reason, nullptr)) watch.push(std::move(begun));
  drive(std::move(watch), clock_);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return status_ == KernelStatus::terminated; });
  return termination_;
}

void Lifecycle::finish_termination(bool released, std::uint32_t epoch, Result<void> result) {
  place_.last_epoch = epoch;
  host_.stopped(released, result);
  std::vector<Done> waiting;
  {
    const std::lock_guard lock(mutex_);
    termination_ = result;
    set_status(KernelStatus::terminated);
    waiting.swap(on_terminated_);
  }
  host_.ended();
  changed_.notify_all();
  for (const Done& done : waiting) done(result);
}

bool Lifecycle::is_released() noexcept {
  place_.executor->go_on(place_.kernel);
  return place_.executor->obeys(place_.kernel, place_.last_epoch) && try_retire();
}

Result<void> Lifecycle::at_rest(Rest wanted, const std::function<Result<void>()>& use) const {
  const std::lock_guard lock(mutex_);  // it cannot become active, or terminated, meanwhile
  if (wanted == Rest::launched) {
    if (status_ != KernelStatus::launched) return wrong_state("launched");
    return use();
  }
  if (status_ != KernelStatus::launched && status_ != KernelStatus::deactivated) {
    RK_TRY_VOID(check_usable());
    return Error(Errc::invalid_state, "kernel '" + id_ + "' is " + name(status_) +
                                          ": its state can be read and written while it is "
                                          "launched or deactivated");
  }
  if (is_unmigrated_) return unmigrated();
  if (migrating_) return is_migrating();
  return use();
}

Result<Lifecycle::Pause> Lifecycle::pause_for(std::uint64_t deadline_ns,
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
    if (clock_.now_ns() >= deadline_ns) return is_ours ? Pause::not_obeyed : Pause::others;
    idle.rest();
  }
}

Result<bool> Lifecycle::try_pause(std::optional<std::uint32_t>& pause) {
  const bool rests = status_ == KernelStatus::launched || status_ == KernelStatus::deactivated;
  if (!rests && status_ != KernelStatus::active)
    return Error(Errc::invalid_state, "kernel '" + id_ + "' is " + name(status_));
  RK_TRY_VOID(check_usable());
  if (migrating_ || deactivating_) return false;  // whose pause it is, and who ends it
  if (rests) return true;
  bridge::Executor& executor = *place_.executor;
  executor.go_on(place_.kernel);
  // Not this pause, or not any more: whoever has changed the run state has activated it anew. The
  // device has to see that first: who asks again and again must not keep it from its messages.
  if (!pause || executor.epoch(place_.kernel) != *pause) {
    if (!executor.obeys(place_.kernel, executor.epoch(place_.kernel))) return false;
    pause = place_.channel->set_state(RK_KERNEL_PAUSED);
  }
  return executor.obeys(place_.kernel, *pause);
}

/// Who has told the device another run state since then decides on how the kernel goes on.
void Lifecycle::end_pause(std::uint32_t pause) noexcept {
  const std::lock_guard lock(mutex_);
  if (status_ == KernelStatus::terminated || ending_told_) return;  // the place may be another's
  if (place_.executor->epoch(place_.kernel) == pause) place_.channel->set_state(RK_KERNEL_RUNNING);
}

}  // namespace ringkernel::detail
