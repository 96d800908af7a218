/// Writes the counters file of one runtime.
///
/// Threading: one thread at a time.
/// Memory ordering: counters_file.hpp.
/// Ownership: the file, which goes with the writer, as does its folder when that was the last one;
/// that of a process which dies stays.
/// Errors: Errc::backend_unavailable with the path and the reason.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "foundation/file.hpp"
#include "ringkernel/error.hpp"
#include "ringkernel/result.hpp"
#include "ringkernel/telemetry.hpp"
#include "telemetry/counters_file.hpp"

namespace ringkernel::telemetry {

/// Nanoseconds of CLOCK_MONOTONIC.
[[nodiscard]] std::uint64_t monotonic_ns() noexcept;

class CountersWriter {
 public:
  /// A file of its own in `folder` (make_process_folder).
  [[nodiscard]] static Result<std::unique_ptr<CountersWriter>> create(
      const std::filesystem::path& folder, std::chrono::nanoseconds period);
  CountersWriter(const CountersWriter&) = delete;
  CountersWriter& operator=(const CountersWriter&) = delete;
  ~CountersWriter();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  void store(const RuntimeMetrics& metrics);

  /// `place` from 0 to kernels_max - 1, one for each ring kernel; `number` from 1 on, another one
  /// for each that comes to a place; of `calls` the first `calls_max`. False if there is no memory
  /// for it, so that nothing was stored.
  [[nodiscard]] bool store(std::uint32_t place, std::uint64_t number, const KernelMetrics& metrics,
                           std::span<const CallInFlight> calls);
  /// Of a ring kernel that is stored: its KernelMetrics::latency, to be filled by the caller.
  [[nodiscard]] Histogram& latency(std::uint32_t place) noexcept {
    return counters_->latencies[place];
  }
  /// The ring kernel is gone.
  void clear(std::uint32_t place);

  /// A method of the ring kernel of that number. `place` from 0 to method_lines_max - 1. False as
  /// above.
  [[nodiscard]] bool store_method(std::uint32_t place, std::uint64_t number,
                                  const MethodMetrics& method);
  void clear_method(std::uint32_t place);

  /// `place` from 0 to errors_max - 1. False as above.
  [[nodiscard]] bool store(std::uint32_t place, const ErrorRecord& error);

  /// Events in their order; `missed` were left out so far. What there is no memory for is lost.
  void append(std::span<const TraceEvent> events, std::uint64_t missed);

  /// That somebody wants a state and has no answer yet.
  [[nodiscard]] std::optional<StateRequest> state_request() const noexcept;
  /// `state`: as JSON, or why there is none.
  void answer(const StateRequest& request, Result<std::string> state);

  /// Closes a publication: readers see that the writer lives. `missing` ring kernels have no place.
  void beat(std::uint64_t missing);

 private:
  CountersWriter(std::filesystem::path path, std::filesystem::path folder, File file,
                 CountersFile* counters) noexcept
      : path_(std::move(path)),
        folder_(std::move(folder)),
        file_(std::move(file)),
        counters_(counters) {}

  /// Whether there is memory for a place of an array, of which `used` have some.
  template <class Item>
  [[nodiscard]] bool has_memory(const Item* array, std::uint64_t used, std::uint32_t place) const;

  const std::filesystem::path path_;
  const std::filesystem::path folder_;
  const File file_;
  CountersFile* const counters_;  // mapped
};

}  // namespace ringkernel::telemetry
