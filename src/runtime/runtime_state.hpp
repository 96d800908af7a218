/// What a `RingKernelRuntime` is: the device, its arena, and the registry of kernels; owner of the
/// programs, and of what it tells of itself. Its functions are many because each handle and each
/// kernel finds here what it shares with others, a line for each.
///
/// Threading: any thread. The registry's lock is never held while something slow happens: an id is
/// reserved first, and given up if the rest fails.
/// Ownership: kernels and their handles share this; `shutdown` takes the device away from them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "bridge/bridge.hpp"
#include "bridge/tick_clock.hpp"
#include "foundation/fork.hpp"
#include "observe/observed.hpp"
#include "ringkernel/log.hpp"
#include "ringkernel/options.hpp"
#include "ringkernel/telemetry.hpp"
#include "runtime/functions/function_cache.hpp"
#include "runtime/memory/arena.hpp"
#include "runtime/memory/device_memory.hpp"
#include "runtime/memory/tensor_table.hpp"
#include "runtime/program.hpp"
#include "runtime/program_table.hpp"
#include "runtime/reporting.hpp"

namespace ringkernel::detail {

class KernelState;
class Migration;

/// Why it can be no runtime's name; empty: it can.
[[nodiscard]] std::string fault_of_name(std::string_view name);

class RuntimeState final : public std::enable_shared_from_this<RuntimeState>,
                           public ObservedRuntime {
 public:
  RuntimeState(const RuntimeOptions& options, std::string backend_name,
               const rk_device_description& description, backend::OpenDevice device,
               const rk_device_state& device_state);
  RuntimeState(const RuntimeState&) = delete;
  RuntimeState& operator=(const RuntimeState&) = delete;
  ~RuntimeState();

  /// Once, before anything else: starts the threads. `log`: nullptr: none. Where it throws, the
  /// destructor ends what was started.
  void start(std::shared_ptr<LogSink> log);

  [[nodiscard]] Result<std::shared_ptr<KernelState>> launch(std::string_view id,
                                                            const KernelOptions& options);
  /// nullptr if there is no such kernel, or it is still being built.
  [[nodiscard]] std::shared_ptr<KernelState> find(std::string_view id) const;
  [[nodiscard]] std::vector<std::string> ids() const;
  /// Those that are there for messages, or were.
  [[nodiscard]] std::vector<std::shared_ptr<KernelState>> kernels() const;
  [[nodiscard]] std::vector<std::shared_ptr<ObservedKernel>> observed_kernels() const override;
  [[nodiscard]] std::vector<std::shared_ptr<KernelState>> kernels_of(
      std::string_view program) const;
  [[nodiscard]] RuntimeMetrics metrics() const;
  /// The same, without waiting for a program that is being built: nothing then.
  [[nodiscard]] std::optional<RuntimeMetrics> try_metrics() const override;
  /// The sentence about how much of an executor the device keeps, for a refusal.
  [[nodiscard]] std::string device_limits() const;
  /// Needs no memory.
  Result<void> shutdown() noexcept;
  Result<void> restart(std::string_view name);

  /// A tensor. Where there is no room, answers that nobody has taken yet are taken first: they may
  /// be all that keeps deallocated tensors in place.
  [[nodiscard]] Result<TensorId> allocate(const TensorDesc& desc);

  /// RingKernelRuntime::add_program.
  Result<ProgramInfo> add_program(const ProgramDesc& desc);
  /// RingKernelRuntime::swap_program, swap_back.
  Result<SwapInfo> swap_program(const ProgramDesc& desc);
  Result<SwapInfo> swap_back(std::string_view name);
  /// The kernel has ended: its id is free again.
  void forget(const KernelState& kernel) noexcept;
  /// The kernel has ended, but the device may still touch its rings: they stay until a launch finds
  /// that it has let go, or until `restart`.
  void keep(std::shared_ptr<KernelState> kernel);

  /// Whether it was made before a fork: then nothing but this may be asked.
  [[nodiscard]] bool is_foreign() const noexcept { return mark_.is_foreign(); }
  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] Arena& arena() noexcept { return *arena_; }
  [[nodiscard]] DeviceMemory& memory() noexcept { return *memory_; }
  [[nodiscard]] TensorTable& tensors() noexcept { return *tensors_; }
  [[nodiscard]] FunctionCache& functions() noexcept { return functions_; }
  [[nodiscard]] bridge::Bridge& bridge() noexcept { return bridge_; }
  [[nodiscard]] const bridge::Clock& clock() const noexcept { return clock_; }
  [[nodiscard]] ProgramTable& programs() noexcept { return *programs_; }
  [[nodiscard]] Reporting& reporting() noexcept { return reporting_; }
  // As of an ObservedRuntime.
  [[nodiscard]] const ErrorLog& errors() const noexcept override { return reporting_.errors(); }
  void take_trace(std::vector<TraceEvent>& events) override;
  [[nodiscard]] std::uint64_t trace_missed() const noexcept override {
    return reporting_.traced().missed();
  }
  /// Runs a build on the worker. False, and nothing happens, once the runtime is closed; likewise
  /// where it throws std::bad_alloc.
  [[nodiscard]] bool post_build(std::function<void()> build);
  /// Absolute time of a timeout from this moment.
  [[nodiscard]] std::uint64_t deadline_ns(std::chrono::nanoseconds timeout) const noexcept;

