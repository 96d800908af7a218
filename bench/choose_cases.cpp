#include "choose_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "choose_work.hpp"
#include "names.hpp"
#include "onnxruntime.hpp"

namespace bench {
namespace {

enum class Tool { native, onnxruntime, loop, opencl, opencl_basic, pocl };
constexpr std::array tools{Tool::native, Tool::onnxruntime,  Tool::loop,
                           Tool::opencl, Tool::opencl_basic, Tool::pocl};

std::string_view name_of(Tool tool) {
  switch (tool) {
    case Tool::native: return "native";
    case Tool::onnxruntime: return "ort";
    case Tool::loop: return "loop";
    case Tool::opencl: return "opencl";
    case Tool::opencl_basic: return "opencl_basic";
    default: return "pocl";
  }
}

struct ChoiceRow {
  std::string_view name;
  std::string_view work;
  double bar;  ///< onnxruntime's time over ours
  std::string_view text;
  std::string_view take;  ///< but for the loop: what the figures said when they were last looked at
};

const ChoiceRow choice_rows[] = {
    {"add16", "add16", Figure::no_bar, "add of 16 floats", "ours, native"},
    {"mlp64", "mlp64", 2.5, "MLP 64-32-10", "ours, native"},
    {"mlp784", "mlp784", 1.3, "MLP 784-128-10", "ours, native"},
    {"cnn", "cnn", 1.0, "CNN 28x28x1: convolutions 3x3, stride 2, to 8 and 16; dense 10",
     "ours or onnxruntime: about equal"},
    {"add64k", "add64k", Figure::no_bar, "add of two vectors of 64 KiB each",
     "onnxruntime: we copy operands and result"},
    {"stream", "add256", Figure::no_bar, "a stream of adds of 256 floats, 32 in flight",
     "ours: native, or PoCL if another core is to do it"},
    {"matmul512", "matmul512", Figure::no_bar, "matmul 512 x 512 x 512", "onnxruntime"},
};

std::unique_ptr<Runner> make_runner(Tool tool, std::string_view name, const Work& work) {
  switch (tool) {
    case Tool::native: return make_ours(work, "native");
    case Tool::onnxruntime: return make_onnxruntime(work);
    case Tool::loop: return make_loop(name, work);
    case Tool::pocl: return make_ours(work, "opencl");
    default: return make_launches(work);
  }
}

void require_expected(const Runner& runner, const Work& work) {
  const std::span<const float> got = runner.output();
  if (got.size() != work.expected.size()) throw std::runtime_error("a result of the wrong size");
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float tolerance = 1e-4f * std::max(1.0f, std::abs(work.expected[i]));
    if (!(std::abs(got[i] - work.expected[i]) <= tolerance))
      throw std::runtime_error(
          fmt::format("wrong result {}: {} instead of {}", i, got[i], work.expected[i]));
  }
}

/// The clock is read once for so many requests that it does not count.
Measurement measure_choice(Tool tool, std::string_view name) {
  const Work work = make_work(name);
  const std::unique_ptr<Runner> runner = make_runner(tool, name, work);
  runner->run();
  require_expected(*runner, work);
  const auto run_block = [&](int requests) {
    const Stopwatch watch;
    for (int i = 0; i < requests; ++i) runner->run();
    return watch.us() / requests;
  };
  run_block(10);
  const int requests = run_block(10) < 5 ? 32 : 1;
  Latencies latencies;
  while (latencies.more()) latencies.add(run_block(requests));
  require_expected(*runner, work);
  return latencies.result();
}

/// Of a rate in millions per second: us for one message, in the median of the blocks.
Measurement per_message(const Measurement& rate) {
  return {1 / rate.p50, 1 / rate.p50, 1 / rate.p99, 1 / rate.p999, rate.samples};
}

/// Who has no queue works off one message after the other.
std::function<Measurement()> stream_case(Tool tool, std::string_view work) {
  switch (tool) {
    case Tool::native: return [] { return per_message(native_vadd1k_pipelined()); };
    case Tool::pocl: return [] { return per_message(vadd1k_pipelined()); };
    case Tool::opencl:
    case Tool::opencl_basic: return [] { return per_message(plain_vadd1k_pipelined()); };
    default: return [=] { return measure_choice(tool, work); };
  }
}

std::string_view choice_case_name(const ChoiceRow& row, Tool tool) {
  return keep(fmt::format("{}_{}", row.name, name_of(tool)));
}

std::vector<Case> make_choose_cases() {
  std::vector<Case> cases;
  for (const ChoiceRow& row : choice_rows)
    for (const Tool tool : tools) {
      std::function<Measurement()> run = [=, work = row.work] {
        return measure_choice(tool, work);
      };
      if (row.name == "stream") run = stream_case(tool, row.work);
      cases.push_back({choice_case_name(row, tool), "us", std::move(run),
                       tool == Tool::opencl_basic ? "basic" : ""});
    }
  return cases;
}

/// Without onnxruntime what ours takes, and no promise.
std::vector<Figure> make_choose_figures() {
  const bool with_ort = !find_onnxruntime().version.empty();
  std::vector<Figure> figures;
  for (const ChoiceRow& row : choice_rows) {
    std::vector<std::string_view> baselines;
    for (const Tool tool : tools)
      if (tool != Tool::native && (with_ort || tool != Tool::onnxruntime))
        baselines.push_back(choice_case_name(row, tool));
    const std::string_view ours = choice_case_name(row, Tool::native);
    if (with_ort)
      figures.push_back({keep(fmt::format("{}_vs_ort", row.name)), "x", Better::higher, row.bar,
                         ours, std::move(baselines)});
    else
      figures.push_back({keep(fmt::format("{}_us", ours)), "us", Better::lower, Figure::no_bar,
                         ours, std::move(baselines)});
  }
  return figures;
}

/// Two significant digits.
std::string short_time(double us) {
  if (us >= 9950) return fmt::format("{:.0f} ms", us / 1000);
  if (us >= 995) return fmt::format("{:.1f} ms", us / 1000);
  return us >= 99.5 ? fmt::format("{:.0f}", us) : fmt::format("{:.2g}", us);
}

/// "-" for what was not measured.
std::string choice_cell(const ChoiceRow& row, Tool tool, const Rounds& rounds) {
  const auto found = rounds.find(choice_case_name(row, tool));
  if (found == rounds.end()) return "-";
  std::vector<double> values;
  for (const Measurement& round : found->second) values.push_back(round.value);
  return short_time(median(std::move(values)));
}

}  // namespace

