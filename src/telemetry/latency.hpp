/// Percentiles of a histogram.
///
/// Threading: beside those who record.
#pragma once

#include "foundation/histogram.hpp"
#include "ringkernel/telemetry.hpp"

namespace ringkernel::telemetry {

[[nodiscard]] LatencySummary summarize(const Histogram& durations);

/// Of what was recorded between two looks at the same histogram.
[[nodiscard]] LatencySummary summarize(const Histogram& durations, const Histogram& before);

}  // namespace ringkernel::telemetry
