#include "telemetry/metrics.hpp"

#include <algorithm>
#include <cstdint>

namespace ringkernel {

const char* name(KernelStatus status) noexcept {
  switch (status) {
    case KernelStatus::created: return "created";
    case KernelStatus::launched: return "launched";
    case KernelStatus::active: return "active";
    case KernelStatus::deactivated: return "deactivated";
    case KernelStatus::terminating: return "terminating";
    case KernelStatus::terminated: return "terminated";
    case KernelStatus::failed: return "failed";
  }
  return "unknown";
}

namespace telemetry {
namespace {

enum class CounterOrGauge : std::uint8_t { counter, gauge };

}  // namespace

void subtract(KernelMetrics& metrics, const KernelMetrics& before) noexcept {
#define RK_KERNEL_METRIC(name, kind, help)             \
  if (CounterOrGauge::kind == CounterOrGauge::counter) \
    metrics.name -= std::min(metrics.name, before.name);
#include "ringkernel/metrics.def"
}

}  // namespace telemetry
}  // namespace ringkernel
