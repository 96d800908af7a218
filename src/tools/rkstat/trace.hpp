/// What happened in the runtimes of this user, event by event, as viewers of traces open it.
///
/// Threading: one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "telemetry/counters_reader.hpp"
#include "telemetry/folder.hpp"

namespace rkstat {

class TraceProcess;

/// Writes down what runtimes trace, which keep the last 8192 events: what they kept at the first
/// look, also of those that have died, and what came until the last one. In Chrome's trace-event
/// format, which Perfetto opens: a process for each runtime, with a track for the states of each
/// kernel and one for the slices of each program; messages as nested asynchronous spans.
class TraceRecorder {
 public:
  /// `path` is written from the first look on that finds a runtime.
  explicit TraceRecorder(std::filesystem::path path);
  ~TraceRecorder();
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;

  /// Looks at every counters file of the scope. False if the file cannot be written: `errno`
  /// says why, and nothing more is.
  [[nodiscard]] bool look(const ringkernel::telemetry::Scope& scope);
  /// Ends the file. False as above.
  [[nodiscard]] bool finish();

  [[nodiscard]] std::size_t runtimes() const { return runtimes_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  /// Events that came while they could not be kept, since the first look. After finish().
  [[nodiscard]] std::uint64_t missed() const { return missed_; }
  /// Counters files of which nothing is in the trace, and why.
  [[nodiscard]] const std::map<std::filesystem::path, ringkernel::Error>& unreadable() const {
    return unreadable_;
  }

 private:
  struct Source {
    ringkernel::telemetry::CountersReader reader;
    std::unique_ptr<TraceProcess> process;
    std::map<std::uint64_t, std::string>
        methods{};           // by their ids, also of kernels that have ended
    std::uint64_t next = 0;  // place of the event that comes next
    std::uint64_t missed_before = 0;
  };

  void find_sources(const ringkernel::telemetry::Scope& scope);
  void finish(Source& source);
  [[nodiscard]] bool write();

  const std::filesystem::path path_;
  std::ofstream file_;
  std::string text_;                                 // to be written next
  std::map<std::filesystem::path, Source> sources_;  // whose files are there
  std::map<std::filesystem::path, ringkernel::Error> unreadable_;
  std::size_t runtimes_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t missed_ = 0;
};

}  // namespace rkstat
