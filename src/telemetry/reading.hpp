/// What the runtimes of this user say of themselves in their counters files.
///
/// Threading: plain values. Disturbs nobody: files are read, never written.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/counters_reader.hpp"
#include "telemetry/folder.hpp"

namespace ringkernel::telemetry {

struct KernelReading : PublishedKernel {
  std::shared_ptr<const Histogram> latency;  ///< nullptr: it was gone by then
  std::uint64_t heartbeat_ns = 0;            ///< its runtime's
};

/// In the order in which they matter to who looks.
enum class Health : std::uint8_t {
  running,
  silent,         ///< the process is there, and has published nothing for long
  dead,           ///< the process is gone; the metrics are its last ones
  unreadable,     ///< `problem` says why
  other_version,  ///< likewise
};

struct Reading {
  std::filesystem::path path;
  std::string name;   ///< "PID/NUMBER"
  std::string label;  ///< RuntimeOptions::name; with `name` where others have it too; else `name`
  Health health = Health::unreadable;
  std::string problem;  ///< one sentence; empty if there is none
  std::chrono::system_clock::time_point created;
  std::uint64_t heartbeat_ns = 0;  ///< of the last publication; CLOCK_MONOTONIC
  std::chrono::nanoseconds heartbeat_age{0};
  std::uint64_t kernels_missing = 0;
  std::optional<Published<RuntimeMetrics>> runtime;
  std::vector<KernelReading> kernels;  // in order of their ids
  std::vector<ErrorRecord> errors;
};

/// "PID/NUMBER" of the file's runtime.
[[nodiscard]] std::string name_of(const std::filesystem::path& counters_file);

/// One that cannot be read says why.
[[nodiscard]] Reading read(const std::filesystem::path& counters_file);

/// Those of the scope: by health, the dead who died last first, the others in order of
/// their names.
[[nodiscard]] std::vector<Reading> read_all(const Scope& scope);

/// False for the parts of the hop `device` that no message has: its clock is unknown, or nothing
/// was measured yet.
[[nodiscard]] bool is_known(const KernelMetrics& kernel, LatencySummary KernelMetrics::*hop);

/// Replies a second between two readings; nothing without an earlier one, or if nothing was
/// published in between.
[[nodiscard]] std::optional<double> messages_per_second(const KernelReading& now,
                                                        const Reading* before);

/// Of the messages between two readings, as far as they were published; without an earlier one, of
/// all.
[[nodiscard]] LatencySummary recent_latency(const KernelReading& now, const Reading* before);

/// The moment that ages in a reading are reckoned from: now, or the last sign of life of the dead.
[[nodiscard]] std::uint64_t moment_ns(const Reading& reading);

/// The earlier reading that the rates of `now` are over, or nullptr: who does not run has none.
[[nodiscard]] const Reading* earlier(const std::vector<Reading>& readings, const Reading& now);

[[nodiscard]] std::string_view name(Health health);
[[nodiscard]] bool is_healthy(const Reading& reading);

/// 0 all are healthy, 1 one of them is not, 2 there is none, 3 one is of another version.
[[nodiscard]] int exit_code(const std::vector<Reading>& readings);

}  // namespace ringkernel::telemetry
