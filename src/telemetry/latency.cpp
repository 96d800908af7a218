#include "telemetry/latency.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace ringkernel::telemetry {
namespace {

/// Buckets that are not empty with their counts, shortest durations first.
using Counts = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

LatencySummary summarize(const Counts& counts, std::uint64_t sum_ns) {
  LatencySummary summary{.sum_ns = sum_ns};
  for (const auto& [bucket, count] : counts) summary.count += count;
  if (summary.count == 0) return {};
  struct Percentile {
    double share;
    std::uint64_t LatencySummary::*value;
  };
  constexpr Percentile percentiles[] = {{0.5, &LatencySummary::p50_ns},
                                        {0.9, &LatencySummary::p90_ns},
                                        {0.99, &LatencySummary::p99_ns},
                                        {0.999, &LatencySummary::p999_ns},
                                        {1.0, &LatencySummary::max_ns}};
  auto at = counts.begin();
  std::uint64_t below = 0;  // counts of the buckets before `at`
  for (const Percentile& percentile : percentiles) {
    const double rank = std::ceil(percentile.share * static_cast<double>(summary.count));
    while (static_cast<double>(below + at->second) < rank && at + 1 != counts.end())
      below += at++->second;
    summary.*percentile.value = Histogram::longest_of(at->first);
  }
  return summary;
}

}  // namespace

LatencySummary summarize(const Histogram& durations) {
  Counts counts;
  durations.visit(
      [&](std::uint32_t bucket, std::uint64_t count) { counts.emplace_back(bucket, count); });
  return summarize(counts, durations.sum_ns());
}

LatencySummary summarize(const Histogram& durations, const Histogram& before) {
  Counts counts;
  durations.visit([&](std::uint32_t bucket, std::uint64_t count) {
    const std::uint64_t earlier = before.count(bucket);
    if (count != earlier) counts.emplace_back(bucket, count - earlier);
  });
  return summarize(counts, durations.sum_ns() - before.sum_ns());
}

}  // namespace ringkernel::telemetry
