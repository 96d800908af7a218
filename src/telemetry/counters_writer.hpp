/// Writes the counters file of one runtime, by calls: to a mapping of a file that somebody cuts off
/// nobody can write and live.
///
/// Threading: one thread at a time.
/// Memory ordering: counters_file.hpp.
/// Ownership: the file, which goes with the writer, as does its folder when that was the last one;
/// that of a process which dies stays.
/// Errors: Errc::backend_unavailable with the path and the reason.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
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
#include "telemetry/process.hpp"

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

  /// Whether somebody has cut the file off. If so it is made anew, and what was stored is to be
  /// stored again.
  [[nodiscard]] bool was_cut();

  void store(const RuntimeMetrics& metrics);

  /// `place` from 0 to kernels_max - 1, one for each ring kernel; `number` from 1 on, another one
  /// for each that comes to a place; of `calls` the first `calls_max`. False if there is no memory
  /// for it, so that nothing was stored.
  [[nodiscard]] bool store(std::uint32_t place, std::uint64_t number, const KernelMetrics& metrics,
                           std::span<const CallInFlight> calls);
  /// KernelMetrics::latency of the ring kernel at that place. False as above.
  [[nodiscard]] bool store_latency(std::uint32_t place, const Histogram& latency);
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
                 const Process& process, std::chrono::nanoseconds period) noexcept;

  /// Of one record.
  struct Stores {
    std::uint64_t number = 0;  // as in the file (Sequenced), unless that was cut off
    bool has_room = false;     // for both copies
  };

  /// Bytes of the file. False, and `errno` says why, if they cannot be written.
  bool write(std::size_t offset, const void* from, std::size_t bytes) noexcept;
  template <class Word>
  bool put(std::size_t offset, Word word) noexcept {
    return write(offset, &word, sizeof word);
  }
  /// The words that are there from the start, and room for the others.
  bool begin() noexcept;
  template <class Record>
  bool replace(std::size_t array, std::uint32_t place, Stores& stores,
               const Record& record) noexcept;
  /// An array, of which `used` places were in use so far, is used up to this one.
  void use(std::size_t offset, std::uint64_t& used, std::uint32_t place) noexcept;

  const std::filesystem::path path_;
  const std::filesystem::path folder_;
  const File file_;
  const Process process_;
  const std::uint64_t period_ns_;
  const std::uint64_t created_ns_;
  const std::uint64_t created_unix_ns_;
  // As they are in the file, which others can write, too.
  std::uint64_t kernels_used_ = 0;
  std::uint64_t errors_used_ = 0;
  std::uint64_t methods_used_ = 0;
  std::uint64_t trace_ended_ = 0;
  std::uint64_t answered_ = 0;  // number of the request
  Stores runtime_;
  std::array<Stores, errors_max> errors_{};
  std::array<Stores, kernels_max> kernels_{};
  std::array<Stores, method_lines_max> methods_{};
  std::array<std::size_t, kernels_max> latency_bytes_{};  // may not be zero; 0: none are there yet
};

}  // namespace ringkernel::telemetry
