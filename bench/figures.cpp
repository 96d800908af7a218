#include "figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace bench {
namespace {

const std::vector<std::string_view> vadd1k_baselines = {"plain_opencl_vadd1k",
                                                        "plain_opencl_vadd1k_basic"};

const std::vector<Figure> figures_of_roundtrip = {
    {"call_add16_p50_us", "us", Better::lower, 1.0, "call_add16"},
    {"call_add16_vs_plain_opencl", "x", Better::higher, 20, "call_add16", {"plain_opencl_add16"}},
    {"call_add16_vs_basic", "x", Better::higher, 3, "call_add16", {"plain_opencl_add16_basic"}},
    {"call_add16_vs_bare_flag", "x", Better::higher, 0.33, "call_add16", {"bare_flag"}},
    {"prepared_add16_vs_bare_flag", "x", Better::higher, 0.33, "prepared_add16", {"bare_flag"}},
    {"prepared_add16_vs_call", "x", Better::higher, 1, "prepared_add16", {"call_add16"}},
    {"native_prepared_add16_ns", "ns", Better::lower, 160, "native_prepared_block"},
    {"native_prepared_vs_call",
     "x",
     Better::higher,
     1.5,
     "native_prepared_block",
     {"native_call_block"}},
    {"native_call_add16_p50_us", "us", Better::lower, 0.4, "native_call_add16"},
    {"echo64_pipelined_mps", "M/s", Better::higher, 5, "echo64_pipelined"},
    {"vadd1k_pipelined_mps", "M/s", Better::higher, 1, "vadd1k_pipelined", vadd1k_baselines},
    {"echo64k_vs_two_thread_copy", "x", Better::higher, 0.7, "echo64k", {"two_thread_copy64k"}},
    {"async_call_add16_p50_us", "us", Better::lower, 15, "async_call_add16"},
    {"idle_cpu_percent", "%", Better::lower, 1, "idle_cpu"},
    {"wake_p50_us", "us", Better::lower, 200, "wake"},
    {"launch_activate_p50_us", "us", Better::lower, 50, "launch_activate"},
};

const std::vector<Figure> figures_of_graph = {
    {"graph20_vs_launches", "x", Better::higher, 30, "graph20", {"plain_opencl_launches20"}},
    {"graph20_vs_messages", "x", Better::higher, 1, "graph20", {"messages20"}},
    {"graph_op_overhead_ns", "ns", Better::lower, 150, "graph_op_overhead"},
    {"graph_chain_op_ns", "ns", Better::lower, 150, "chain_op"},
    {"graph_chain12_1m_vs_messages", "x", Better::higher, 2, "chain_large", {"messages_large"}},
    {"get_or_compile_hit_us", "us", Better::lower, 1, "get_or_compile_hit"},
};

double median_of(const std::vector<Measurement>& rounds, double Measurement::*part) {
  std::vector<double> values;
  for (const Measurement& round : rounds) values.push_back(round.*part);
  return median(std::move(values));
}

/// The factor by which we are better.
double factor(std::string_view unit, double ours, double theirs) {
  return unit == "M/s" ? ours / theirs : theirs / ours;
}

/// "bare_flag 0.26 us (0.41 x)".
std::string render_baseline(const Figure& figure, std::string_view baseline, const Rounds& rounds) {
  const double theirs = median_of(rounds.at(baseline), &Measurement::value);
  const double ours = median_of(rounds.at(figure.measured), &Measurement::value);
  const std::string_view unit = find_case(baseline).unit;
  return fmt::format("{} {:.3g} {} ({:.3g} x)", baseline, theirs, unit, factor(unit, ours, theirs));
}

std::string render_row(const Figure& figure, const Rounds& rounds) {
  const Row row = evaluate(figure, rounds);
  const std::vector<Measurement>& ours = rounds.at(figure.measured);
  const std::string quantiles =
      fmt::format("{:.3g} / {:.3g} / {:.3g} {}", median_of(ours, &Measurement::p50),
                  median_of(ours, &Measurement::p99), median_of(ours, &Measurement::p999),
                  find_case(figure.measured).unit);
  std::vector<std::string> beside;
  for (const std::string_view baseline : figure.baselines)
    beside.push_back(render_baseline(figure, baseline, rounds));
  const std::string bar =
      fmt::format("{} {:g}", figure.better == Better::lower ? "<=" : ">=", figure.bar);
  const bool promised = !std::isnan(figure.bar);
  return fmt::format("{:<27} {:>8.3g} {:<4} {:>5.0f} % {:>9}  {:<28} {:<8} {:<4} {}\n", row.name,
                     row.value, row.unit, row.spread * 100, row.samples, quantiles,
                     promised ? bar : "",
                     !promised                ? ""
                     : met(figure, row.value) ? "yes"
                                              : "NO",
                     fmt::join(beside, "; "));
}

double ratio(const Figure& figure, double ours, const Rounds& rounds, std::size_t round) {
  const double theirs = rounds.at(figure.baselines.front())[round].value;
  const double better = factor(find_case(figure.measured).unit, ours, theirs);
  return figure.better == Better::lower ? 1 / better : better;
}

}  // namespace

std::span<const Figure> roundtrip_figures() { return figures_of_roundtrip; }

std::span<const Figure> graph_figures() { return figures_of_graph; }

std::vector<std::string_view> cases_of(std::span<const Figure> chosen) {
  std::vector<std::string_view> names;
  const auto add = [&](std::string_view name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const Figure& figure : chosen) {
    add(figure.measured);
    for (const std::string_view baseline : figure.baselines) add(baseline);
  }
  return names;
}

Row evaluate(const Figure& figure, const Rounds& rounds) {
  Row row{std::string(figure.name), 0, std::string(figure.unit), 0, 0};
  std::vector<double> values;
  const std::vector<Measurement>& ours = rounds.at(figure.measured);
  for (std::size_t round = 0; round < ours.size(); ++round) {
    const double value = ours[round].value;
    values.push_back(figure.is_ratio() ? ratio(figure, value, rounds, round) : value);
    row.samples += ours[round].samples;
  }
  row.value = median(values);
  row.spread = spread(values);
  return row;
}

Row evaluate_case(std::string_view name, const Rounds& rounds) {
  Row row{std::string(name), 0, std::string(find_case(name).unit), 0, 0};
  std::vector<double> values;
  for (const Measurement& round : rounds.at(name)) {
    values.push_back(round.value);
    row.samples += round.samples;
  }
  row.value = median(values);
  row.spread = spread(values);
  return row;
}

bool met(const Figure& figure, double value) {
  return figure.better == Better::lower ? value <= figure.bar : value >= figure.bar;
}

std::string render(std::span<const Figure> chosen, const Rounds& rounds) {
  std::string table = fmt::format(
      "{:<27} {:>8} {:<4} {:>7} {:>9}  {:<28} {:<8} {:<4} {}\n", "figure", "value", "unit",
      "spread", "samples", "ours: p50 / p99 / p99.9", "bar", "met", "baselines (ours better by)");
  for (const Figure& figure : chosen) table += render_row(figure, rounds);
  return table;
}

}  // namespace bench
