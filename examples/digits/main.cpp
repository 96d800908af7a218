// Classifies handwritten digits by calls to ring kernels, resident on an OpenCL device and native,
// and the same digits by plain OpenCL, one launch per request. Exit code 0 if over 90 % are right
// and all agree on every digit.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "graph_classifier.hpp"
#include "plain_opencl.hpp"
#include "report.hpp"
#include "ring_classifier.hpp"

namespace {

namespace rk = ringkernel;
using digits::Outcome;
using digits::PlainOutcome;
using digits::RingOutcome;

constexpr double accuracy_min = 0.9;

struct Options {
  std::string digits_file = DIGITS_FOLDER "/digits.csv";
  std::string weights_file = DIGITS_FOLDER "/weights.txt";
  std::string backend;
  /// One core is the executor's.
  std::size_t workers = std::clamp(std::thread::hardware_concurrency(), 2u, 5u) - 1;
  double seconds = 1;
};

struct Job {
  digits::Dataset dataset;
  digits::Network network;
  std::size_t workers;
  std::chrono::duration<double> at_least;

  /// `make(n)` makes the classifier of worker n.
  template <class Make>
  [[nodiscard]] Outcome run(std::string_view title, Make make) const {
    std::vector<std::unique_ptr<digits::Classifier>> classifiers;
    for (std::size_t i = 0; i < workers; ++i) classifiers.push_back(make(i));
    return measure(title, dataset, at_least, classifiers);
  }
};

/// In a process of its own, which is gone before the ring kernels start: neither side takes a core
/// from the other, and PoCL, which reads its settings once per process, runs each with what suits
/// it (the runtime asks for more worker threads, which would make plain launches slower).
std::optional<PlainOutcome> run_plain(const Job& job) try {
  std::istringstream text(digits::in_child_process([&job] {
    const digits::PlainOpencl opencl;
    const auto run = [&](const char* title, digits::Traffic traffic) {
      return job.run(title,
                     [&](std::size_t) { return opencl.make_classifier(job.network, traffic); });
    };
    std::ostringstream report;
    report << opencl.device() << '\n'
           << run("plain OpenCL, a launch per request", digits::Traffic::every_op)
           << run("plain OpenCL, a digit's launches chained", digits::Traffic::each_digit);
    return report.str();
  }));
  PlainOutcome plain;
  std::getline(text, plain.device);
  text >> plain.every_op >> plain.each_digit;
  return plain;
} catch (const std::exception& error) {
  fmt::print("no comparison with plain OpenCL: {}\n", error.what());
  return std::nullopt;
}

RingOutcome run_ring(const Job& job, const std::string& backend, rk::RingKernelRuntime runtime) {
  RingOutcome ours{.backend = backend, .device = runtime.metrics().device};
  ours.every_op = job.run(backend + ": a call per op", [&](std::size_t number) {
    return digits::make_ring_classifier(runtime, number, job.network);
  });
  {
    const rk::CompiledFunction function = digits::compile_network(runtime, job.network);
    ours.each_digit = job.run(backend + ": a graph per digit",
                              [&](std::size_t) { return digits::make_graph_classifier(function); });
  }
  runtime.shutdown().value();
  return ours;
}

/// On the named backend; without a name on OpenCL, if there is any, and natively.
std::vector<RingOutcome> run_rings(const Job& job, const std::string& backend) {
  std::vector<RingOutcome> all;
  if (!backend.empty()) {
    all.push_back(
        run_ring(job, backend, rk::RingKernelRuntime::builder().backend(backend).build().value()));
    return all;
  }
  if (auto opencl = rk::RingKernelRuntime::builder().backend("opencl").build())
    all.push_back(run_ring(job, "opencl", std::move(*opencl)));
  else
    fmt::print("no OpenCL device, so the host alone computes: {}\n", opencl.error().text());
  all.push_back(
      run_ring(job, "native", rk::RingKernelRuntime::builder().backend("native").build().value()));
  return all;
}

/// True if the result is good.
bool report(const Job& job, const std::vector<RingOutcome>& ours,
            const std::optional<PlainOutcome>& plain) {
  const std::size_t total = job.dataset.size();
  const std::string& classes = ours.front().every_op.classes;
  const double accuracy =
      static_cast<double>(digits::count_right(job.dataset, classes)) / static_cast<double>(total);
  fmt::print("\naccuracy: {:.1f} % of {} digits that the network was not trained on\n",
             100 * accuracy, total);
  bool good = accuracy > accuracy_min;
  if (!good) fmt::print("FAILED: at least {:.0f} % are expected\n", 100 * accuracy_min);
  const auto expect_same = [&](std::string_view who, const Outcome& outcome) {
    if (outcome.classes == classes) return;
    fmt::print("FAILED: {} gives another class for some digit\n", who);
    good = false;
  };
  for (const RingOutcome& one : ours) {
    expect_same(one.backend + ", op by op,", one.every_op);
    expect_same(one.backend + ", the graph,", one.each_digit);
  }
  if (plain) {
    expect_same("plain OpenCL, op by op,", plain->every_op);
    expect_same("plain OpenCL, chained,", plain->each_digit);
  }
  if (good) fmt::print("every way gives the same class for every digit\n");
  fmt::print("\n{}", digits::tables(ours, plain));
  return good;
}

bool run(const Options& options) {
  const Job job{digits::load_digits(options.digits_file, digits::training_rows),
                digits::load_network(options.weights_file), options.workers,
                std::chrono::duration<double>(options.seconds)};
  std::optional<PlainOutcome> plain;
  if (options.backend.empty() || options.backend == "opencl") plain = run_plain(job);
  const std::vector<RingOutcome> ours = run_rings(job, options.backend);
  fmt::print("\n{} worker thread{}\n", job.workers, job.workers == 1 ? "" : "s");
  for (const RingOutcome& one : ours) fmt::print("ring kernels, {}: {}\n", one.backend, one.device);
  if (plain) fmt::print("plain OpenCL: {}\n", plain->device);
  return report(job, ours, plain);
}

}  // namespace

int main(int argument_count, char** arguments) try {
  CLI::App app("Classifies handwritten digits by calls to resident ring kernels");
  Options options;
  app.add_option("--digits", options.digits_file, "File with the digits")->capture_default_str();
  app.add_option("--weights", options.weights_file, "File with the weights")->capture_default_str();
  app.add_option("--backend", options.backend,
                 "opencl or native; default: both, one after the other");
  app.add_option("--workers", options.workers, "Threads that serve digits, two ring kernels each")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "How long each side is measured, at the least")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  CLI11_PARSE(app, argument_count, arguments);
  return run(options) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "digits: %s\n", error.what());
  return 1;
}
