/// The lifecycle of one ring kernel: its status, and what changes it.
///
///     created --> launched --> active <--> deactivated
///                     \           \           /
///                      `--------> terminating --> terminated        failed: the device is lost
///
/// Changes that wait for the device are watches: polled by the bridge for the asynchronous API, by
/// the calling thread for the synchronous one.
///
/// Threading: any thread. The state lock is held for a decision, and while the kernel's memory is
/// copied, which may take seconds. Another lock is for those who only look at the status.
/// Memory ordering: whether it is active, or ever was, is advice, and relaxed; all else is locked.
/// Ownership: shares the channel; borrows the executor, until it is terminated, and the host.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bridge/bridge.hpp"
#include "bridge/channel/channel.hpp"
#include "bridge/executor/executor.hpp"
#include "ringkernel/kernel.hpp"

namespace ringkernel::detail {

/// Told how a deactivation or termination ended.
using Done = std::function<void(Result<void>)>;

/// Whom a lifecycle belongs to: who has the kernel's memory, and its place in the runtime.
class LifecycleHost {
 public:
  /// Keeps the host, and with it the lifecycle, while a watch is polled.
  [[nodiscard]] virtual std::shared_ptr<void> keep_alive() = 0;
  /// The status is another one; the state lock is held.
  virtual void changed(KernelStatus status) noexcept = 0;
  /// The channel is idle for good. `released`: the device has let go of the rings, so that they,
  /// and the place in the executor, may be given back. Where it throws, which is at its beginning,
  /// it is called again.
  virtual void stopped(bool released, const Result<void>& result) = 0;
  /// It is terminated: the id is free.
  virtual void ended() noexcept = 0;
  /// Which call of a driver keeps the device, if that is known: ": ", and which; else "".
  [[nodiscard]] virtual std::string why_late() = 0;

 protected:
  ~LifecycleHost() = default;
};

class Lifecycle {
 public:
  /// `timeout`: how long the device has to let go.
  Lifecycle(const std::string& id, LifecycleHost& host, const bridge::Clock& clock,
            std::chrono::nanoseconds timeout)
      : id_(id), host_(host), clock_(clock), timeout_(timeout) {}
  Lifecycle(const Lifecycle&) = delete;
  Lifecycle& operator=(const Lifecycle&) = delete;

  /// What it needs to end, and its place; before `launched`, which makes it visible.
  void place(bridge::Executor& executor, std::uint32_t kernel,
             std::shared_ptr<bridge::Channel> channel);
  void launched() noexcept;

  Result<void> activate();
  /// Starts a deactivation that `Bridge` or `drive` polls to its end.
  [[nodiscard]] Result<std::unique_ptr<bridge::Watch>> start_deactivate(Done done);
  /// Starts a termination. nullptr: it is over or under way, and `done`, unless it is null, is
  /// called when it is. With a null `done` it needs no memory, as `terminate`.
  [[nodiscard]] std::unique_ptr<bridge::Watch> start_terminate(const TerminateOptions& options,
                                                               const Error& reason, Done done);
  Result<void> deactivate();
  Result<void> terminate(const TerminateOptions& options, const Error& reason) noexcept;
  /// Polls watches to their ends.
  static void drive(bridge::WatchList watches, const bridge::Clock& clock) noexcept;
  /// After a termination that the device did not obey in time: whether it has since.
  [[nodiscard]] bool is_released() noexcept;
  /// Its channel's: true once no thread is at its rings, or at the executor for its sake, any more.
  /// One that runs a slice itself is, until that slice returns.
  [[nodiscard]] bool try_retire() noexcept { return place_.channel->try_retire(); }

  /// Does not wait for a copy.
  [[nodiscard]] KernelStatus status() const;
  /// If it has failed: as a change of status, once. Nobody else notices. Does nothing while
  /// somebody has the state lock: call it again.
  void tell_failure();
  /// Advice: the status may change behind it.
  [[nodiscard]] bool is_active() const noexcept {
    return is_active_.load(std::memory_order_relaxed);  // pairs with set_status; stands alone
  }
  /// Whether a reply can be waited for: invalid_state on a kernel that was never active.
  [[nodiscard]] Result<void> check_replies() const {
    // relaxed: whoever activates it while others call it cannot know which of them is first
    return was_active_.load(std::memory_order_relaxed) ? Result<void>() : check_launched();
  }
  /// What waited in vain, with the status where that is why.
  [[nodiscard]] Error explained(Error error) const;
  /// Why a plain termination ends messages.
  [[nodiscard]] Error terminated_reason() const noexcept;
  /// Why this one does.
  [[nodiscard]] Error end_reason() const;

