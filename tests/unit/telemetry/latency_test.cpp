// Percentiles of a histogram against those of the sorted durations themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "telemetry/latency.hpp"

namespace ringkernel::telemetry {
namespace {

using Durations = std::vector<std::uint64_t>;

std::unique_ptr<Histogram> histogram_of(const Durations& durations) {
  auto histogram = std::make_unique<Histogram>();
  for (const std::uint64_t ns : durations) histogram->record(ns);
  return histogram;
}

/// The shortest duration that `share` of them does not exceed.
std::uint64_t percentile(Durations durations, double share) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(durations.size())));
  std::ranges::sort(durations);
  return durations[rank - 1];
}

/// Not less than the truth, and more by less than a hundredth.
void expect_near(std::uint64_t shown, std::uint64_t truth) {
  EXPECT_GE(shown, truth);
  EXPECT_LT(static_cast<double>(shown), static_cast<double>(truth) * 1.01 + 1);
}

void expect_summary(const LatencySummary& summary, const Durations& durations) {
  EXPECT_EQ(summary.count, durations.size());
  EXPECT_EQ(summary.sum_ns, std::accumulate(durations.begin(), durations.end(), std::uint64_t{0}));
  expect_near(summary.p50_ns, percentile(durations, 0.5));
  expect_near(summary.p90_ns, percentile(durations, 0.9));
  expect_near(summary.p99_ns, percentile(durations, 0.99));
  expect_near(summary.p999_ns, percentile(durations, 0.999));
  expect_near(summary.max_ns, percentile(durations, 1));
}

TEST(Latency, PercentilesAreThoseOfTheDurations) {
  std::mt19937_64 random(4711);
  std::uniform_int_distribution<std::uint64_t> uniform(1, 3'600'000'000'000);
  std::exponential_distribution<double> exponential(1e-4);
  std::lognormal_distribution<double> lognormal(8, 3);
  const std::function<std::uint64_t()> draws[] = {
      [&] { return uniform(random); },
      [&] { return static_cast<std::uint64_t>(exponential(random)); },
      [&] { return static_cast<std::uint64_t>(lognormal(random)); },
      [&] { return random() % 100 == 0 ? std::uint64_t{20'000'000} : std::uint64_t{900}; },
      [&] { return std::uint64_t{1}; }};
  for (std::size_t kind = 0; kind < std::size(draws); ++kind)
    for (const std::size_t count : {1u, 2u, 3u, 100u, 1000u, 20'000u}) {
      SCOPED_TRACE(std::to_string(kind) + ", " + std::to_string(count));
      Durations durations(count);
      std::ranges::generate(durations, draws[kind]);
      expect_summary(summarize(*histogram_of(durations)), durations);
    }
}

TEST(Latency, OfNothingIsAllZero) {
  const LatencySummary summary = summarize(*std::make_unique<Histogram>());
  EXPECT_EQ(summary.count, 0u);
  EXPECT_EQ(summary.p50_ns, 0u);
  EXPECT_EQ(summary.max_ns, 0u);
}

TEST(Latency, OfAnIntervalIsOfWhatCameInIt) {
  const auto histogram = histogram_of(Durations(1000, 5));
  const auto before = std::make_unique<Histogram>();
  before->assign(*histogram);
  Durations later;
  for (std::uint64_t ns = 1; ns <= 500; ++ns) later.push_back(1000 * ns);
  for (const std::uint64_t ns : later) histogram->record(ns);
  expect_summary(summarize(*histogram, *before), later);
  EXPECT_EQ(summarize(*histogram, *histogram).count, 0u);
}

}  // namespace
}  // namespace ringkernel::telemetry