 private:
  /// The metrics that the programs have no part in.
  [[nodiscard]] RuntimeMetrics own_metrics() const;
  using Current = ProgramTable::Current;
  /// What takes the place of the user's own program of that name. One at a time: busy.
  using MakeNext = std::function<Result<DefinitionPointer>(const Current& running)>;
  [[nodiscard]] Result<SwapInfo> swap(std::string_view name, const MakeNext& make_next);
  /// With the place of a launch, so that neither shutdown nor restart is under way.
  [[nodiscard]] Result<SwapInfo> swap_running(const Current& running,
                                              const DefinitionPointer& next);
  [[nodiscard]] Result<void> migrate(std::deque<Migration>& migrations, Program& program,
                                     const program::Definition& next,
                                     std::uint64_t timeout_ns) const;
  /// Side by side: together they take no longer than one that does not obey. The last error.
  /// `first` and those that follow it by `next_ending_`.
  Result<void> terminate_all(std::shared_ptr<KernelState> first, const Error& reason) noexcept;
  /// Waits for the builds that were posted: each ends at once, now that the runtime is closed.
  void wait_for_builds() noexcept;
  /// Until no thread runs a slice for a kernel that has ended, of one program or, where it is
  /// empty, of any. False after `termination_timeout`.
  [[nodiscard]] bool wait_for_callers(std::string_view program) noexcept;
  /// The end of what was counted in `launching_`.
  void end_launching() noexcept;
  /// Waits until nothing is, for `termination_timeout`; with the registry's lock.
  [[nodiscard]] bool wait_for_launches(std::unique_lock<std::mutex>& lock);

  const ForkMark mark_;
  const RuntimeOptions options_;
  const std::string backend_name_;
  const std::string device_name_;
  const std::uint32_t work_groups_max_;  // as the device says
  const std::uint32_t work_items_max_;
  bridge::TickClock clock_;
  Reporting reporting_;

  const rk_device_state opened_;  // as the device was when it was opened
  std::unique_ptr<DeviceMemory> memory_;
  std::optional<Arena> arena_;
  std::optional<TensorTable> tensors_;
  FunctionCache functions_;  // its functions share this until shutdown

  std::optional<ProgramTable> programs_;
  bridge::Bridge bridge_;

  std::mutex shutdown_mutex_;  // held for a shutdown or restart: one after the other

  mutable std::mutex registry_mutex_;
  std::map<std::string, std::shared_ptr<KernelState>, std::less<>> kernels_;
  std::condition_variable launched_;
  // Launches, swaps and programs being added; shutdown and restart wait for them.
  std::size_t launching_ = 0;
  std::size_t builds_ = 0;   // posted, and not over
  bool restarting_ = false;  // no launches meanwhile
  bool swapping_ = false;
  bool closed_ = false;
  bool is_left_ = false;  // closed while launches, builds or calls went on: it is theirs
  std::vector<std::shared_ptr<KernelState>> kept_;
};

}  // namespace ringkernel::detail
