#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <exception>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "child.hpp"
#include "figure_main.hpp"

namespace {

struct Options {
  std::string child;
  std::string only;
  std::string json;
  int rounds = 5;
};

void print_machine() {
  std::array<double, 1> load{};
  getloadavg(load.data(), 1);
  fmt::print(
      "{} CPUs, load average {:.2f} at the start: figures are good on a quiet machine only\n",
      std::thread::hardware_concurrency(), load[0]);
}

std::vector<bench::Figure> choose(std::span<const bench::Figure> figures, const std::string& only) {
  std::vector<bench::Figure> chosen;
  for (const bench::Figure& figure : figures)
    if (figure.name.find(only) != std::string_view::npos) chosen.push_back(figure);
  if (chosen.empty()) throw std::invalid_argument("no figure's name contains '" + only + "'");
  return chosen;
}

/// Those that can be measured here. Says of the others why not.
std::vector<bench::Figure> at_hand(std::vector<bench::Figure> figures) {
  std::erase_if(figures, [](const bench::Figure& figure) {
    if (figure.absent.empty()) return false;
    fmt::print("{:<27} absent: {}\n", figure.name, figure.absent);
    return true;
  });
  return figures;
}

/// Those whose cases ran. What was compared with a case that did not run is shown without it.
std::vector<bench::Figure> measured(std::vector<bench::Figure> figures,
                                    const bench::Rounds& rounds) {
  const auto has_run = [&](std::string_view name) { return rounds.contains(name); };
  for (bench::Figure& figure : figures) {
    const bool is_whole =
        has_run(figure.measured) && (!figure.is_ratio() || has_run(figure.baselines.front()));
    if (!is_whole) figure.absent = "this device cannot run it";
    std::erase_if(figure.baselines, std::not_fn(has_run));
  }
  return at_hand(std::move(figures));
}

using More = std::string (*)(const bench::Rounds&);

void measure(std::span<const bench::Figure> figures, const Options& options, More more) {
  std::vector<bench::Figure> chosen = at_hand(choose(figures, options.only));
  print_machine();
  bench::Rounds rounds;
  for (int round = 1; round <= options.rounds; ++round) {
    for (const std::string_view name : bench::cases_of(chosen)) {
      fmt::print(stderr, "\rround {}/{}: {:<30}", round, options.rounds, name);
      std::fflush(stderr);
      if (const auto result = bench::run_in_child(bench::find_case(name)))
        rounds[name].push_back(*result);
    }
  }
  fmt::print(stderr, "\r{:<50}\r", "");
  chosen = measured(std::move(chosen), rounds);
  fmt::print("{}", bench::render(chosen, rounds));
  if (more != nullptr) fmt::print("{}", more(rounds));
  if (options.json.empty()) return;
  std::vector<bench::Row> rows;
  for (const bench::Figure& figure : chosen) rows.push_back(bench::evaluate(figure, rounds));
  for (const std::string_view name : bench::cases_of(chosen))
    rows.push_back(bench::evaluate_case(name, rounds));
  bench::write_json(options.json, rows);
}

}  // namespace

namespace bench {

int figure_main(int argument_count, char** arguments, const char* what,
                std::span<const Figure> figures, std::string (*more)(const Rounds&)) {
  CLI::App app(what);
  Options options;
  app.add_option("--rounds", options.rounds, "Rounds; each runs every case once, in turn")
      ->check(CLI::Range(1, 100));
  app.add_option("--only", options.only, "Only figures whose name contains this");
  app.add_option("--json", options.json, "Write the figures to this file as well");
  app.add_option("--child", options.child, "Run one case here and print its measurement as JSON");
  CLI11_PARSE(app, argument_count, arguments);
  try {
    if (options.child.empty())
      measure(figures, options, more);
    else
      fmt::print("{}\n", find_case(options.child).run().to_json());
  } catch (const Absent& absent) {
    fmt::print(stderr, "\n{}: {}\n", options.child, absent.what());
    return exit_absent;
  } catch (const std::exception& error) {
    fmt::print(stderr, "\n{}: {}\n", arguments[0], error.what());
    return 1;
  }
  return 0;
}

}  // namespace bench
