/// The cases and figures of `telemetry`.
///
/// Threading: one thread, at first.
#pragma once

#include <span>

#include "cases.hpp"

namespace bench {

/// In percent of the throughput, in ns of a message, or in snapshots a second.
[[nodiscard]] std::span<const Case> telemetry_cases();

}  // namespace bench
