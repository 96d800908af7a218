/// A program as it runs on the device: its executor at the backend, its region in the arena, and
/// the bridge's end of it. Between the two it chooses who runs the slices: the backend, or the
/// copy agent where the device has memory of its own.
///
/// Threading: any thread once `open` has returned.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>

#include "backend/backend.hpp"
#include "bridge/clock.hpp"
#include "bridge/dma/copy_agent.hpp"
#include "bridge/executor/executor.hpp"
#include "program/definition.hpp"
#include "ringkernel/telemetry.hpp"
#include "runtime/direct_port.hpp"
#include "runtime/dma_device.hpp"
#include "runtime/kernel_program.hpp"
#include "runtime/memory/arena.hpp"
#include "runtime/memory/device_memory.hpp"
#include "runtime/slice_trace.hpp"

namespace ringkernel {

struct ProgramOptions {
  std::uint32_t version = 1;  ///< of the definition
  bridge::ExecutorLimits limits;
  std::chrono::nanoseconds park_after{0};
  std::chrono::nanoseconds spin_for{0};
  std::chrono::nanoseconds slice_for{0};
  std::chrono::nanoseconds driver_timeout{0};
  std::chrono::nanoseconds turn_for{0};
  std::uint64_t polls_per_ms = 0;  ///< of the device, idle, as its self-test measured; 0 = unknown
  bool slices_have_clock = false;  ///< and measure `park_after` themselves
  TraceLog* trace = nullptr;       ///< is told of slices; nullptr: nobody is
};

class Program final {
 public:
  /// Builds the program. Where slices have no clock and share the host's memory it measures how
  /// long an idle poll takes, so that `park_after` means time.
  [[nodiscard]] static Result<std::unique_ptr<Program>> open(DeviceMemory& memory, Arena& arena,
                                                             DefinitionPointer definition,
                                                             const ProgramOptions& options);

  /// Builds what `replace` is to install, beside the slices. One thread at a time, as `replace`.
  [[nodiscard]] Result<void> prepare(const DefinitionPointer& next, std::uint32_t version);
  /// Slices that begin from here on are of what was prepared, which is the program's definition
  /// then; returns when no other runs any more. E6007, where one still does. With `launches` alone.
  [[nodiscard]] Result<void> replace(DefinitionPointer next, std::uint32_t version,
                                     std::uint64_t timeout_ns);
  /// Shared by those who launch a kernel of the program, until it is one.
  [[nodiscard]] std::shared_mutex& launches() noexcept { return launches_; }

  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] bridge::Executor& executor() noexcept { return *executor_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// With `launches`.
  [[nodiscard]] const DefinitionPointer& definition() const noexcept { return definition_; }
  [[nodiscard]] std::uint32_t version() const noexcept { return version_; }  ///< likewise

  /// Adds the slices that were launched on the device so far, and the copies that were started.
  void add_to(RuntimeMetrics& metrics) const noexcept {
    metrics.slices += copy_agent_ ? copy_agent_->device_slices() : executor_->slices_launched();
    if (dma_) dma_->add_to(metrics);
  }

  /// nullptr: the device works on the host's memory.
  [[nodiscard]] const bridge::CopyAgent* copy_agent() const noexcept {
    return copy_agent_ ? &*copy_agent_ : nullptr;
  }

  /// Tells the trace of a slice that has ended since the last look. Nobody else knows when: those
  /// who send look, and who publishes the metrics does.
  void note_parked() {
    trace_.ended_if([this] { return executor_->parked(0); });
  }

  /// Whether slices can run on the thread that launches them.
  [[nodiscard]] bool runs_on_caller() const noexcept { return executor_->runs_on_caller(); }
  /// Whether that runs the ops themselves, and not only copies for a device that does.
  [[nodiscard]] bool runs_ops_on_caller() const noexcept {
    return !copy_agent_ && runs_on_caller();
  }
  /// Whether a slice or a copy of it is under way, or a driver may still begin one, after that
  /// time. Then its region and the program have to stay.
  [[nodiscard]] bool is_at_work(std::uint64_t timeout_ns);
  /// As of a bridge::DevicePort: which call of the driver lasts.
  [[nodiscard]] std::string why_late();

 private:
  Program(DeviceMemory& memory, DefinitionPointer definition, Arena::Region region, TraceLog* trace)
      : memory_(memory),
        name_(definition->name()),
        trace_(trace, clock_, name_),
        definition_(std::move(definition)),
        region_(std::move(region)),
        region_offset_(region_.offset()),
        region_bytes_(region_.bytes()) {}

  [[nodiscard]] Result<void> start(Arena& arena, const ProgramOptions& options);
  /// Makes what is to run the slices.
  [[nodiscard]] bridge::SlicePort& choose_port(std::byte* arena, const ProgramOptions& options);
  /// Polls after which an idle slice has to park, where that is known beforehand.
  [[nodiscard]] std::uint32_t idle_polls_max(const ProgramOptions& options) const noexcept;

  DeviceMemory& memory_;
  const bridge::SteadyClock clock_;
  const std::string name_;
  SliceTrace trace_;
  std::shared_mutex launches_;
  DefinitionPointer definition_;
  std::uint32_t version_ = 1;   // of the definition
  const Arena::Region region_;  // goes last, when nothing touches it any more
  const std::uint64_t region_offset_;
  const std::uint64_t region_bytes_;
  std::uint32_t work_groups_ = 1;
  std::optional<backend::OpenExecutor> port_;
  std::optional<TracedPort<DirectPort>> direct_;  // where the device works on the host's memory
  std::optional<DmaDevice> dma_;                  // where it has its own, as the copy agent
  std::optional<bridge::Executor> executor_;
  std::optional<TracedPort<bridge::CopyAgent>> copy_agent_;  // goes first: it ends its thread
};

}  // namespace ringkernel
