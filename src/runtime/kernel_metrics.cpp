// What is counted of a ring kernel.
#include <algorithm>
#include <utility>

#include "ring/inspect.hpp"
#include "runtime/kernel_state.hpp"
#include "telemetry/latency.hpp"
#include "telemetry/metrics.hpp"

namespace ringkernel::detail {

KernelMetrics KernelState::metrics() const {
  const KernelStatus current = status();
  const std::lock_guard lock(mutex_);
  KernelMetrics metrics = last_metrics_ ? *last_metrics_ : all_metrics();
  metrics.status = current;
  telemetry::subtract(metrics, metrics_before_);
  return metrics;
}

/// Those that have been called.
void KernelState::add_methods(KernelMetrics& metrics) const {
  if (behaviour_ == nullptr) return;
  channel_->methods().visit([&](const bridge::MethodCounts::Entry& counts) {
    MethodMetrics method{.name = {},
                         .id = counts.selector,
                         .answered = bridge::MethodCounts::load(counts.answered),
                         .faults = bridge::MethodCounts::load(counts.faults),
                         .latency = {}};
    const auto known =
        std::ranges::find(behaviour_->methods, counts.selector, &program::Method::id);
    if (method.answered == 0 || known == behaviour_->methods.end()) return;
    method.name = known->name;
    method.latency = telemetry::summarize(counts.latency);
    metrics.methods.push_back(std::move(method));
  });
}

void KernelState::begin_counting() {
  metrics_before_ = all_metrics();
  metrics_before_.parks = metrics_before_.slices;  // one that runs is not counted when it ends
}

void KernelState::add_executor(KernelMetrics& metrics) const {
  const bridge::Executor& executor = program_->executor();
  metrics.slices = executor.slices_launched();
  metrics.parks = executor.slices_parked(kernel_);
  metrics.wake_ups = executor.wake_ups(kernel_);
  const bridge::CopyCounts counts = program_->copies(kernel_);
  metrics.copies = counts.copies;
  metrics.copied_bytes = counts.bytes;
}

KernelMetrics KernelState::all_metrics() const {
  KernelMetrics metrics;
  metrics.id = id_;
  metrics.program = options_.program;
  if (behaviour_ != nullptr) metrics.behaviour = behaviour_->name;
  metrics.program_version = version_;
  if (channel_ == nullptr) return metrics;
  const rk_telemetry_block device = program_->executor().telemetry(kernel_);
  const bridge::ChannelCounters host = channel_->counters();
#define RK_DEVICE_COUNTER(name, help) metrics.name = device.name;
#define RK_SENDER_COUNTER(name, help) metrics.name = host.name;
#define RK_ENDING_COUNTER(name, help) metrics.name = host.name;
#include "ringkernel/figures.def"
  metrics.failed = host.failed;
  add_executor(metrics);
  metrics.queued = channel_->queued();
  metrics.in_flight = channel_->in_flight();
  metrics.in_flight_max = channel_->in_flight_max();
  metrics.unreceived = channel_->unreceived();
  metrics.input_ring_bytes = rings_.input_capacity;
  metrics.output_ring_bytes = rings_.output_capacity;
  std::byte* const arena = runtime_->arena().data();
  const RingUse input = use_of(RingView::at(arena, rings_.input_offset, rings_.input_capacity));
  metrics.input_ring_position = input.position;
  metrics.input_ring_used_bytes = input.used_bytes;
  const RingUse output = use_of(RingView::at(arena, rings_.output_offset, rings_.output_capacity));
  metrics.output_ring_position = output.position;
  metrics.output_ring_used_bytes = output.used_bytes;
  add_methods(metrics);
  if (const std::vector<CallInFlight> oldest = in_flight(1); !oldest.empty())
    metrics.oldest_call_age_ns = oldest.front().age_ns;
  const bridge::Latencies* const latencies = channel_->latencies();
  if (latencies == nullptr) return metrics;
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
  return metrics;
}

std::vector<CallInFlight> KernelState::in_flight(std::size_t count) const {
  const std::uint64_t now_ns = runtime_->clock().coarse_ns();
  std::vector<CallInFlight> calls;
  for (const bridge::Channel::InFlight& call : channel_->longest_in_flight(count))
    calls.push_back(
        {call.id, now_ns > call.accepted_ns ? now_ns - call.accepted_ns : std::uint64_t{0}});
  return calls;
}

std::vector<CallInFlight> KernelState::calls(std::size_t count) const {
  const std::lock_guard lock(mutex_);
  if (channel_ == nullptr) return {};
  return in_flight(count);
}

void KernelState::copy_latency(Histogram& latency) const {
  const std::lock_guard lock(mutex_);
  if (channel_ == nullptr || channel_->latencies() == nullptr) return;
  latency.assign(channel_->latencies()->total);
}

KernelState::Activity KernelState::activity() const {
  Activity activity;
  activity.status = status();
  const std::lock_guard lock(mutex_);
  activity.version = version_;
  if (channel_ == nullptr) return activity;
  activity.events = channel_->counters().sum();
  activity.unanswered = channel_->unanswered();
  activity.in_flight = channel_->in_flight();
  KernelMetrics metrics;
  if (last_metrics_)
    metrics = *last_metrics_;
  else
    add_executor(metrics);
  telemetry::subtract(metrics, metrics_before_);
  activity.slices = metrics.slices;
  activity.parks = metrics.parks;
  activity.wake_ups = metrics.wake_ups;
  activity.copies = metrics.copies;
  activity.copied_bytes = metrics.copied_bytes;
  return activity;
}

}  // namespace ringkernel::detail
