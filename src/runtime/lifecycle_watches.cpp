// The two changes of a lifecycle that wait for the device.
#include <optional>
#include <utility>

#include "ringkernel/protocol/control_block.h"
#include "runtime/lifecycle.hpp"

namespace ringkernel::detail {

/// active -> deactivated: over when the executor obeys.
class Deactivation final : public bridge::Watch {
 public:
  Deactivation(Lifecycle& kernel, Done done)
      : kernel_(kernel),
        alive_(kernel.host_.keep_alive()),
        deadline_ns_(kernel.deadline_ns(kernel.timeout_)),
        done_(std::move(done)) {}

  /// With it the device lets go.
  void begin(std::uint32_t epoch) noexcept { epoch_ = epoch; }

  bool poll(std::uint64_t now_ns) override {
    std::optional<Result<void>> result;
    {
      const std::lock_guard lock(kernel_.mutex_);
      result = look(now_ns);
      if (!result) return false;
      kernel_.deactivating_ = false;
    }
    done_(std::move(*result));
    return true;
  }

 private:
  /// How it ended, if it has. The state lock is held.
  std::optional<Result<void>> look(std::uint64_t now_ns) {
    if (kernel_.status_ != KernelStatus::active) return kernel_.end_reason_;
    // Here the program exists: it outlives the kernel's termination.
    const Lifecycle::Place& place = kernel_.place_;
    bridge::Executor& executor = *place.executor;
    if (executor.failed()) return executor.failure();
    executor.go_on(place.kernel);
    if (executor.obeys(place.kernel, epoch_)) {
      kernel_.set_status(KernelStatus::deactivated);
      return Result<void>();
    }
    if (now_ns < deadline_ns_) return std::nullopt;
    Error late(Errc::execution_timeout,
               "kernel '" + kernel_.id_ + "' was not let go of by the device; it stays active");
    place.channel->set_state(RK_KERNEL_RUNNING);  // it stays what it is
    return late;
  }

  Lifecycle& kernel_;
  const std::shared_ptr<void> alive_;
  std::uint32_t epoch_ = 0;
  const std::uint64_t deadline_ns_;
  const Done done_;
};

Result<std::unique_ptr<bridge::Watch>> Lifecycle::start_deactivate(Done done) {
  const std::lock_guard lock(mutex_);
  RK_TRY_VOID(check_usable());
  if (status_ != KernelStatus::active || deactivating_) return wrong_state("deactivated");
  if (migrating_) return is_migrating();
  auto deactivation = std::make_unique<Deactivation>(*this, std::move(done));
  deactivating_ = true;
  deactivation->begin(place_.channel->set_state(RK_KERNEL_PAUSED));
  return std::unique_ptr<bridge::Watch>(std::move(deactivation));
}

/// any -> terminated: close, drain if asked, wait until the device has let go, give everything
/// back.
class Termination final : public bridge::Watch {
 public:
  explicit Termination(Lifecycle& kernel) noexcept : kernel_(kernel) {}

  void begin(bool drain, std::uint64_t deadline_ns, Error reason) noexcept {
    alive_ = kernel_.host_.keep_alive();
    drain_ = drain;
    deadline_ns_ = deadline_ns;
    reason_ = std::move(reason);
  }

  bool poll(std::uint64_t now_ns) override {
    bridge::Executor& executor = *kernel_.place_.executor;
    bridge::Channel& channel = *kernel_.place_.channel;
    const std::uint32_t kernel = kernel_.place_.kernel;
    const bool overdue = now_ns >= deadline_ns_;
    channel.close(reason_);
    if (drain_ && !is_unmigrated() && !channel.idle() && !overdue && !executor.failed()) {
      (void)channel.try_drain();
      (void)channel.do_housekeeping(now_ns);
      return false;
    }
    if (!told_) {
      const std::lock_guard lock(kernel_.mutex_);  // no swap changes it behind this
      told_ = kernel_.ending_told_ = true;
      if (kernel_.on_device_) epoch_ = channel.set_state(RK_KERNEL_ABSENT);
    }
    executor.go_on(kernel);
    const bool released =
        !kernel_.on_device_ || executor.failed() || executor.obeys(kernel, epoch_);
    if (!released && !overdue) return false;
    // Who sends, or is at the output ring, leaves soon, unless it runs the slice itself.
    const bool retired = channel.try_retire();
    if (!retired && now_ns < deadline_ns_ + passing_ns) return false;
    channel.fail_all(reason_);
    if (!channel.idle()) return false;  // somebody else is ending a message right now
    Result<void> result;
    if (!released)
      result = Error(Errc::execution_timeout,
                     "kernel '" + kernel_.id_ + "' was not let go of by the device" +
                         kernel_.host_.why_late() + "; its rings stay allocated until it is");
    else if (!retired)
      result = Error(Errc::execution_timeout,
                     "a call of kernel '" + kernel_.id_ +
                         "' has not returned from its slice; its rings stay allocated until then");
    kernel_.finish_termination(released && retired && !executor.failed(), epoch_,
                               std::move(result));
    return true;
  }

 private:
  /// What a thread at the rings has beyond the deadline to go by.
  static constexpr std::uint64_t passing_ns = 10'000'000;

  /// Then nobody handles its messages any more.
  [[nodiscard]] bool is_unmigrated() const {
    const std::lock_guard lock(kernel_.mutex_);
    return kernel_.is_unmigrated_;
  }

  Lifecycle& kernel_;
  std::shared_ptr<void> alive_;
  bool drain_ = false;
  std::uint64_t deadline_ns_ = 0;
  Error reason_;
  bool told_ = false;
  std::uint32_t epoch_ = 0;
};

void Lifecycle::place(bridge::Executor& executor, std::uint32_t kernel,
                      std::shared_ptr<bridge::Channel> channel) {
  place_ = {&executor, kernel, std::move(channel), std::make_unique<Termination>(*this), 0};
}

std::unique_ptr<bridge::Watch> Lifecycle::start_terminate(const TerminateOptions& options,
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
  const auto timeout = options.timeout.count() != 0 ? options.timeout : timeout_;
  static_cast<Termination&>(*place_.ending).begin(drain, deadline_ns(timeout), reason);
  return std::move(place_.ending);
}

}  // namespace ringkernel::detail
