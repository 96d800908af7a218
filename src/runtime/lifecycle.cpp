// State changes of a ring kernel. Those that wait for the device are watches: polled by the bridge
// for the asynchronous API, by the calling thread for the synchronous one.
#include <chrono>
#include <thread>
#include <utility>

#include "bridge/idle.hpp"
#include "foundation/memory_error.hpp"
#include "ring/geometry.hpp"
#include "runtime/kernel_state.hpp"

namespace ringkernel::detail {

Result<void> KernelState::wrong_state(const char* wanted) const {
  if (end_reason_ == Errc::runtime_closed) return end_reason_;
  return Error(Errc::invalid_state, "kernel '" + id_ + "': " + name(status_) + " -> " + wanted +
                                        (deactivating_ ? " while it is being deactivated" : ""));
}

Result<void> KernelState::check_launched() const {
  const std::lock_guard lock(mutex_);
  // Everything else knows better what is wrong, or is about to be right.
  if (status_ != KernelStatus::launched || has_failed()) return {};
  return Error(Errc::invalid_state,
               "kernel '" + id_ +
                   "' is launched and was never active, so no reply would come: activate it first");
}

Error KernelState::explained(Error error) const {
  if (!(error == Errc::deadline_exceeded) && !(error == Errc::queue_full)) return error;
  const std::lock_guard lock(mutex_);
  if (status_ != KernelStatus::launched && status_ != KernelStatus::deactivated) return error;
  error.detail += "; kernel '" + id_ + "' is " + name(status_) +
                  ": it takes messages and runs none until it is activated";
  return error;
}

void KernelState::set_status(KernelStatus status) noexcept {
  status_ = status;
  // relaxed: as in can_run_here
  is_active_.store(status == KernelStatus::active, std::memory_order_relaxed);
  runtime_->changed(id_, status);
}

void KernelState::tell_failure() {
  const std::lock_guard lock(mutex_);
  if (failure_told_ || !has_failed()) return;
  failure_told_ = true;
  runtime_->changed(id_, KernelStatus::failed);
}

Result<void> KernelState::activate() {
  Result<void> activated = try_activate();
  if (!activated) return noted(std::move(activated).error());
  return activated;
}

Result<void> KernelState::try_activate() {
  const std::lock_guard lock(mutex_);
  RK_TRY_VOID(check_usable());
  if (status_ != KernelStatus::launched && status_ != KernelStatus::deactivated)
    return wrong_state("active");
  if (migrating_) return is_migrating();
  set_status(KernelStatus::active);
  was_active_.store(true, std::memory_order_relaxed);  // as in check_replies
  on_device_ = true;
  channel_->set_state(RK_KERNEL_RUNNING);
  return {};
}

/// active -> deactivated: over when the executor obeys.
class Deactivation final : public bridge::Watch {
 public:
  Deactivation(std::shared_ptr<KernelState> kernel, Done done)
      : kernel_(std::move(kernel)),
        deadline_ns_(
            kernel_->runtime_->deadline_ns(kernel_->runtime_->options().termination_timeout)),
        done_(std::move(done)) {}

  /// With it the device lets go.
  void begin(std::uint32_t epoch) noexcept { epoch_ = epoch; }

  bool poll(std::uint64_t now_ns) override {
    std::optional<Result<void>> result;
    {
      const std::lock_guard lock(kernel_->mutex_);
      result = look(now_ns);
      if (!result) return false;
      kernel_->deactivating_ = false;
    }
    if (!*result) kernel_->noted(result->error());
    done_(std::move(*result));
    return true;
  }

 private:
  /// How it ended, if it has. The state lock is held.
  std::optional<Result<void>> look(std::uint64_t now_ns) {
    if (kernel_->status_ != KernelStatus::active) return kernel_->end_reason_;
    // Here the program exists: it outlives the kernel's termination.
    bridge::Executor& executor = kernel_->program_->executor();
    if (executor.failed()) return executor.failure();
    executor.go_on(kernel_->kernel_);
    if (executor.obeys(kernel_->kernel_, epoch_)) {
      kernel_->set_status(KernelStatus::deactivated);
      return Result<void>();
    }
    if (now_ns < deadline_ns_) return std::nullopt;
    Error late(Errc::execution_timeout,
               "kernel '" + kernel_->id_ + "' was not let go of by the device; it stays active");
    kernel_->channel_->set_state(RK_KERNEL_RUNNING);  // it stays what it is
    return late;
  }

  const std::shared_ptr<KernelState> kernel_;
  std::uint32_t epoch_ = 0;
  const std::uint64_t deadline_ns_;
  const Done done_;
};

Result<std::unique_ptr<bridge::Watch>> KernelState::start_deactivate(Done done) {
  const std::lock_guard lock(mutex_);
  if (Result<void> usable = check_usable(); !usable) return noted(std::move(usable).error());
  if (status_ != KernelStatus::active || deactivating_)
    return noted(wrong_state("deactivated").error());
  if (migrating_) return noted(is_migrating());
  auto deactivation = std::make_unique<Deactivation>(shared_from_this(), std::move(done));
  deactivating_ = true;
  deactivation->begin(channel_->set_state(RK_KERNEL_PAUSED));
  return std::unique_ptr<bridge::Watch>(std::move(deactivation));
}

/// any -> terminated: close, drain if asked, wait until the device has let go, give everything
/// back.
class Termination final : public bridge::Watch {
 public:
  void begin(std::shared_ptr<KernelState> kernel, bool drain, std::chrono::nanoseconds timeout,
             Error reason) noexcept {
    kernel_ = std::move(kernel);
    drain_ = drain;
    deadline_ns_ = kernel_->runtime_->deadline_ns(timeout);
    reason_ = std::move(reason);
  }

