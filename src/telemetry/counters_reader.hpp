/// Reads the counters file of a runtime, of this or another process, running or not.
///
/// Threading: any thread. Disturbs nobody, and is not disturbed: the file is read by calls, for who
/// maps it ends when somebody cuts it off. What is missing then reads as zeroes.
/// Memory ordering: counters_file.hpp.
/// Ownership: the open file.
/// Errors: `open` says in one sentence why it cannot be read; `protocol_mismatch`: it is another
/// version's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "foundation/file.hpp"
#include "ringkernel/error.hpp"
#include "ringkernel/result.hpp"
#include "ringkernel/telemetry.hpp"
#include "telemetry/counters_file.hpp"
#include "telemetry/process.hpp"

namespace ringkernel::telemetry {

/// Metrics with the moment that they are of.
template <class Metrics>
struct Published {
  Metrics metrics;
  std::uint64_t published_ns = 0;  ///< CLOCK_MONOTONIC; kernels that rest may keep theirs
};

struct PublishedKernel : Published<KernelMetrics> {
  std::uint64_t number = 0;  ///< another ring kernel of this runtime has another one
  std::uint32_t place = 0;
  std::vector<CallInFlight> calls;  ///< those that wait longest, longest first
};

/// Who writes a file, which all versions say in the same place.
struct WriterState {
  Process process;
  std::chrono::nanoseconds period{0};  ///< between publications
  std::uint64_t heartbeat_ns = 0;      ///< of the last publication; CLOCK_MONOTONIC

  /// Whether that is longer ago than it may be of a writer at work, even on a busy machine.
  [[nodiscard]] bool is_silent(std::uint64_t now_ns) const noexcept;
};

/// Of a finished counters file of any version; nothing of what is none.
[[nodiscard]] std::optional<WriterState> writer_of(const std::filesystem::path& path);

class CountersReader {
 public:
  [[nodiscard]] static Result<CountersReader> open(const std::filesystem::path& path);

  [[nodiscard]] WriterState writer() const noexcept;
  [[nodiscard]] std::chrono::system_clock::time_point created() const noexcept;
  /// Ring kernels that found no place in the file.
  [[nodiscard]] std::uint64_t kernels_missing() const noexcept;

  /// As of its last publication. Empty if there was none yet, or the writer overtook every try.
  [[nodiscard]] std::optional<Published<RuntimeMetrics>> runtime() const;
  /// Those that are there, in order of their places; no two with the same id.
  [[nodiscard]] std::vector<PublishedKernel> kernels() const;
  /// What KernelMetrics::latency is made of, at this moment; nullptr if the kernel is gone.
  [[nodiscard]] std::unique_ptr<Histogram> latency(const PublishedKernel& kernel) const;
  /// In the order in which they first came.
  [[nodiscard]] std::vector<ErrorRecord> errors() const;

  /// Events from the place `from` on, 0: the first one, as far as they are still there; `from`
  /// becomes the place behind the last one.
  [[nodiscard]] std::vector<TraceEvent> trace(std::uint64_t& from) const;
  /// Of methods that were called, by their ids: those that messages of the trace name, as long as
  /// their kernels are there.
  [[nodiscard]] std::map<std::uint64_t, std::string> method_names() const;
  /// Events that were left out of it so far.
  [[nodiscard]] std::uint64_t trace_missed() const noexcept;

 private:
  CountersReader(File file, const WriterState& writer, std::uint64_t created_unix_ns) noexcept
      : file_(std::move(file)), writer_(writer), created_unix_ns_(created_unix_ns) {}

  [[nodiscard]] std::uint64_t word(std::size_t offset) const noexcept;
  /// The record at a place of an array; false as Sequenced::load_by.
  template <class Record>
  [[nodiscard]] bool load(std::size_t array, std::uint32_t place, Record& record) const;
  /// By the numbers of their ring kernels.
  [[nodiscard]] std::unordered_map<std::uint64_t, std::vector<MethodMetrics>> methods() const;

  File file_;
  WriterState writer_;  // as of `open`
  std::uint64_t created_unix_ns_;
};

}  // namespace ringkernel::telemetry
