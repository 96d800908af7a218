#include "measure.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <future>
#include <istream>
#include <ostream>

namespace digits {
namespace {

/// What one worker measured.
struct Sheet {
  Latencies ops;
  Latencies digits;
};

/// Each worker takes every n-th digit.
void run_worker(const Dataset& dataset, std::size_t first, std::size_t step, Classifier& worker,
                Sheet& sheet, std::string& predicted) {
  for (std::size_t row = first; row < dataset.size(); row += step) {
    const int digit =
        sheet.digits.timed([&] { return worker.classify(dataset.image(row), sheet.ops); });
    predicted[row] = static_cast<char>('0' + digit);
  }
}

void run_pass(const Dataset& dataset, const std::vector<std::unique_ptr<Classifier>>& workers,
              std::vector<Sheet>& sheets, std::string& predicted) {
  std::vector<std::future<void>> running;
  for (std::size_t i = 0; i < workers.size(); ++i)
    running.push_back(std::async(std::launch::async, [&, i] {
      run_worker(dataset, i, workers.size(), *workers[i], sheets[i], predicted);
    }));
  for (std::future<void>& worker : running) worker.get();
}

Percentiles percentiles(const std::vector<Sheet>& sheets, Latencies Sheet::*kind) {
  std::vector<std::int64_t> all;
  for (const Sheet& sheet : sheets) {
    const std::vector<std::int64_t>& some = (sheet.*kind).nanoseconds();
    all.insert(all.end(), some.begin(), some.end());
  }
  if (all.empty()) return {};
  std::ranges::sort(all);
  const auto at = [&all](double part) {
    const auto index = static_cast<std::size_t>(part * static_cast<double>(all.size()));
    return static_cast<double>(all[std::min(index, all.size() - 1)]) / 1000.0;
  };
  return {.p50_us = at(0.5), .p99_us = at(0.99), .p999_us = at(0.999)};
}

}  // namespace

Outcome measure(std::string_view title, const Dataset& dataset,
                std::chrono::duration<double> at_least,
                const std::vector<std::unique_ptr<Classifier>>& workers) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  Outcome outcome;
  outcome.classes.resize(dataset.size());
  std::vector<Sheet> warm_up(workers.size());
  run_pass(dataset, workers, warm_up, outcome.classes);

  std::vector<Sheet> sheets(workers.size());
  std::chrono::duration<double> busy{0};
  do {
    const auto start = std::chrono::steady_clock::now();
    run_pass(dataset, workers, sheets, outcome.classes);
    busy += std::chrono::steady_clock::now() - start;
    outcome.digits_measured += dataset.size();
    if (!terminal && busy < at_least) continue;  // a file gets the last line only
    fmt::print("{}{:<40}{:>9} digits classified, {} of {} right", terminal ? "\r" : "", title,
               outcome.digits_measured, count_right(dataset, outcome.classes), dataset.size());
    std::fflush(stdout);
  } while (busy < at_least);
  fmt::print("\n");

  outcome.op = percentiles(sheets, &Sheet::ops);
  outcome.digit = percentiles(sheets, &Sheet::digits);
  outcome.digits_per_second = static_cast<double>(outcome.digits_measured) / busy.count();
  return outcome;
}

std::size_t count_right(const Dataset& dataset, std::string_view predicted) {
  std::size_t right = 0;
  for (std::size_t row = 0; row < dataset.size(); ++row)
    if (predicted[row] == '0' + dataset.label(row)) ++right;
  return right;
}

std::ostream& operator<<(std::ostream& stream, const Outcome& outcome) {
  stream << outcome.classes;
  for (const Percentiles& kind : {outcome.op, outcome.digit})
    stream << ' ' << kind.p50_us << ' ' << kind.p99_us << ' ' << kind.p999_us;
  return stream << ' ' << outcome.digits_per_second << ' ' << outcome.digits_measured << '\n';
}

std::istream& operator>>(std::istream& stream, Outcome& outcome) {
  stream >> outcome.classes;
  for (Percentiles* kind : {&outcome.op, &outcome.digit})
    stream >> kind->p50_us >> kind->p99_us >> kind->p999_us;
  return stream >> outcome.digits_per_second >> outcome.digits_measured;
}

}  // namespace digits
