/// Metrics whose metrics all say the same, so that a mixture is found out.
#pragma once

#include <cstdint>
#include <string>

#include "foundation/trace_log.hpp"
#include "ringkernel/telemetry.hpp"

namespace ringkernel::testing {

inline LatencySummary latency_of(std::uint64_t number) {
  return {number, number, number, number, number, number, number};
}

inline bool is_of(const LatencySummary& latency, std::uint64_t number) {
  return latency.count == number && latency.sum_ns == number && latency.p50_ns == number &&
         latency.p90_ns == number && latency.p99_ns == number && latency.p999_ns == number &&
         latency.max_ns == number;
}

inline KernelMetrics kernel_of(std::uint64_t number) {
  KernelMetrics metrics;
  metrics.id = "kernel " + std::to_string(number);
  metrics.program = "core";
  metrics.status = KernelStatus::active;
#define RK_KERNEL_METRIC(name, kind, help) metrics.name = number;
#define RK_KERNEL_LATENCY(name, help) metrics.name = latency_of(number);
#include "ringkernel/metrics.def"
  return metrics;
}

inline bool is_whole(const KernelMetrics& metrics) {
  const std::uint64_t number = metrics.accepted;
  bool whole = metrics.id == "kernel " + std::to_string(number);
#define RK_KERNEL_METRIC(name, kind, help) whole = whole && metrics.name == number;
#define RK_KERNEL_LATENCY(name, help) whole = whole && is_of(metrics.name, number);
#include "ringkernel/metrics.def"
  return whole;
}

inline RuntimeMetrics runtime_of(std::uint32_t number) {
  RuntimeMetrics metrics;
  metrics.backend = "native";
  metrics.device = "device " + std::to_string(number);
  metrics.transfer = "zero_copy";
#define RK_RUNTIME_METRIC(name, kind, help) metrics.name = number;
#include "ringkernel/metrics.def"
  return metrics;
}

inline TraceEvent event_of(std::uint64_t number) {
  TraceEvent event = TraceEvent::of(TraceKind::message, number, number, number,
                                    "kernel " + std::to_string(number));
  event.selector = event.entered_ns = event.taken_ns = event.done_ns = event.replied_ns = number;
  return event;
}

inline bool is_whole(const TraceEvent& event) {
  return event.kind == TraceKind::message && event.begin_ns == event.id &&
         event.selector == event.id && event.entered_ns == event.id && event.taken_ns == event.id &&
         event.done_ns == event.id && event.replied_ns == event.id && event.end_ns == event.id &&
         event.name == "kernel " + std::to_string(event.id);
}

}  // namespace ringkernel::testing
