// ops_bench: what the device bodies of the ops cost, beside libraries and loops on one thread.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "ops_figures.hpp"
#include "report.hpp"

namespace {

struct Options {
  std::string only;
  std::string json;
  int rounds = 15;
};

/// oneDNN's threads are OpenMP's, which reads the environment when it is loaded.
void hold_libraries_to_one_thread(char** arguments) {
  if (getenv("OMP_NUM_THREADS") != nullptr) return;
  setenv("OMP_NUM_THREADS", "1", 1);
  execv("/proc/self/exe", arguments);
}

/// Ours and theirs in turn, so that both see the same neighbours and clock.
bench::Row measure(const bench::OpsFigure& figure, int rounds) {
  const bench::Stopwatches stopwatches = figure.make();
  std::vector<double> ours, theirs, values;
  for (int round = 0; round < rounds; ++round) {
    ours.push_back(stopwatches.ours());
    theirs.push_back(stopwatches.theirs());
    values.push_back(figure.value(ours.back(), theirs.back()));
  }
  const double value = bench::median(values);
  fmt::print("{:<24} {:>7.3g} {:<3} {:>5.0f} % {:>11.4g} us {:>11.4g} us  {:<7} {} {:<5g} {}\n",
             figure.name, value, figure.unit, bench::spread(values) * 100,
             bench::median(ours) * 1e6, bench::median(theirs) * 1e6, figure.baseline,
             figure.better == bench::Better::lower ? "<=" : ">=", figure.bar,
             figure.met(value) ? "yes" : "NO");
  std::fflush(stdout);
  return {std::string(figure.name), value, std::string(figure.unit), values.size(),
          bench::spread(values)};
}

void measure_all(const Options& options) {
  std::array<double, 1> load{};
  getloadavg(load.data(), 1);
  fmt::print("load average {:.2f} at the start: figures are good on a quiet machine only\n",
             load[0]);
  fmt::print("{:<24} {:>7} {:<3} {:>7} {:>14} {:>14}  {:<7} {:<8} {}\n", "figure", "value", "",
             "spread", "ours", "theirs", "theirs", "bar", "met");
  std::vector<bench::Row> rows;
  bool is_known = false;
  for (const bench::OpsFigure& figure : bench::ops_figures()) {
    if (figure.name.find(options.only) == std::string_view::npos) continue;
    is_known = true;
    if (figure.absent.empty())
      rows.push_back(measure(figure, options.rounds));
    else
      fmt::print("{:<24} absent: {}\n", figure.name, figure.absent);
  }
  if (!is_known) throw std::invalid_argument("no figure's name contains '" + options.only + "'");
  if (!options.json.empty()) bench::write_json(options.json, rows);
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App app("The device bodies of the ops, with baselines in the same run");
  Options options;
  app.add_option("--rounds", options.rounds, "Rounds of each figure, ours and theirs in turn")
      ->check(CLI::Range(1, 1000));
  app.add_option("--only", options.only, "Only figures whose name contains this");
  app.add_option("--json", options.json, "Write the figures to this file as well");
  CLI11_PARSE(app, argument_count, arguments);
  try {
    hold_libraries_to_one_thread(arguments);
    measure_all(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "\nops_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
