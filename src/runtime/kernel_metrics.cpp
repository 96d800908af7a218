#include "runtime/kernel_metrics.hpp"

#include <algorithm>

#include "foundation/memory_error.hpp"
#include "ring/inspect.hpp"
#include "telemetry/latency.hpp"
#include "telemetry/metrics.hpp"

namespace ringkernel::detail {

MetricsSource::MetricsSource(std::string id, Sources sources)
    : id_(std::move(id)), of_(std::move(sources)), before_(all()) {
  before_.parks = before_.slices;  // one that runs is not counted when it ends
}

void MetricsSource::count_methods(const program::Behaviour* behaviour) {
  if (behaviour == nullptr) return;
  const std::lock_guard lock(mutex_);  // one at a time
  for (const program::Method& method : behaviour->methods) of_.channel->methods().add(method.id);
}

KernelMetrics MetricsSource::metrics(KernelStatus status) const {
  const std::lock_guard lock(mutex_);
  KernelMetrics metrics = last_ ? *last_ : all();
  metrics.status = status;
  telemetry::subtract(metrics, before_);
  return metrics;
}

KernelMetrics MetricsSource::all() const {
  const KernelProgram::Current current = of_.program.current();
  KernelMetrics metrics;
  metrics.id = id_;
  metrics.program = of_.program.name();
  if (current.behaviour != nullptr) metrics.behaviour = current.behaviour->name;
  metrics.program_version = current.version;
  const rk_telemetry_block device = of_.executor.telemetry(of_.kernel);
#define RK_DEVICE_COUNTER(name, help) metrics.name = device.name;
#include "ringkernel/metrics.def"
  add_channel(metrics);
  add_executor(metrics);
  add_rings(metrics);
  add_methods(metrics, current.behaviour);
  add_latencies(metrics);
  return metrics;
}

void MetricsSource::add_channel(KernelMetrics& metrics) const {
  const bridge::ChannelCounters host = of_.channel->counters();
#define RK_SENDER_COUNTER(name, help) metrics.name = host.name;
#define RK_ENDING_COUNTER(name, help) metrics.name = host.name;
#include "ringkernel/metrics.def"
  metrics.failed = host.failed;
  metrics.queued = of_.channel->queued();
  metrics.in_flight = of_.channel->in_flight();
  metrics.in_flight_max = of_.channel->in_flight_max();
  metrics.unreceived = of_.channel->unreceived();
  if (const std::vector<CallInFlight> oldest = calls(1); !oldest.empty())
    metrics.oldest_call_age_ns = oldest.front().age_ns;
}

void MetricsSource::add_executor(KernelMetrics& metrics) const {
  metrics.slices = of_.executor.slices_launched();
  metrics.parks = of_.executor.slices_parked(of_.kernel);
  metrics.wake_ups = of_.executor.wake_ups(of_.kernel);
  if (of_.copy_agent == nullptr) return;
  const bridge::CopyCounts counts = of_.copy_agent->copies(of_.kernel);
  metrics.copies = counts.copies;
  metrics.copied_bytes = counts.bytes;
}

void MetricsSource::add_rings(KernelMetrics& metrics) const {
  const bridge::KernelRings& rings = of_.rings;
  metrics.input_ring_bytes = rings.input_capacity;
  metrics.output_ring_bytes = rings.output_capacity;
  const RingUse input = use_of(RingView::at(of_.arena, rings.input_offset, rings.input_capacity));
  metrics.input_ring_position = input.position;
  metrics.input_ring_used_bytes = input.used_bytes;
  const RingUse output =
      use_of(RingView::at(of_.arena, rings.output_offset, rings.output_capacity));
  metrics.output_ring_position = output.position;
  metrics.output_ring_used_bytes = output.used_bytes;
}

/// Those that have been called.
void MetricsSource::add_methods(KernelMetrics& metrics, const program::Behaviour* behaviour) const {
  if (behaviour == nullptr) return;
  of_.channel->methods().visit([&](const bridge::MethodCounts::Entry& counts) {
    MethodMetrics method{.name = {},
                         .id = counts.selector,
                         .answered = bridge::MethodCounts::load(counts.answered),
                         .faults = bridge::MethodCounts::load(counts.faults),
                         .latency = {}};
    const auto known = std::ranges::find(behaviour->methods, counts.selector, &program::Method::id);
    if (method.answered == 0 || known == behaviour->methods.end()) return;
    method.name = known->name;
    method.latency = telemetry::summarize(counts.latency);
    metrics.methods.push_back(std::move(method));
  });
}

void MetricsSource::add_latencies(KernelMetrics& metrics) const {
  const bridge::Latencies* const latencies = of_.channel->latencies();
  if (latencies == nullptr) return;
  const auto summary = [&](const Histogram bridge::Latencies::*of) {
    return telemetry::summarize(latencies->*of);
  };
  metrics.latency = summary(&bridge::Latencies::total);
  metrics.host_queue = summary(&bridge::Latencies::host_queue);
  metrics.device = summary(&bridge::Latencies::device);
  metrics.to_device = summary(&bridge::Latencies::to_device);
  metrics.executor = summary(&bridge::Latencies::executor);
  metrics.to_host = summary(&bridge::Latencies::to_host);
  metrics.delivery = summary(&bridge::Latencies::delivery);
}

std::vector<CallInFlight> MetricsSource::calls(std::size_t count) const {
  const std::uint64_t now_ns = of_.clock.coarse_ns();
  std::vector<CallInFlight> calls;
  for (const bridge::Channel::InFlight& call : of_.channel->longest_in_flight(count))
    calls.push_back(
        {call.id, now_ns > call.accepted_ns ? now_ns - call.accepted_ns : std::uint64_t{0}});
  return calls;
}

void MetricsSource::copy_latency(Histogram& latency) const {
  if (const bridge::Latencies* const latencies = of_.channel->latencies(); latencies != nullptr)
    latency.assign(latencies->total);
}

KernelActivity MetricsSource::activity(KernelStatus status) const {
  KernelActivity activity;
  activity.status = status;
  activity.version = of_.program.current().version;
  const std::lock_guard lock(mutex_);
  activity.events = of_.channel->counters().sum();
  activity.unanswered = of_.channel->unanswered();
  activity.in_flight = of_.channel->in_flight();
  KernelMetrics metrics;
  if (last_)
    metrics = *last_;
  else
    add_executor(metrics);
  telemetry::subtract(metrics, before_);
  activity.slices = metrics.slices;
  activity.parks = metrics.parks;
  activity.wake_ups = metrics.wake_ups;
  activity.copies = metrics.copies;
  activity.copied_bytes = metrics.copied_bytes;
  return activity;
}

void MetricsSource::freeze() noexcept {
  const std::lock_guard lock(mutex_);
  KernelMetrics metrics;
  (void)with_memory([&] { metrics = all(); });  // without memory there are no last ones
  metrics.in_flight = metrics.unreceived = 0;
  metrics.input_ring_position = metrics.input_ring_bytes = metrics.input_ring_used_bytes = 0;
  metrics.output_ring_position = metrics.output_ring_bytes = metrics.output_ring_used_bytes = 0;
  last_ = std::move(metrics);
}

}  // namespace ringkernel::detail
