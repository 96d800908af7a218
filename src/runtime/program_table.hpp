/// The programs of a runtime: what their names stand for, and those of them that are on the device.
///
/// Threading: any thread. A program that is being built keeps nobody waiting but those who want it.
/// Ownership: owns the programs; borrows what they work on, until `close`.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "backend/backend.hpp"
#include "bridge/bridge.hpp"
#include "bridge/tick_clock.hpp"
#include "foundation/trace_log.hpp"
#include "ringkernel/options.hpp"
#include "ringkernel/telemetry.hpp"
#include "runtime/memory/arena.hpp"
#include "runtime/memory/device_memory.hpp"
#include "runtime/program.hpp"

namespace ringkernel::detail {

class ProgramTable {
 public:
  /// What they work on.
  struct Place {
    DeviceMemory& memory;
    Arena& arena;
    bridge::Bridge& bridge;
    const bridge::TickClock& clock;
    const RuntimeOptions& options;
    const rk_device_state& opened;  ///< as the device was when it was opened
    TraceLog* trace;                ///< nullptr: nobody is to know
  };
  /// A program as it is: its definition, how often that was replaced, plus 1, and the one before.
  struct Current {
    DefinitionPointer definition;
    std::uint32_t version = 1;
    DefinitionPointer before;
  };

  explicit ProgramTable(const Place& place) noexcept : at_(place) {}
  ProgramTable(const ProgramTable&) = delete;
  ProgramTable& operator=(const ProgramTable&) = delete;

  /// The program with this name, built if this is its first use.
  [[nodiscard]] Result<Program*> get(const std::string& name);
  /// RingKernelRuntime::add_program.
  [[nodiscard]] Result<ProgramInfo> add(const ProgramDesc& desc);
  [[nodiscard]] Result<ProgramInfo> info(std::string_view name) const;
  /// What the name stands for: one of ours, or one that was added.
  [[nodiscard]] Result<Current> current(const std::string& name) const;
  /// What one stands for from here on that was added.
  void replace(const std::string& name, Current next);
  /// Waits until the slices of a program without kernels have returned, then gives everything of
  /// it back.
  [[nodiscard]] Result<void> end(std::string_view name);

  /// Their number, slices and copies, and what is known of built ones on disk.
  void add_to(RuntimeMetrics& metrics) const;
  /// The same, without waiting for a program that is being built: false then.
  [[nodiscard]] bool try_add_to(RuntimeMetrics& metrics) const;
  /// Tells the trace of slices that have ended, unless a program is being built.
  void note_parked();

  /// Stops all within `termination_timeout`, together. `is_left`: something under way may need
  /// them. With an error a slice may still work on the arena, and all of them are left behind.
  [[nodiscard]] Result<void> close(bool is_left) noexcept;

 private:
  // With the lock, as the next one.
  [[nodiscard]] Result<Current> find(const std::string& name) const;
  void add_all_to(RuntimeMetrics& metrics) const;
  /// The program of that definition, which there is none of, built. Without the lock meanwhile.
  [[nodiscard]] Result<Program*> open(const Current& current, std::unique_lock<std::mutex>& lock);

  const Place at_;
  mutable std::mutex mutex_;
  bool closed_ = false;
  // Null: being built. Whoever wants it waits.
  std::map<std::string, std::unique_ptr<Program>, std::less<>> programs_;
  std::condition_variable built_;                      // or not
  std::map<std::string, Current, std::less<>> added_;  // users' own; likewise
  RuntimeMetrics ended_;                               // what those counted that are gone
};

}  // namespace ringkernel::detail
