/// What happened in the runtimes of this user, event by event, as viewers of traces open it.
///
/// Threading: one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "telemetry/counters_reader.hpp"

namespace rkstat {

/// Collects what runtimes trace, which keep the last 8192 events: what they kept at the first look,
/// also of those that have died, and what came until the last one.
class TraceRecorder {
 public:
  /// Looks at every counters file below `root`.
  void look(const std::filesystem::path& root);

  /// Chrome's trace-event format, which Perfetto opens: a process for each runtime, with a track
  /// for the states of each kernel and one for the slices of each program; messages as nested
  /// asynchronous spans.
  [[nodiscard]] std::string to_json() const;

  [[nodiscard]] std::size_t runtimes() const { return sources_.size(); }
  [[nodiscard]] std::size_t events() const;
  /// Events that came while they could not be kept, since the first look.
  [[nodiscard]] std::uint64_t missed() const;

 private:
  struct Source {
    ringkernel::telemetry::CountersReader reader;
    std::string name;
    std::uint64_t next = 0;  // place of the event that comes next
    std::uint64_t lost = 0;  // events that were overwritten between two looks
    std::uint64_t missed_before = 0;
    std::vector<ringkernel::TraceEvent> events;
  };

  std::map<std::filesystem::path, Source> sources_;
};

}  // namespace rkstat