  bool poll(std::uint64_t now_ns) override {
    bridge::Executor& executor = kernel_->program_->executor();
    const bool overdue = now_ns >= deadline_ns_;
    kernel_->channel_->close(reason_);
    if (drain_ && !is_unmigrated() && !kernel_->channel_->idle() && !overdue &&
        !executor.failed()) {
      (void)kernel_->channel_->try_drain();
      (void)kernel_->channel_->do_chores(now_ns);
      return false;
    }
    if (!told_) {
      const std::lock_guard lock(kernel_->mutex_);  // no swap changes it behind this
      told_ = kernel_->ending_told_ = true;
      if (kernel_->on_device_) epoch_ = kernel_->channel_->set_state(RK_KERNEL_ABSENT);
    }
    executor.go_on(kernel_->kernel_);
    const bool released =
        !kernel_->on_device_ || executor.failed() || executor.obeys(kernel_->kernel_, epoch_);
    if (!released && !overdue) return false;
    if (!kernel_->channel_->try_retire()) return false;
    kernel_->channel_->fail_all(reason_);
    if (!kernel_->channel_->idle()) return false;  // somebody else is ending a message right now
    Result<void> result;
    if (!released)
      result = Error(Errc::execution_timeout,
                     "kernel '" + kernel_->id_ + "' was not let go of by the device" +
                         kernel_->program_->why_late() + "; its rings stay allocated until it is");
    kernel_->finish_termination(released && !executor.failed(), epoch_, std::move(result));
    return true;
  }

 private:
  /// Then nobody handles its messages any more.
  [[nodiscard]] bool is_unmigrated() const {
    const std::lock_guard lock(kernel_->mutex_);
    return kernel_->is_unmigrated_;
  }

  std::shared_ptr<KernelState> kernel_;
  bool drain_ = false;
  std::uint64_t deadline_ns_ = 0;
  Error reason_;
  bool told_ = false;
  std::uint32_t epoch_ = 0;
};

std::unique_ptr<bridge::Watch> KernelState::make_ending() {
  return std::make_unique<Termination>();
}

std::unique_ptr<bridge::Watch> KernelState::start_terminate(const TerminateOptions& options,
                                                            const Error& reason, Done done) {
  std::unique_lock lock(mutex_);
  if (status_ == KernelStatus::terminated) {
    Result<void> result = termination_;
    lock.unlock();
    if (done) done(std::move(result));
    return nullptr;
  }
  if (done) on_terminated_.push_back(std::move(done));
  if (status_ == KernelStatus::terminating) return nullptr;
  const bool drain = options.drain && status_ == KernelStatus::active && !deactivating_;
  set_status(KernelStatus::terminating);
  end_reason_ = reason;
  const auto timeout =
      options.timeout.count() != 0 ? options.timeout : runtime_->options().termination_timeout;
  static_cast<Termination&>(*ending_).begin(shared_from_this(), drain, timeout, reason);
  return std::move(ending_);
}

void KernelState::give_back() noexcept {
  channel_->release_holds();
  input_.reset();
  output_.reset();
  const std::lock_guard lock(mutex_);
  state_.reset();
  old_state_.reset();
  region_.reset();
  shared_.reset();
}

bool KernelState::try_give_back() noexcept {
  bridge::Executor& executor = program_->executor();
  executor.go_on(kernel_);
  if (!executor.obeys(kernel_, last_epoch_)) return false;
  executor.detach(kernel_);
  give_back();
  return true;
}

void KernelState::finish_termination(bool released, std::uint32_t epoch, Result<void> result) {
  last_epoch_ = epoch;
  if (!released) runtime_->keep(shared_from_this());  // nothing throws behind it
  {
    const std::lock_guard lock(mutex_);
    KernelMetrics metrics;
    (void)with_memory([&] { metrics = all_metrics(); });  // without memory there are no last ones
    metrics.in_flight = metrics.unreceived = 0;
    metrics.input_ring_position = metrics.input_ring_bytes = metrics.input_ring_used_bytes = 0;
    metrics.output_ring_position = metrics.output_ring_bytes = metrics.output_ring_used_bytes = 0;
    last_metrics_ = std::move(metrics);  // nobody looks at the rings from here on
  }
  runtime_->bridge().remove(*channel_);
  if (released) {
    program_->executor().detach(kernel_);
    give_back();
  }
  if (!result) noted(result.error());
  std::vector<Done> waiting;
  {
    const std::lock_guard lock(mutex_);
    termination_ = result;
    set_status(KernelStatus::terminated);
    waiting.swap(on_terminated_);
  }
  runtime_->forget(*this);
  changed_.notify_all();
  for (const Done& done : waiting) done(result);
}

void KernelState::drive(bridge::WatchList watches, const bridge::Clock& clock) noexcept {
  bridge::IdleStrategy idle;
  while (watches.poll(clock.now_ns()), !watches.empty()) {
    const std::uint64_t sleep_ns = idle.idle();
    if (sleep_ns != 0) std::this_thread::sleep_for(std::chrono::nanoseconds(sleep_ns));
  }
}

Result<void> KernelState::deactivate() {
  Result<void> result;
  bridge::WatchList watch;
  RK_TRY(begun, start_deactivate([&](Result<void> ended) { result = std::move(ended); }));
  watch.push(std::move(begun));
  drive(std::move(watch), runtime_->clock());
  return result;
}

Result<void> KernelState::terminate(const TerminateOptions& options, const Error& reason) noexcept {
  bridge::WatchList watch;
  if (auto begun = start_terminate(options, reason, nullptr)) watch.push(std::move(begun));
  drive(std::move(watch), runtime_->clock());
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return status_ == KernelStatus::terminated; });
  return termination_;
}

}  // namespace ringkernel::detail
