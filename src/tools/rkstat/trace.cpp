#include "trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "telemetry/reading.hpp"

namespace rkstat {

namespace rk = ringkernel;

namespace {

std::string as_json(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The format counts in microseconds.
std::string us(std::uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

}  // namespace

/// One runtime: a process of the trace. Its events go to the end of `text`, each but the first
/// behind a comma.
class TraceProcess {
 public:
  TraceProcess(std::string& text, std::size_t number, std::string_view name,
               std::uint64_t heartbeat_ns)
      : text_(text), number_(number), begin_ns_(heartbeat_ns) {
    add_name("process_name", 0, "runtime " + std::string(name));
  }

  /// `method`: the name of a message's; empty: it has none, or nobody knows it.
  void add(const rk::TraceEvent& event, std::string_view method) {
    begin_ns_ = std::min(begin_ns_, event.begin_ns);
    end_ns_ = std::max(end_ns_, event.end_ns);
    switch (event.kind) {
      case rk::TraceKind::message: return add_message(event, method);
      case rk::TraceKind::state: return add_state(event);
      case rk::TraceKind::slice: return add_slice(event);
      case rk::TraceKind::swap: return add_swap(event);
    }
  }

  /// A kernel that is in this state at the end. Where the trace has forgotten since when, it is so
  /// from its beginning.
  void add_last(const rk::KernelMetrics& kernel) {
    states_.try_emplace(kernel.id, State{kernel.status, begin_ns_});
  }
  /// Of kernels that are in a state at the end, the spans that they have begun.
  void close(std::uint64_t heartbeat_ns) {
    end_ns_ = std::max(end_ns_, heartbeat_ns);
    for (const auto& [kernel, state] : states_) add_span(kernel, state, end_ns_);
  }

 private:
  struct State {
    rk::KernelStatus status;
    std::uint64_t begin_ns;
  };

  /// `name` is as JSON has it; `more` are further members, each behind a comma.
  void add_event(char phase, std::size_t track, std::uint64_t at_ns, std::string_view name,
                 std::string_view more) {
    fmt::format_to(std::back_inserter(text_),
                   R"({}{{"ph":"{}","pid":{},"tid":{},"ts":{},"name":{}{}}})",
                   std::exchange(separator_, ",\n"), phase, number_, track, us(at_ns), name, more);
  }

  void add_name(std::string_view what, std::size_t track, std::string_view name) {
    add_event('M', track, 0, as_json(what), fmt::format(R"(,"args":{{"name":{}}})", as_json(name)));
  }

  /// The track with this name, made at its first use.
  std::size_t track(const std::string& name) {
    const auto [found, is_new] = tracks_.emplace(name, tracks_.size() + 1);
    if (is_new) add_name("thread_name", found->second, name);
    return found->second;
  }

  void add_message(const rk::TraceEvent& event, std::string_view method) {
    // In the order of their beginnings and ends, which viewers nest them by.
    const std::size_t on = track(event.name);
    const std::string more =
        fmt::format(R"(,"cat":{},"id2":{{"local":"{}"}})", as_json(event.name), event.id);
    const auto add = [&](char phase, std::string_view name, std::uint64_t at_ns) {
      add_event(phase, on, at_ns, name, more);
    };
    const std::string message =
        as_json(fmt::format("{} {}", method.empty() ? "message" : method, event.id));
    add('b', message, event.begin_ns);
    add('b', R"("host_queue")", event.begin_ns);
    add('e', R"("host_queue")", event.entered_ns);
    add('b', R"("device")", event.entered_ns);
    if (event.taken_ns != 0) {
      add('b', R"("executor")", event.taken_ns);
      add('e', R"("executor")", event.done_ns);
    }
    add('e', R"("device")", event.replied_ns);
    add('b', R"("delivery")", event.replied_ns);
    add('e', R"("delivery")", event.end_ns);
    add('e', message, event.end_ns);
  }

  void add_state(const rk::TraceEvent& event) {
    const auto status = static_cast<rk::KernelStatus>(event.id);
    const auto found = states_.find(event.name);
    if (found != states_.end()) {
      add_span(event.name, found->second, event.begin_ns);
      states_.erase(found);
    }
    if (status == rk::KernelStatus::terminated)
      add_event('i', track(event.name), event.begin_ns, as_json(rk::name(status)), R"(,"s":"t")");
    else
      states_.emplace(event.name, State{status, event.begin_ns});
  }

  void add_span(const std::string& kernel, const State& state, std::uint64_t end_ns) {
    add_complete(track(kernel), "state", as_json(rk::name(state.status)), state.begin_ns, end_ns);
  }

  void add_slice(const rk::TraceEvent& event) {
    add_complete(track("slices of " + std::string(event.name)), "slice",
                 fmt::format(R"("slice {}")", event.id), event.begin_ns, event.end_ns);
  }

  void add_swap(const rk::TraceEvent& event) {
    const std::string program = event.name;
    const std::uint64_t pause_ns = event.end_ns - std::min(event.end_ns, event.begin_ns);
    add_event('i', track("slices of " + program), event.end_ns,
              as_json(fmt::format("{} version {}", program, event.id)),
              fmt::format(R"(,"cat":"swap","s":"p","args":{{"pause_us":{}}})", us(pause_ns)));
  }

  void add_complete(std::size_t track, std::string_view category, std::string_view name,
                    std::uint64_t begin_ns, std::uint64_t end_ns) {
    add_event(
        'X', track, begin_ns, name,
        fmt::format(R"(,"cat":"{}","dur":{})", category, us(end_ns - std::min(end_ns, begin_ns))));
  }

  std::string& text_;
  const std::size_t number_;
  const char* separator_ = "";
  std::uint64_t begin_ns_;
  std::uint64_t end_ns_ = 0;
  std::map<std::string, std::size_t> tracks_;
  std::map<std::string, State> states_;
};

TraceRecorder::TraceRecorder(std::filesystem::path path) : path_(std::move(path)) {}

TraceRecorder::~TraceRecorder() = default;

bool TraceRecorder::look(const rk::telemetry::Scope& scope) {
  find_sources(scope);
  for (auto entry = sources_.begin(); entry != sources_.end();) {
    Source& source = entry->second;
    // Looked for first: what was traced before the file went is there.
    std::error_code ignored;
    const bool is_gone = !std::filesystem::exists(entry->first, ignored);
    const std::uint64_t expected = source.next;
    const std::vector<rk::TraceEvent> events = source.reader.trace(source.next);
    if (expected != 0) missed_ += source.next - expected - events.size();
    events_ += events.size();
    const auto is_unknown = [&](const rk::TraceEvent& event) {
      return event.kind == rk::TraceKind::message && !source.methods.contains(event.selector);
    };
    // Behind the events, whose methods the file had before.
    if (std::ranges::any_of(events, is_unknown)) source.methods.merge(source.reader.method_names());
    for (const rk::TraceEvent& event : events) {
      const auto method = source.methods.find(event.selector);
      source.process->add(event, method != source.methods.end() ? method->second : "");
    }
    if (is_gone) finish(source);
    entry = is_gone ? sources_.erase(entry) : std::next(entry);
  }
  return write();
}

void TraceRecorder::find_sources(const rk::telemetry::Scope& scope) {
  for (const std::filesystem::path& path : rk::telemetry::counters_files(scope)) {
    if (sources_.contains(path)) continue;
    auto reader = rk::telemetry::CountersReader::open(path);
    if (!reader) {
      std::error_code ignored;
      if (std::filesystem::exists(path, ignored))
        unreadable_.insert_or_assign(path, reader.error());
      continue;
    }
    unreadable_.erase(path);  // it was only being made
    text_ += ++runtimes_ == 1 ? R"({"displayTimeUnit":"ns","traceEvents":[)" : ",\n";
    auto process = std::make_unique<TraceProcess>(text_, runtimes_, rk::telemetry::name_of(path),
                                                  reader->writer().heartbeat_ns);
    const std::uint64_t missed = reader->trace_missed();
    sources_.emplace(path, Source{.reader = std::move(*reader),
                                  .process = std::move(process),
                                  .missed_before = missed});
  }
}

void TraceRecorder::finish(Source& source) {
  for (const auto& kernel : source.reader.kernels()) source.process->add_last(kernel.metrics);
  source.process->close(source.reader.writer().heartbeat_ns);
  missed_ += source.reader.trace_missed() - source.missed_before;
}

bool TraceRecorder::finish() {
  for (auto& [path, source] : sources_) finish(source);
  text_ += "]}\n";
  return write();
}

bool TraceRecorder::write() {
  if (text_.empty()) return true;
  if (!file_.is_open()) file_.open(path_, std::ios::binary);
  file_ << text_ << std::flush;
  text_.clear();
  return static_cast<bool>(file_);
}

}  // namespace rkstat
