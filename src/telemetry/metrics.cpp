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

enum class FigureKind : std::uint8_t { counter, gauge };

}  // namespace

void subtract(KernelMetrics& metrics, const KernelMetrics& before) noexcept {
#define RK_KERNEL_FIGURE(name, kind, help) \
  if (FigureKind::kind == FigureKind::counter) metrics.name -= std::min(metrics.name, before.name);
#include "telemetry/figures.def"
  for (MethodMetrics& method : metrics.methods) {
    const auto known = std::ranges::find(before.methods, method.name, &MethodMetrics::name);
    if (known == before.methods.end()) continue;
    method.answered -= std::min(method.answered, known->answered);
    method.faults -= std::min(method.faults, known->faults);
  }
  std::erase_if(metrics.methods, [](const MethodMetrics& method) { return method.answered == 0; });
}

void subtract(RuntimeMetrics& metrics, const RuntimeMetrics& before) noexcept {
#define RK_RUNTIME_FIGURE(name, kind, help) \
  if (FigureKind::kind == FigureKind::counter) metrics.name -= std::min(metrics.name, before.name);
#include "telemetry/figures.def"
}

}  // namespace telemetry
}  // namespace ringkernel
