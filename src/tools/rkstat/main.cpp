// rkstat: what the runtimes of this user are doing, read from their counters files. It looks at no
// device, and asks a service only for the state of a ring kernel.
// Exit code: 0 healthy, 1 degraded, 2 no runtime (or none with that kernel), 3 another version's
// file, 74 what is to be told cannot be written.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <clocale>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "end_signal.hpp"
#include "outcome.hpp"
#include "render.hpp"
#include "state.hpp"
#include "telemetry/folder.hpp"
#include "telemetry/process.hpp"
#include "telemetry/prometheus.hpp"
#include "telemetry/state_json.hpp"
#include "text.hpp"
#include "top.hpp"
#include "trace.hpp"

namespace telemetry = ringkernel::telemetry;

namespace {

using rkstat::Scope;

constexpr const char* clear_screen = "\x1b[H\x1b[2J";

/// What is to be shown, and how.
struct View {
  enum class Kind : std::uint8_t {
    screen,
    kernel,
    errors,
    backlog,
    calls,
    json,
    prometheus,
    trace,
    state,
    top,
  };
  Kind kind = Kind::screen;
  std::string kernel;
  std::string trace_file;
  double trace_s = 1;
  double top_s = 1;
  bool as_json = false;
  bool as_prometheus = false;

  [[nodiscard]] bool has_rates() const {
    return kind != Kind::prometheus && kind != Kind::errors && kind != Kind::calls;
  }
  [[nodiscard]] bool is_for_people() const {
    return kind != Kind::json && kind != Kind::prometheus;
  }
  /// Whether its lines are of kernels and not of runtimes.
  [[nodiscard]] bool is_table() const { return is_for_people() && kind != Kind::screen; }
};

std::string render(const View& view, const Scope& scope, const rkstat::Readings& now,
                   const rkstat::Readings& before) {
  switch (view.kind) {
    case View::Kind::screen:
    case View::Kind::trace:
    case View::Kind::state:
    case View::Kind::top: break;
    case View::Kind::kernel: return rkstat::render_kernel(now, before, view.kernel);
    case View::Kind::errors: return rkstat::render_errors(now);
    case View::Kind::backlog: return rkstat::render_backlog(now, before);
    case View::Kind::calls: return rkstat::render_calls(now);
    case View::Kind::json: return telemetry::render_json(now, before);
    case View::Kind::prometheus: return telemetry::render_prometheus(now);
  }
  if (now.empty()) return rkstat::no_runtime_text(scope) + "\n";
  return rkstat::render_text(now, before);
}

bool has_kernel(const rkstat::Readings& readings, const std::string& id) {
  return std::ranges::any_of(readings, [&](const telemetry::Reading& reading) {
    return std::ranges::any_of(reading.kernels, [&](const telemetry::KernelReading& kernel) {
      return kernel.metrics.id == id;
    });
  });
}

/// Tells what the output does not. The exit code.
int conclude(const View& view, const Scope& scope, const rkstat::Readings& readings) {
  const std::vector<std::string> unreadable = rkstat::folder_problems(scope);
  for (const std::string& sentence : unreadable) rkstat::tell(sentence);
  if (view.is_table()) {
    rkstat::tell_problems(readings);
    if (readings.empty()) rkstat::tell(rkstat::no_runtime_text(scope));
  }
  const int exit_code = rkstat::exit_code(readings, unreadable.empty());
  if (view.kind != View::Kind::kernel || readings.empty() || has_kernel(readings, view.kernel))
    return exit_code;
  rkstat::tell(fmt::format("no kernel '{}'", view.kernel));
  return std::max(2, exit_code);
}

/// The commands and formats, each of which makes `view` its own.
void add_views(CLI::App& app, View& view) {
  app.require_subcommand(0, 1);
  app.fallthrough();
  const auto choose = [&view](View::Kind kind) { return [&view, kind] { view.kind = kind; }; };
  CLI::App* const kernel = app.add_subcommand("kernel", "One ring kernel, with its latencies");
  kernel->add_option("name", view.kernel, "Its id")->required();
  kernel->callback(choose(View::Kind::kernel));
  CLI::App* const state =
      app.add_subcommand("state", "The state of a ring kernel as JSON; an active one is paused");
  state->add_option("name", view.kernel, "Its id")->required();
  state->callback(choose(View::Kind::state));
  app.add_subcommand("errors", "What went wrong, the latest first")
      ->callback(choose(View::Kind::errors));
  app.add_subcommand("backlog", "Where messages wait, most of them first")
      ->callback(choose(View::Kind::backlog));
  app.add_subcommand("calls", "Messages in flight, the oldest first")
      ->callback(choose(View::Kind::calls));
  CLI::App* const top = app.add_subcommand("top", "The whole terminal, live; ? tells the keys");
  top->add_option("--delay", view.top_s, "Seconds between two looks")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  top->callback(choose(View::Kind::top));
  CLI::App* const trace =
      app.add_subcommand("trace", "What happened and happens, for Perfetto or chrome://tracing");
  trace->add_option("-o,--output", view.trace_file, "File to write")->required();
  trace->add_option("--for", view.trace_s, "Seconds to go on recording; 0: what was kept so far")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  trace->callback(choose(View::Kind::trace));
  CLI::Option* const json =
      app.add_flag("--json", view.as_json, "Print everything as JSON, one line for each look");
  app.add_flag("--prometheus", view.as_prometheus, "Print Prometheus' text format")->excludes(json);
}

/// What others chose is shown to people without what a terminal would obey.
void make_printable(rkstat::Readings& readings) {
  const auto clean = [](std::string& text) { text = rkstat::printable(text); };
  for (telemetry::Reading& reading : readings) {
    clean(reading.name);
    clean(reading.label);
    if (reading.runtime) clean(reading.runtime->metrics.name);
    clean(reading.problem);
    if (reading.runtime) clean(reading.runtime->metrics.device);
    for (telemetry::KernelReading& kernel : reading.kernels) {
      clean(kernel.metrics.id);
      clean(kernel.metrics.program);
      clean(kernel.metrics.behaviour);
      for (ringkernel::MethodMetrics& method : kernel.metrics.methods) clean(method.name);
    }
    for (ringkernel::ErrorRecord& error : reading.errors) {
      clean(error.kernel);
      clean(error.text);
    }
  }
}

rkstat::Readings look(const View& view, const Scope& scope) {
  rkstat::Readings readings = telemetry::read_all(scope);
  if (view.is_for_people()) make_printable(readings);
  return readings;
}

/// Records until the time is up or a signal comes, and writes the file. Exit code: as it stands
/// then, but 2 only if there was no runtime at all.
int record_trace(const View& view, const Scope& scope) {
  // In which a runtime that publishes each 5 ms or more traces at most the 8192 events of its file.
  constexpr auto pause = std::chrono::milliseconds(20);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(view.trace_s);
  rkstat::note_end_signals();
  rkstat::TraceRecorder recorder(view.trace_file);
  bool is_written = recorder.look(scope);
  while (is_written && !rkstat::is_end_wanted() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(pause);
    is_written = recorder.look(scope);
  }
  if (!is_written || (recorder.runtimes() != 0 && !recorder.finish()))
    return rkstat::output_failed("'" + view.trace_file + "'");

  int exit_code = 0;
  for (const auto& [path, error] : recorder.unreadable()) {
    rkstat::tell(rkstat::printable(error.detail));
    exit_code = std::max(exit_code, error == ringkernel::Errc::protocol_mismatch ? 3 : 1);
  }
  for (const std::string& sentence : rkstat::folder_problems(scope)) {
    rkstat::tell(sentence);
    exit_code = std::max(exit_code, 1);
  }
  if (recorder.runtimes() == 0) {
    if (exit_code == 0) rkstat::tell(rkstat::no_runtime_text(scope));
    return exit_code == 0 ? 2 : exit_code;
  }
  if (!rkstat::print(fmt::format("{} of {} in '{}'; {} came too fast to be kept\n",
                                 rkstat::count_text(recorder.events(), "event"),
                                 rkstat::count_text(recorder.runtimes(), "runtime"),
                                 view.trace_file, recorder.missed())))
    return rkstat::output_failed();
  rkstat::Readings last = look(view, scope);
  if (!last.empty()) exit_code = std::max(exit_code, telemetry::exit_code(last));
  std::erase_if(last, [&](const telemetry::Reading& reading) {
    return recorder.unreadable().contains(reading.path);  // told above
  });
  rkstat::tell_problems(last);
  return exit_code;
}

/// Shows it once, or until nobody reads any more.
int show(const View& view, const Scope& scope, double interval_s, double watch_s) {
  rkstat::Readings before;
  if (interval_s > 0 && view.has_rates()) {
    before = look(view, scope);
    std::this_thread::sleep_for(std::chrono::duration<double>(interval_s));
  }
  const bool clears = watch_s > 0 && view.is_for_people() && isatty(STDOUT_FILENO) != 0;
  for (rkstat::Readings now = look(view, scope);;) {
    const std::string text = render(view, scope, now, before);
    if (!rkstat::print((clears ? clear_screen : "") + text)) return rkstat::output_failed();
    const int exit_code = conclude(view, scope, now);
    if (watch_s <= 0) return exit_code;
    std::this_thread::sleep_for(std::chrono::duration<double>(watch_s));
    before = std::move(now);
    now = look(view, scope);
  }
}

int run(int argument_count, char** arguments) {
  CLI::App app("Shows what the RingKernel runtimes of this user are doing");
  Scope scope;
  double interval_s = 0.3;
  double watch_s = 0;
  View view;
  app.add_option("--root", scope.roots, "Folder of the counters files; default: all of this user's")
      ->expected(1);
  app.add_option("--pid", scope.process, "Only the runtimes of this process")
      ->check(CLI::PositiveNumber);
  app.add_option("--interval", interval_s,
                 "Seconds between the two looks that rates are of; 0: none. No rate is shown of a "
                 "runtime that publishes nothing in between")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  app.add_option("--watch", watch_s, "Go on, with a look every so many seconds; 1 if not said")
      ->expected(0, 1)
      ->default_str("1")
      ->check(CLI::Range(0.1, 3600.0));
  add_views(app, view);
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& end) {
    const int exit_code = app.exit(end);
    return std::cout.flush() ? exit_code : rkstat::output_failed();
  }
  std::setlocale(LC_CTYPE, "");  // how wide characters are
  telemetry::give_way_to_services();
  if (scope.roots.empty()) scope.roots = telemetry::telemetry_roots();
  view.kernel = rkstat::printable(view.kernel);  // as it is shown
  if (view.as_json || view.as_prometheus) {
    if (!app.get_subcommands().empty()) {
      rkstat::tell("--json and --prometheus show everything: without a command");
      return rkstat::usage_error;
    }
    view.kind = view.as_json ? View::Kind::json : View::Kind::prometheus;
  }
  if (view.kind == View::Kind::state) return rkstat::show_state(scope, view.kernel);
  if (view.kind == View::Kind::trace) return record_trace(view, scope);
  if (view.kind != View::Kind::top) return show(view, scope, interval_s, watch_s);
  const rkstat::TopEnd end = rkstat::run_top(scope, std::chrono::duration<double>(view.top_s));
  if (!end.problem.empty()) rkstat::tell(end.problem);
  return end.exit_code;
}

}  // namespace

int main(int argument_count, char** arguments) {
  rkstat::occupy_closed_streams();
  try {
    return run(argument_count, arguments);
  } catch (const std::exception& error) {
    rkstat::tell(error.what());
  }
  return rkstat::internal_error;
}
