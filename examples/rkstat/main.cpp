// rkstat: what the runtimes of this user are doing, read from their counters files. It writes
// nothing, asks no service and looks at no device.
// Exit code: 0 healthy, 1 degraded, 2 no runtime, 3 another version's file.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "end_signal.hpp"
#include "render.hpp"
#include "telemetry/folder.hpp"
#include "telemetry/process.hpp"
#include "telemetry/prometheus.hpp"
#include "telemetry/state_json.hpp"
#include "top.hpp"
#include "trace.hpp"

namespace telemetry = ringkernel::telemetry;

namespace {

using Roots = std::vector<std::filesystem::path>;

constexpr const char* clear_screen = "\x1b[H\x1b[2J";
constexpr int usage_error = 64;  // beyond those that tell the health
constexpr int file_error = 74;

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
};

std::string render(const View& view, const rkstat::Readings& now, const rkstat::Readings& before) {
  switch (view.kind) {
    case View::Kind::screen:
    case View::Kind::trace:
    case View::Kind::top: break;
    case View::Kind::kernel: {
      std::string text = rkstat::render_kernel(now, before, view.kernel);
      return text.empty() ? fmt::format("no kernel '{}'\n", view.kernel) : text;
    }
    case View::Kind::errors: return rkstat::render_errors(now);
    case View::Kind::backlog: return rkstat::render_backlog(now, before);
    case View::Kind::calls: return rkstat::render_calls(now);
    case View::Kind::json: return telemetry::render_json(now, before);
    case View::Kind::prometheus: return telemetry::render_prometheus(now);
  }
  return rkstat::render_text(now, before);
}

void print(const View& view, const rkstat::Readings& now, const rkstat::Readings& before) {
  fmt::print("{}", render(view, now, before));
  std::fflush(stdout);
}

/// The commands and formats, each of which makes `view` its own.
void add_views(CLI::App& app, View& view) {
  app.require_subcommand(0, 1);
  app.fallthrough();
  const auto choose = [&view](View::Kind kind) { return [&view, kind] { view.kind = kind; }; };
  CLI::App* const kernel = app.add_subcommand("kernel", "One ring kernel, with its latencies");
  kernel->add_option("name", view.kernel, "Its id")->required();
  kernel->callback(choose(View::Kind::kernel));
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

/// Records until the time is up or a signal comes, and writes the file. Exit code: 0, 1 a file
/// cannot be read, 2 there is no runtime, 3 one is of another version, 74 the trace cannot be
/// written.
int record_trace(const View& view, const Roots& roots) {
  constexpr auto pause = std::chrono::milliseconds(20);  // in which no runtime traces 8192 events
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(view.trace_s);
  rkstat::note_end_signals();
  rkstat::TraceRecorder recorder(view.trace_file);
  bool is_written = recorder.look(roots);
  while (is_written && !rkstat::is_end_wanted() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(pause);
    is_written = recorder.look(roots);
  }
  int exit_code = 0;
  for (const auto& [path, error] : recorder.unreadable()) {
    fmt::print(stderr, "rkstat: {}\n", error.detail);
    exit_code = std::max(exit_code, error == ringkernel::Errc::protocol_mismatch ? 3 : 1);
  }
  if (recorder.runtimes() == 0) {
    if (exit_code == 0) fmt::print(stderr, "rkstat: no runtime\n");
    return exit_code == 0 ? 2 : exit_code;
  }
  if (!is_written || !recorder.finish()) {
    fmt::print(stderr, "rkstat: '{}' cannot be written: {}\n", view.trace_file,
               std::generic_category().message(errno));
    return file_error;
  }
  fmt::print("{} events of {} runtimes in '{}'; {} came too fast to be kept\n", recorder.events(),
             recorder.runtimes(), view.trace_file, recorder.missed());
  return exit_code;
}

/// What others chose is shown to people without what a terminal would obey.
void make_printable(rkstat::Readings& readings) {
  const auto clean = [](std::string& text) {
    for (char& byte : text)
      if (static_cast<unsigned char>(byte) < ' ' || byte == 0x7f) byte = '?';
  };
  for (telemetry::Reading& reading : readings) {
    clean(reading.name);
    clean(reading.problem);
    if (reading.runtime) clean(reading.runtime->metrics.device);
    for (telemetry::KernelReading& kernel : reading.kernels) {
      clean(kernel.metrics.id);
      clean(kernel.metrics.program);
    }
    for (ringkernel::ErrorRecord& error : reading.errors) {
      clean(error.kernel);
      clean(error.text);
    }
  }
}

rkstat::Readings look(const View& view, const Roots& roots) {
  rkstat::Readings readings = telemetry::read_all(roots);
  if (view.is_for_people()) make_printable(readings);
  return readings;
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App app("Shows what the RingKernel runtimes of this user are doing");
  Roots roots;
  double interval_s = 0.3;
  double watch_s = 0;
  View view;
  app.add_option("--root", roots, "Folder of the counters files; default: all of this user's")
      ->expected(1);
  app.add_option("--interval", interval_s,
                 "Seconds between the two looks that rates are of; 0: none. No rate is shown of a "
                 "runtime that publishes nothing in between")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  app.add_option("--watch", watch_s, "Go on, with a look every so many seconds")
      ->check(CLI::Range(0.1, 3600.0));
  add_views(app, view);
  CLI11_PARSE(app, argument_count, arguments);
  telemetry::give_way_to_services();
  if (roots.empty()) roots = telemetry::telemetry_roots();
  if (view.as_json || view.as_prometheus) {
    if (!app.get_subcommands().empty()) {
      fmt::print(stderr, "rkstat: --json and --prometheus show everything: without a command\n");
      return usage_error;
    }
    view.kind = view.as_json ? View::Kind::json : View::Kind::prometheus;
  }

  if (view.kind == View::Kind::top) {
    const rkstat::TopEnd end = rkstat::run_top(roots, std::chrono::duration<double>(view.top_s));
    if (!end.problem.empty()) fmt::print(stderr, "rkstat: {}\n", end.problem);
    return end.exit_code;
  }
  if (view.kind == View::Kind::trace) return record_trace(view, roots);

  rkstat::Readings before;
  if (interval_s > 0 && view.has_rates()) {
    before = look(view, roots);
    std::this_thread::sleep_for(std::chrono::duration<double>(interval_s));
  }
  rkstat::Readings now = look(view, roots);
  while (watch_s > 0) {
    if (view.is_for_people() && isatty(STDOUT_FILENO) != 0) fmt::print("{}", clear_screen);
    print(view, now, before);
    if (std::ferror(stdout) != 0) break;  // nobody reads any more
    std::this_thread::sleep_for(std::chrono::duration<double>(watch_s));
    before = std::move(now);
    now = look(view, roots);
  }
  print(view, now, before);
  return telemetry::exit_code(now);
}
