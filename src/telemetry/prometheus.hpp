/// Readings as Prometheus' text format 0.0.4.
///
/// Threading: plain functions.
#pragma once

#include <string>
#include <vector>

#include "telemetry/reading.hpp"

namespace ringkernel::telemetry {

[[nodiscard]] std::string render_prometheus(const std::vector<Reading>& readings);

}  // namespace ringkernel::telemetry