  /// Calls `use`, with the state lock, if the device leaves the kernel's memory alone until it is
  /// activated: `wanted` launched, or launched or deactivated. invalid_state, busy, state_mismatch.
  enum class Rest : std::uint8_t { launched, launched_or_deactivated };
  Result<void> at_rest(Rest wanted, const std::function<Result<void>()>& use) const;
  /// Calls `use` with the state lock.
  template <class Use>
  void with_lock(Use&& use) noexcept {
    const std::lock_guard lock(mutex_);
    use();
  }
  /// How a pause ended: `copy` was called, the device did not obey it, another's was in the way.
  enum class Pause : std::uint8_t { copied, not_obeyed, others };
  /// Calls `copy` between two messages, with the state lock; an active kernel is paused for it.
  [[nodiscard]] Result<Pause> pause_for(std::uint64_t deadline_ns,
                                        const std::function<Result<void>()>& copy);

 private:
  friend class Deactivation;
  friend class Termination;
  friend class Migration;

  [[nodiscard]] std::uint64_t deadline_ns(std::chrono::nanoseconds timeout) const noexcept;
  [[nodiscard]] Result<void> check_launched() const;
  /// Where it throws, which is at its beginning, it can be called again. `epoch`: the one with
  /// which the device lets go of the rings, in case it has not.
  void finish_termination(bool released, std::uint32_t epoch, Result<void> result);
  void end_pause(std::uint32_t pause) noexcept;

  // With the state lock:
  void set_status(KernelStatus status) noexcept;
  /// For good.
  void set_unmigrated() noexcept;
  /// With either lock.
  [[nodiscard]] bool has_failed() const;
  /// If it has failed: why.
  [[nodiscard]] Result<void> check_usable() const;
  [[nodiscard]] Error wrong_state(const char* wanted) const;
  [[nodiscard]] Error is_migrating() const;
  /// False: not yet, and `pause` is the epoch of the kernel's pause.
  [[nodiscard]] Result<bool> try_pause(std::optional<std::uint32_t>& pause);
  /// What is said of a kernel whose state is that of another program for good. Needs no lock.
  [[nodiscard]] Error unmigrated() const;

  const std::string& id_;
  LifecycleHost& host_;
  const bridge::Clock& clock_;
  const std::chrono::nanoseconds timeout_;
  /// Set by `place`.
  struct Place {
    bridge::Executor* executor = nullptr;
    std::uint32_t kernel = 0;
    std::shared_ptr<bridge::Channel> channel;
    std::unique_ptr<bridge::Watch> ending;  // made with it: to end needs no memory
    std::uint32_t last_epoch = 0;           // of the termination; set before `terminated`
  };
  Place place_;
  std::atomic<bool> was_active_{false};
  std::atomic<bool> is_active_{false};

  mutable std::mutex mutex_;  // of the state
  std::condition_variable changed_;
  /// Held for a look, or a change, of the two that follow; innermost. They are changed with both
  /// locks, and read with either.
  mutable std::mutex looking_;
  KernelStatus status_ = KernelStatus::created;
  bool is_unmigrated_ = false;  // for good: its state is another program's
  // What is under way or was done, beside the status:
  bool deactivating_ = false;
  bool copying_ = false;      // the memory: two who do would take each other's pause away
  bool migrating_ = false;    // its state is being made anew: only a termination until then
  bool ending_told_ = false;  // the device was told that it is absent
  bool failure_told_ = false;
  bool on_device_ = false;  // the device was told of it at least once
  Error end_reason_;        // set when it begins to terminate
  std::vector<Done> on_terminated_;
  Result<void> termination_;
};

}  // namespace ringkernel::detail
