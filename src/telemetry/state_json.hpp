/// Readings as JSON, every metric of them.
///
/// Threading: plain functions.
#pragma once

#include <string>
#include <vector>

#include "telemetry/reading.hpp"

namespace ringkernel::telemetry {

/// One line. Rates and `latency_just_now` are over the time since `before`, and absent without.
[[nodiscard]] std::string render_json(const std::vector<Reading>& readings,
                                      const std::vector<Reading>& before);

}  // namespace ringkernel::telemetry
