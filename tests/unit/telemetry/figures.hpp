/// Metrics whose figures all say the same, so that a mixture is found out.
#pragma once

#include <cstdint>
#include <string>

#include "ringkernel/telemetry.hpp"

namespace ringkernel::testing {

inline KernelMetrics kernel_of(std::uint64_t number) {
  KernelMetrics metrics;
  metrics.id = "kernel " + std::to_string(number);
  metrics.program = "core";
  metrics.status = KernelStatus::active;
#define RK_KERNEL_FIGURE(name, kind, help) metrics.name = number;
#include "telemetry/figures.def"
  return metrics;
}

inline bool is_whole(const KernelMetrics& metrics) {
  const std::uint64_t number = metrics.accepted;
  bool whole = metrics.id == "kernel " + std::to_string(number);
#define RK_KERNEL_FIGURE(name, kind, help) whole = whole && metrics.name == number;
#include "telemetry/figures.def"
  return whole;
}

inline RuntimeMetrics runtime_of(std::uint32_t number) {
  RuntimeMetrics metrics;
  metrics.backend = "native";
  metrics.device = "device " + std::to_string(number);
  metrics.transfer = "zero_copy";
#define RK_RUNTIME_FIGURE(name, kind, help) metrics.name = number;
#include "telemetry/figures.def"
  return metrics;
}

}  // namespace ringkernel::testing
