/// Arithmetic with metrics.
///
/// Threading: plain functions.
#pragma once

#include "ringkernel/telemetry.hpp"

namespace ringkernel::telemetry {

/// Takes from each count what it was before; what is measured at a moment stays.
void subtract(KernelMetrics& metrics, const KernelMetrics& before) noexcept;

}  // namespace ringkernel::telemetry
