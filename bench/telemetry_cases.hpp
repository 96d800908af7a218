/// The cases and figures of `telemetry`.
///
/// Threading: one thread, at first.
#pragma once

#include <span>

#include "cases.hpp"

namespace bench {

/// `telemetry_overhead`, `telemetry_readers` in percent of the throughput, `telemetry_call` in ns.
[[nodiscard]] std::span<const Case> telemetry_cases();

}  // namespace bench
