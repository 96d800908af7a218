/// What a `RingKernelRuntime` is: the device, its arena, the programs on it and the registry of
/// kernels.
///
/// Threading: any thread. The registry's lock is never held while something slow happens: an id is
/// reserved first, and given up if the rest fails.
/// Ownership: kernels and their handles share this; `shutdown` takes the device away from them.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <condition_variable>
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
#include "ringkernel/options.hpp"
#include "ringkernel/telemetry.hpp"
#include "runtime/arena.hpp"
#include "runtime/function_cache.hpp"
#include "runtime/program.hpp"
#include "runtime/tensor_table.hpp"

namespace ringkernel::detail {

class KernelState;

class RuntimeState : public std::enable_shared_from_this<RuntimeState> {
 public:
  RuntimeState(const RuntimeOptions& options, std::string backend_name,
               const rk_device_description& description, backend::Device device,
               const rk_device_state& device_state);
  RuntimeState(const RuntimeState&) = delete;
  RuntimeState& operator=(const RuntimeState&) = delete;
  ~RuntimeState();

  [[nodiscard]] Result<std::shared_ptr<KernelState>> launch(std::string_view id,
                                                            const KernelOptions& options);
  /// nullptr if there is no such kernel, or it is still being built.
  [[nodiscard]] std::shared_ptr<KernelState> find(std::string_view id) const;
  [[nodiscard]] std::vector<std::string> ids() const;
  [[nodiscard]] RuntimeMetrics metrics() const;
  Result<void> shutdown();
  Result<void> restart(std::string_view name);

  /// A tensor. Where there is no room, answers that nobody has taken yet are taken first: they may
  /// be all that keeps deallocated tensors in place.
  [[nodiscard]] Result<TensorId> allocate(const TensorDesc& desc);

  /// The program with this name, built if this is its first use.
  [[nodiscard]] Result<Program*> program(const std::string& name);
  /// The kernel has ended: its id is free again.
  void forget(const KernelState& kernel);
  /// The kernel has ended, but the device may still touch its rings: they stay until `restart`.
  void keep(std::shared_ptr<KernelState> kernel);

  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] Arena& arena() noexcept { return *arena_; }
  [[nodiscard]] TensorTable& tensors() noexcept { return *tensors_; }
  [[nodiscard]] FunctionCache& functions() noexcept { return functions_; }
  [[nodiscard]] bridge::Bridge& bridge() noexcept { return bridge_; }
  [[nodiscard]] const bridge::Clock& clock() const noexcept { return clock_; }
  /// Runs a build on a thread of the runtime. False, and nothing happens, once the runtime is
  /// closed.
  [[nodiscard]] bool post_build(std::function<void()> build);
  /// Absolute time of a timeout from this moment.
  [[nodiscard]] std::uint64_t deadline_ns(std::chrono::nanoseconds timeout) const noexcept;

 private:
  /// Waits until the slices of a program without kernels have returned, then gives everything of
  /// it back.
  Result<void> end_program(std::string_view name);

  const RuntimeOptions options_;
  const std::string backend_name_;
  const std::string device_name_;
  const bridge::SteadyClock clock_;

  std::optional<backend::Device> device_;
  std::optional<Arena> arena_;
  std::optional<TensorTable> tensors_;
  FunctionCache functions_;  // its functions share this until shutdown

  mutable std::mutex programs_mutex_;  // held for a build: the second user of a program waits
  std::map<std::string, std::unique_ptr<Program>, std::less<>> programs_;

  bridge::Bridge bridge_;
  boost::asio::thread_pool builder_{1};

  std::mutex shutdown_mutex_;  // held for a shutdown or restart: one after the other

  mutable std::mutex registry_mutex_;
  std::map<std::string, std::shared_ptr<KernelState>, std::less<>> kernels_;
  std::condition_variable launched_;
  std::size_t launching_ = 0;  // launches between reservation and end; shutdown waits for them
  bool restarting_ = false;    // no launches meanwhile
  bool closed_ = false;
  std::vector<std::shared_ptr<KernelState>> kept_;
};

}  // namespace ringkernel::detail
