/// The figures that the project promises, each from one case and perhaps a baseline beside it.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cases.hpp"
#include "report.hpp"

namespace bench {

struct Figure {
  /// Of a figure that promises nothing.
  static constexpr double no_bar = std::numeric_limits<double>::quiet_NaN();

  std::string_view name;
  std::string_view unit;
  Better better;
  double bar;
  std::string_view measured;  ///< the case
  /// Cases that run in the same round, for comparison.
  std::vector<std::string_view> baselines = {};
  std::string absent = {};  ///< why it cannot be measured here; empty: it can

  /// The value is by how much ours is better than the first baseline, or, where lower is better,
  /// how many times that ours is; else it is the measured value.
  [[nodiscard]] bool is_ratio() const { return unit == "x"; }
};

[[nodiscard]] std::span<const Figure> roundtrip_figures();
[[nodiscard]] std::span<const Figure> async_figures();
[[nodiscard]] std::span<const Figure> graph_figures();
[[nodiscard]] std::span<const Figure> strategy_figures();
[[nodiscard]] std::span<const Figure> idle_figures();
[[nodiscard]] std::span<const Figure> telemetry_figures();
[[nodiscard]] std::span<const Figure> choose_figures();
[[nodiscard]] std::span<const Figure> program_figures();
[[nodiscard]] std::span<const Figure> turns_figures();
[[nodiscard]] std::span<const Figure> model_figures();

/// Every case's measurements, one per round.
using Rounds = std::map<std::string_view, std::vector<Measurement>, std::less<>>;

/// The cases that the figures need, each once, baselines right behind what they are compared to.
[[nodiscard]] std::vector<std::string_view> cases_of(std::span<const Figure> chosen);

/// The figure over all rounds: median and spread of the rounds' values. A ratio is taken in each
/// round.
[[nodiscard]] Row evaluate(const Figure& figure, const Rounds& rounds);

/// A case over all rounds, likewise.
[[nodiscard]] Row evaluate_case(std::string_view name, const Rounds& rounds);

[[nodiscard]] bool met(const Figure& figure, double value);

/// The table for people.
[[nodiscard]] std::string render(std::span<const Figure> chosen, const Rounds& rounds);

}  // namespace bench
