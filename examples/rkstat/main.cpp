// rkstat: what the runtimes of this user are doing, read from their counters files. It writes
// nothing, asks no service and looks at no device.
// Exit code: 0 healthy, 1 degraded, 2 no runtime, 3 another version's file.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <thread>

#include "reading.hpp"
#include "telemetry/folder.hpp"

namespace {

constexpr const char* clear_screen = "\x1b[H\x1b[2J";

enum class Format : std::uint8_t { text, json, prometheus };

void print(Format format, const std::vector<rkstat::Reading>& now,
           const std::vector<rkstat::Reading>& before) {
  switch (format) {
    case Format::text: fmt::print("{}", rkstat::render_text(now, before)); break;
    case Format::json: fmt::print("{}", rkstat::render_json(now, before)); break;
    case Format::prometheus: fmt::print("{}", rkstat::render_prometheus(now)); break;
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App app("Shows what the RingKernel runtimes of this user are doing");
  std::string root = ringkernel::telemetry::telemetry_root().string();
  double interval_s = 0.3;
  double watch_s = 0;
  bool as_json = false;
  bool as_prometheus = false;
  app.add_option("--root", root, "Folder of the counters files")->capture_default_str();
  app.add_option("--interval", interval_s,
                 "Seconds between the two looks that rates are of; 0: none")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  app.add_option("--watch", watch_s, "Go on, with a look every so many seconds")
      ->check(CLI::Range(0.1, 3600.0));
  CLI::Option* const json = app.add_flag("--json", as_json, "Print JSON, one line for each look");
  app.add_flag("--prometheus", as_prometheus, "Print Prometheus' text format")->excludes(json);
  CLI11_PARSE(app, argument_count, arguments);

  const Format format = as_json ? Format::json : as_prometheus ? Format::prometheus : Format::text;
  std::vector<rkstat::Reading> before;
  if (interval_s > 0 && format != Format::prometheus) {
    before = rkstat::read_all(root);
    std::this_thread::sleep_for(std::chrono::duration<double>(interval_s));
  }
  std::vector<rkstat::Reading> now = rkstat::read_all(root);
  while (watch_s > 0) {
    if (format == Format::text && isatty(STDOUT_FILENO) != 0) fmt::print("{}", clear_screen);
    print(format, now, before);
    if (std::ferror(stdout) != 0) break;  // nobody reads any more
    std::this_thread::sleep_for(std::chrono::duration<double>(watch_s));
    before = std::move(now);
    now = rkstat::read_all(root);
  }
  print(format, now, before);
  return rkstat::exit_code(now);
}
