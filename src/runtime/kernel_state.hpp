/// One ring kernel, which its handles share: owner of its lifecycle, of the exchange of messages,
/// and of what is counted, over its memory and its channel. Its functions are many because each
/// handle, and who publishes the metrics, find here all that there is of a ring kernel.
///
/// Threading: any thread. What is not the lifecycle's is set by `open`, before anybody has a
/// handle, or changed in a pause of the device, with the state lock of the lifecycle.
/// Ownership: shares the runtime's state.
/// Errors: the public functions put errors into the log (edge.hpp), once. That of a termination is
/// put there where it ends: nobody may be waiting for it, or several.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bridge/channel/channel.hpp"
#include "foundation/fork.hpp"
#include "observe/observed.hpp"
#include "ringkernel/kernel.hpp"
#include "runtime/calls/exchange.hpp"
#include "runtime/kernel_memory.hpp"
#include "runtime/kernel_metrics.hpp"
#include "runtime/kernel_program.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/program.hpp"
#include "runtime/runtime_state.hpp"

namespace ringkernel::detail {

class KernelState final : public std::enable_shared_from_this<KernelState>,
                          public ObservedKernel,
                          private LifecycleHost {
 public:
  using RegionCopy = KernelMemory::RegionCopy;

  /// Whether the options are acceptable. invalid_argument with the reason.
  [[nodiscard]] static Result<void> check(const KernelOptions& options);

  KernelState(std::shared_ptr<RuntimeState> runtime, std::string id, const KernelOptions& options);
  KernelState(const KernelState&) = delete;
  KernelState& operator=(const KernelState&) = delete;
  ~KernelState() = default;

  /// created -> launched: rings, a place in the executor, a channel.
  Result<void> open(Program& program);

  [[nodiscard]] Lifecycle& lifecycle() noexcept { return lifecycle_; }
  [[nodiscard]] const Lifecycle& lifecycle() const noexcept { return lifecycle_; }
  /// Of its program. It has no behaviour behind the end of the kernel.
  [[nodiscard]] KernelProgram& program() noexcept { return program_; }
  [[nodiscard]] const KernelProgram& program() const noexcept { return program_; }
  // These are there once it is open.
  /// With the state lock, but for `take_state`.
  [[nodiscard]] KernelMemory& memory() noexcept { return *memory_; }
  [[nodiscard]] Exchange& exchange() noexcept { return *exchange_; }
  [[nodiscard]] MetricsSource& metrics_source() noexcept { return *metrics_; }

  [[nodiscard]] KernelStatus status() const { return lifecycle_.status(); }
  // As of an ObservedKernel.
  [[nodiscard]] KernelMetrics metrics() const override;
  [[nodiscard]] KernelActivity activity() const override;
  void tell_failure() override { lifecycle_.tell_failure(); }
  [[nodiscard]] std::vector<CallInFlight> calls(std::size_t count) const override {
    return metrics_->calls(count);
  }
  void copy_latency(Histogram& latency) const override { metrics_->copy_latency(latency); }

  Result<void> read_state(std::span<std::byte> bytes);
  Result<void> write_state(Bytes bytes);
  /// The state as JSON by the program's schema, or as hexadecimal digits in a string where it has
  /// none. An active kernel is paused for the copy: its messages wait, and go on behind it. Waits
  /// for the device, and for a change of state or a migration under way, for `timeout` at most:
  /// busy.
  [[nodiscard]] Result<std::string> state_json(std::chrono::nanoseconds timeout) override;
  /// KernelMemory::share and add, before the kernel is active. E6004, invalid_state.
  Result<std::shared_ptr<const Arena::Region>> share_region(
      std::uint64_t bytes, const std::function<void(std::byte*, std::uint64_t)>& fill);
  Result<std::uint64_t> add_region(std::uint64_t bytes,
                                   std::shared_ptr<const Arena::Region> shared);
  /// Behind the messages that were accepted before, between two others: an active kernel is paused
  /// for the copy. Waits at most for `timeout`: deadline_exceeded.
  Result<void> copy_region(std::chrono::nanoseconds timeout, const RegionCopy& copy);

  /// After a termination that the device did not obey, once its slices have returned after all:
  /// gives back the rings, and the tensors of messages that were in flight.
  void give_back() noexcept;
  /// The same where the device alone has let go. One thread at a time.
  [[nodiscard]] bool try_give_back() noexcept;

  /// Whether it was made before a fork: then nothing but this and the id may be asked.
  [[nodiscard]] bool is_foreign() const noexcept { return mark_.is_foreign(); }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] RuntimeState& runtime() const noexcept { return *runtime_; }
  /// Puts the error into the runtime's log.
  void note(const Error& error) const noexcept { runtime_->reporting().note(id_, error); }

 private:
  friend class RuntimeState;  // next_ending_

  // As of a LifecycleHost.
  [[nodiscard]] std::shared_ptr<void> keep_alive() override { return shared_from_this(); }
  void changed(KernelStatus status) noexcept override {
    runtime_->reporting().changed(id_, status);
  }
  void stopped(bool released, const Result<void>& result) override;
  void ended() noexcept override { runtime_->forget(*this); }
  [[nodiscard]] std::string why_late() override { return placed_->why_late(); }

  /// Until all that is accepted by now has its outcome. deadline_exceeded.
  Result<void> wait_for_accepted(std::uint64_t deadline_ns);

  const std::shared_ptr<RuntimeState> runtime_;
  const std::string id_;
  const KernelOptions options_;
  const ForkMark mark_;
  KernelProgram program_;
  Lifecycle lifecycle_;

  std::optional<KernelMemory> memory_;  // set by open, as are the five below
  Program* placed_ = nullptr;           // gone after shutdown
  std::uint32_t kernel_ = 0;            // its index there
  std::shared_ptr<bridge::Channel> channel_;
  std::optional<Exchange> exchange_;
  std::optional<MetricsSource> metrics_;

  std::shared_ptr<KernelState> next_ending_;  // of those that shutdown or restart ends together
};

}  // namespace ringkernel::detail