std::span<const Case> choose_cases() {
  static const std::vector<Case> cases = make_choose_cases();
  return cases;
}

std::span<const Figure> choose_figures() {
  static const std::vector<Figure> figures = make_choose_figures();
  return figures;
}

std::string render_choice(const Rounds& rounds) {
  const OnnxruntimeState state = find_onnxruntime();
  std::string table = state.version.empty()
                          ? fmt::format("\nonnxruntime is absent: {}\n", state.reason)
                          : fmt::format("\nonnxruntime {}, one thread\n", state.version);
  table +=
      "\n| us for a request | C++ loop | onnxruntime | OpenCL launches, and on `basic` | ours, "
      "native "
      "| ours, PoCL | take |\n|---|---|---|---|---|---|---|\n";
  for (const ChoiceRow& row : choice_rows) {
    if (!rounds.contains(choice_case_name(row, Tool::native))) continue;
    const auto cell = [&](Tool tool) { return choice_cell(row, tool, rounds); };
    table += fmt::format("| {} | {} | {} | {}, {} | {} | {} | {} |\n", row.text, cell(Tool::loop),
                         cell(Tool::onnxruntime), cell(Tool::opencl), cell(Tool::opencl_basic),
                         cell(Tool::native), cell(Tool::pocl), row.take);
  }
  return table;
}

}  // namespace bench
