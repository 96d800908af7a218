/// What is counted of one ring kernel, put together from those who count: its channel, its
/// executor, the copy agent, and the positions of its rings.
///
/// Threading: any thread. The lock is held while rings and executor are looked at, so that behind
/// `freeze` nobody does any more.
/// Ownership: shares the channel; borrows the rest, until `freeze` the executor and the rings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bridge/channel/channel.hpp"
#include "bridge/clock.hpp"
#include "bridge/dma/copy_agent.hpp"
#include "bridge/executor/executor.hpp"
#include "foundation/histogram.hpp"
#include "observe/observed.hpp"
#include "ringkernel/telemetry.hpp"
#include "runtime/kernel_program.hpp"

namespace ringkernel::detail {

class MetricsSource {
 public:
  /// Whom it asks. The rings are those at their offsets behind `arena`.
  struct Sources {
    std::shared_ptr<bridge::Channel> channel;
    const bridge::Executor& executor;
    const bridge::CopyAgent* copy_agent;  ///< nullptr: the device works on the host's memory
    std::uint32_t kernel;                 ///< its index in the executor
    std::byte* arena;
    bridge::KernelRings rings;
    const KernelProgram& program;
    const bridge::Clock& clock;
  };

  /// What the device has counted by now for those who had this place is not the kernel's.
  MetricsSource(std::string id, Sources sources);
  MetricsSource(const MetricsSource&) = delete;
  MetricsSource& operator=(const MetricsSource&) = delete;

  /// Counts these methods from here on.
  void count_methods(const program::Behaviour* behaviour);
  [[nodiscard]] KernelMetrics metrics(KernelStatus status) const;
  [[nodiscard]] KernelActivity activity(KernelStatus status) const;
  /// Kernel::calls.
  [[nodiscard]] std::vector<CallInFlight> calls(std::size_t count) const;
  /// Makes `latency` what it is at this moment; leaves it alone if no times are taken.
  void copy_latency(Histogram& latency) const;
  /// The kernel has ended: its metrics stay what they are now, and rings and executor may go.
  void freeze() noexcept;

 private:
  /// All that was counted; with the lock, as the next ones.
  [[nodiscard]] KernelMetrics all() const;
  void add_channel(KernelMetrics& metrics) const;
  void add_executor(KernelMetrics& metrics) const;
  void add_rings(KernelMetrics& metrics) const;
  void add_methods(KernelMetrics& metrics, const program::Behaviour* behaviour) const;
  void add_latencies(KernelMetrics& metrics) const;

  const std::string id_;
  const Sources of_;
  mutable std::mutex mutex_;
  std::optional<KernelMetrics> last_;
  KernelMetrics before_;
};

}  // namespace ringkernel::detail
