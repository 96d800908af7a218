#include "trace.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "telemetry/folder.hpp"
#include "telemetry/reading.hpp"

namespace rkstat {

namespace rk = ringkernel;
using Json = nlohmann::ordered_json;

namespace {

constexpr double ns_per_us = 1000;  // the format counts in microseconds

/// One runtime: a process of the trace.
class Process {
 public:
  Process(Json& events, int number, std::string_view name) : events_(events), number_(number) {
    add_name("process_name", 0, "runtime " + std::string(name));
  }

  void add(const rk::TraceEvent& event) {
    switch (event.kind) {
      case rk::TraceKind::message: return add_message(event);
      case rk::TraceKind::state: return add_state(event);
      case rk::TraceKind::slice: return add_slice(event);
    }
  }

  /// A kernel that is in this state at the end. Where the trace has forgotten since when, it is so
  /// from its beginning.
  void add_last(const rk::KernelMetrics& kernel, std::uint64_t trace_begin_ns) {
    states_.try_emplace(kernel.id, State{kernel.status, trace_begin_ns});
  }
  /// Of kernels that are in a state at the end, the spans that they have begun.
  void close(std::uint64_t end_ns) {
    for (const auto& [kernel, state] : states_) add_span(kernel, state, end_ns);
  }

 private:
  struct State {
    rk::KernelStatus status;
    std::uint64_t begin_ns;
  };

  Json& add_event(const char* phase, int track, std::uint64_t at_ns, std::string_view name) {
    return events_.emplace_back(Json{{"ph", phase},
                                     {"pid", number_},
                                     {"tid", track},
                                     {"ts", static_cast<double>(at_ns) / ns_per_us},
                                     {"name", name}});
  }

  void add_name(const char* what, int track, const std::string& name) {
    add_event("M", track, 0, what)["args"] = Json{{"name", name}};
  }

  /// The track with this name, made at its first use.
  int track(const std::string& name) {
    const auto [found, is_new] = tracks_.emplace(name, static_cast<int>(tracks_.size()) + 1);
    if (is_new) add_name("thread_name", found->second, name);
    return found->second;
  }

  void add_message(const rk::TraceEvent& event) {
    // In the order of their beginnings and ends, which viewers nest them by.
    const int on = track(event.name);
    const auto add = [&](const char* phase, std::string_view name, std::uint64_t at_ns) {
      Json& part = add_event(phase, on, at_ns, name);
      part["cat"] = event.name;
      part["id2"] = Json{{"local", std::to_string(event.id)}};
    };
    const std::string message = "message " + std::to_string(event.id);
    add("b", message, event.begin_ns);
    add("b", "host_queue", event.begin_ns);
    add("e", "host_queue", event.entered_ns);
    add("b", "device", event.entered_ns);
    if (event.taken_ns != 0) {
      add("b", "executor", event.taken_ns);
      add("e", "executor", event.done_ns);
    }
    add("e", "device", event.replied_ns);
    add("b", "delivery", event.replied_ns);
    add("e", "delivery", event.end_ns);
    add("e", message, event.end_ns);
  }

  void add_state(const rk::TraceEvent& event) {
    const auto status = static_cast<rk::KernelStatus>(event.id);
    const auto found = states_.find(event.name);
    if (found != states_.end()) {
      add_span(event.name, found->second, event.begin_ns);
      states_.erase(found);
    }
    if (status == rk::KernelStatus::terminated)
      add_event("i", track(event.name), event.begin_ns, rk::name(status))["s"] = "t";
    else
      states_.emplace(event.name, State{status, event.begin_ns});
  }

  void add_span(const std::string& kernel, const State& state, std::uint64_t end_ns) {
    Json& span = add_event("X", track(kernel), state.begin_ns, rk::name(state.status));
    span["cat"] = "state";
    span["dur"] = static_cast<double>(end_ns - std::min(end_ns, state.begin_ns)) / ns_per_us;
  }

  void add_slice(const rk::TraceEvent& event) {
    Json& slice = add_event("X", track("slices of " + std::string(event.name)), event.begin_ns,
                            "slice " + std::to_string(event.id));
    slice["cat"] = "slice";
    slice["dur"] = static_cast<double>(event.end_ns - event.begin_ns) / ns_per_us;
  }

  Json& events_;
  const int number_;
  std::map<std::string, int> tracks_;
  std::map<std::string, State> states_;
};

}  // namespace

void TraceRecorder::look(const std::filesystem::path& root) {
  for (const std::filesystem::path& path : rk::telemetry::counters_files(root)) {
    auto found = sources_.find(path);
    if (found == sources_.end()) {
      auto reader = rk::telemetry::CountersReader::open(path);
      if (!reader) continue;
      const std::uint64_t missed = reader->trace_missed();
      found = sources_
                  .emplace(path, Source{.reader = std::move(*reader),
                                        .name = rk::telemetry::name_of(path),
                                        .missed_before = missed,
                                        .events = {}})
                  .first;
    }
  }
  for (auto& [path, source] : sources_) {  // also those whose files are gone
    const std::uint64_t expected = source.next;
    const std::vector<rk::TraceEvent> events = source.reader.trace(source.next);
    if (expected != 0) source.lost += source.next - expected - events.size();
    source.events.insert(source.events.end(), events.begin(), events.end());
  }
}

std::string TraceRecorder::to_json() const {
  Json events = Json::array();
  int number = 0;
  for (const auto& [path, source] : sources_) {
    Process process(events, ++number, source.name);
    std::uint64_t begin_ns = source.reader.heartbeat_ns();
    std::uint64_t end_ns = begin_ns;
    for (const rk::TraceEvent& event : source.events) {
      process.add(event);
      begin_ns = std::min(begin_ns, event.begin_ns);
      end_ns = std::max(end_ns, event.end_ns);
    }
    for (const auto& kernel : source.reader.kernels()) process.add_last(kernel.metrics, begin_ns);
    process.close(end_ns);
  }
  return Json{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}}.dump(
             -1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::size_t TraceRecorder::events() const {
  std::size_t events = 0;
  for (const auto& [path, source] : sources_) events += source.events.size();
  return events;
}

std::uint64_t TraceRecorder::missed() const {
  std::uint64_t missed = 0;
  for (const auto& [path, source] : sources_)
    missed += source.lost + source.reader.trace_missed() - source.missed_before;
  return missed;
}

}  // namespace rkstat
