/// A program as it runs on the device: its executor at the backend, its region in the arena, and
/// the bridge's end of it.
///
/// Threading: any thread once `open` has returned.
/// Memory ordering: its atomics are figures, and the number of the last copy; they stand alone.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>

#include "backend/backend.hpp"
#include "bridge/clock.hpp"
#include "bridge/dma/mover.hpp"
#include "bridge/executor/executor.hpp"
#include "foundation/trace_log.hpp"
#include "program/definition.hpp"
#include "ringkernel/telemetry.hpp"
#include "runtime/memory/arena.hpp"
#include "runtime/memory/device_memory.hpp"

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

using DefinitionPointer = std::shared_ptr<const program::Definition>;

class Program final : public bridge::SlicePort, private bridge::DevicePort {
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
    metrics.slices += mover_ ? mover_->device_slices() : executor_->slices_launched();
    metrics.copies += copies_.load(std::memory_order_relaxed);  // a figure, as is the next
    metrics.copied_bytes += copied_bytes_.load(std::memory_order_relaxed);
  }

  /// Copies for the kernel alone; none where the device works on the host's memory.
  [[nodiscard]] bridge::CopyCounts copies(std::uint32_t kernel) const noexcept {
    return mover_ ? mover_->copies(kernel) : bridge::CopyCounts();
  }

  /// Tells the trace of a slice that has ended since the last look. Nobody else knows when: those
  /// who send look, and who publishes the figures does.
  void note_parked();

  Result<void> launch(std::uint32_t slice) override;
  bool run(std::uint32_t slice) override;
  bool runs_on_caller() const noexcept override {
    return mover_ || (port_->can_run() && work_groups_ == 1);
  }
  /// Whether that runs the ops themselves, and not only copies for a device that does.
  [[nodiscard]] bool runs_ops_on_caller() const noexcept { return !mover_ && runs_on_caller(); }
  Result<void> wait(std::uint64_t timeout_ns) override;
  Result<void> error() override;
  void refresh_telemetry(std::uint32_t kernel) override;
  /// Whether a slice or a copy of it is under way, or a driver may still begin one, after that
  /// time. Then its region and the program have to stay.
  [[nodiscard]] bool is_at_work(std::uint64_t timeout_ns);
  /// As of a bridge::DevicePort: which call of the driver lasts.
  [[nodiscard]] std::string why_late() override;

 private:
  Program(DeviceMemory& memory, DefinitionPointer definition, Arena::Region region)
      : memory_(memory),
        name_(definition->name()),
        definition_(std::move(definition)),
        region_(std::move(region)),
        region_offset_(region_.offset()),
        region_bytes_(region_.bytes()) {}

  [[nodiscard]] Result<void> start(Arena& arena, const ProgramOptions& options);
  /// The slice launched last has ended, if that was not told; with the lock of the trace.
  void end_span();
  /// Polls after which an idle slice has to park.
  [[nodiscard]] Result<std::uint32_t> idle_polls_max(const ProgramOptions& options);
  /// Nanoseconds of one idle poll of a resident slice.
  [[nodiscard]] Result<double> measure_poll_ns(std::uint64_t timeout_ns);

  Result<std::uint64_t> start_copies(std::span<const rk_copy> copies) override;
  Result<bool> copies_ended(std::uint64_t ticket, std::uint64_t timeout_ns) override;
  Result<bool> launch_on_device(std::uint32_t slice) override;
  Result<bool> slices_returned(std::uint64_t timeout_ns) override;

  DeviceMemory& memory_;
  const bridge::SteadyClock clock_;
  const std::string name_;
  std::shared_mutex launches_;
  DefinitionPointer definition_;
  std::uint32_t version_ = 1;   // of the definition
  const Arena::Region region_;  // goes last, when nothing touches it any more
  const std::uint64_t region_offset_;
  const std::uint64_t region_bytes_;
  std::uint32_t work_groups_ = 1;
  TraceLog* trace_ = nullptr;
  std::mutex trace_mutex_;        // guards the two below, and whether they are anything
  std::uint32_t span_slice_ = 0;  // of the slice launched last, whose end was not told yet
  std::uint64_t span_begin_ns_ = 0;
  std::atomic<bool> has_span_{false};  // changed with the lock
  std::atomic<std::uint64_t> copies_{0};
  std::atomic<std::uint64_t> copied_bytes_{0};
  std::atomic<std::uint64_t> last_ticket_{0};
  std::optional<backend::Executor> port_;
  std::optional<bridge::Executor> executor_;
  std::optional<bridge::Mover> mover_;  ///< where the device has memory of its own
};

}  // namespace ringkernel
