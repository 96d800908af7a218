#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "render.hpp"
#include "text.hpp"

namespace rkstat {
namespace {

namespace rk = ringkernel;
using namespace rk::telemetry;

void append_latency(std::string& text, std::string_view of, const rk::LatencySummary& latency) {
  text += fmt::format("  {:<15} {:>8}", of, latency.count);
  if (latency.count == 0) {
    text += '\n';
    return;
  }
  const std::uint64_t mean_ns = latency.sum_ns / latency.count;
  for (const std::uint64_t ns :
       {mean_ns, latency.p50_ns, latency.p90_ns, latency.p99_ns, latency.p999_ns, latency.max_ns})
    text += fmt::format(" {:>8}", duration_text(ns));
  text += '\n';
}

void append_latencies(std::string& text, const KernelReading& kernel, const Reading* before) {
  const rk::KernelMetrics& of = kernel.metrics;
  text += fmt::format("\n  {:<15} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "LATENCY",
                      "SAMPLES", "MEAN", "P50", "P90", "P99", "P99.9", "MAX");
  if (before != nullptr) append_latency(text, "just now", recent_latency(kernel, before));
  append_latency(text, "since the start", of.latency);
  append_latency(text, "  in host queue", of.host_queue);
  append_latency(text, "  at the device", of.device);
  if (is_known(of, &rk::KernelMetrics::executor)) {
    append_latency(text, "    to it", of.to_device);
    append_latency(text, "    executor", of.executor);
    append_latency(text, "    from it", of.to_host);
  }
  append_latency(text, "  on delivery", of.delivery);
}

/// Their latencies end where the reply is found.
void append_methods(std::string& text, const rk::KernelMetrics& of) {
  if (of.methods.empty()) return;
  constexpr std::size_t name_width = 24;
  text += fmt::format("\n  {:<{}} {:>10} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "METHOD", name_width,
                      "ANSWERED", "FAULTS", "SAMPLES", "P50", "P99", "MAX");
  for (const rk::MethodMetrics& method : of.methods) {
    const rk::LatencySummary& latency = method.latency;
    text += fmt::format("  {:<{}} {:>10} {:>8} {:>8}", short_id(method.name, name_width),
                        name_width, method.answered, method.faults, latency.count);
    for (const std::uint64_t ns : {latency.p50_ns, latency.p99_ns, latency.max_ns})
      text += fmt::format(" {:>8}", latency.count == 0 ? "-" : duration_text(ns));
    text += '\n';
  }
}

void append_errors(std::string& text, const Reading& reading, const KernelReading& kernel) {
  std::vector<const rk::ErrorRecord*> errors;
  for (const rk::ErrorRecord& error : reading.errors)
    if (error.kernel == kernel.metrics.id) errors.push_back(&error);
  if (errors.empty()) return;
  std::ranges::sort(errors, std::greater(), &rk::ErrorRecord::last_ns);
  text += "\n  ERRORS\n";
  for (const rk::ErrorRecord* const error : errors)
    text += fmt::format("  {:>8} x  last {} ago\n            {}\n", error->count,
                        age_text(moment_ns(reading), error->last_ns), error->text);
}

void append(std::string& text, const Reading& reading, const KernelReading& kernel,
            const Reading* before) {
  const rk::KernelMetrics& of = kernel.metrics;
  text +=
      fmt::format("kernel {}  of runtime {} ({}), program {} version {}{}, {}\n", of.id,
                  titled(reading), name(reading.health), of.program, of.program_version,
                  of.behaviour.empty() ? "" : ", behaviour " + of.behaviour, rk::name(of.status));
  text += fmt::format("  {} messages/s; accepted {}, replied {}, failed {}\n",
                      rate_text(messages_per_second(kernel, before)), of.accepted, of.replied,
                      of.failed);
  text += fmt::format("  dropped {}, expired {}, cancelled {}, late replies {}\n", of.dropped,
                      of.expired, of.cancelled, of.late);
  text += fmt::format("  device: in {} ({}), out {} ({}), faults {}, no room for a reply {}\n",
                      of.messages_in, bytes_text(of.bytes_in), of.messages_out,
                      bytes_text(of.bytes_out), of.faults, of.backpressure_count);
  text += fmt::format("  slices of its program {}, ended {}, started for this kernel {}\n",
                      of.slices, of.parks, of.wake_ups);
  if (of.copies != 0)
    text += fmt::format("  copies between host and device {} ({})\n", of.copies,
                        bytes_text(of.copied_bytes));
  text += fmt::format("  rings: input {} of {}, output {} of {}; queued on the host {}\n",
                      bytes_text(of.input_ring_used_bytes), bytes_text(of.input_ring_bytes),
                      bytes_text(of.output_ring_used_bytes), bytes_text(of.output_ring_bytes),
                      of.queued);
  text += fmt::format("  published so far: input {}, output {}\n",
                      bytes_text(of.input_ring_position), bytes_text(of.output_ring_position));
  text +=
      fmt::format("  in flight {} of {}{}", of.in_flight, of.in_flight_max, unreceived_text(of));
  if (of.oldest_call_age_ns != 0)
    text += fmt::format(", the oldest accepted {} ago", duration_text(of.oldest_call_age_ns));
  if (const std::uint64_t count = without_ages(reading, kernel); count != 0)
    text += fmt::format(", {} {}", count, no_ages_text);
  text += '\n';
  append_latencies(text, kernel, before);
  append_methods(text, of);
  append_errors(text, reading, kernel);
}

}  // namespace

std::string render_kernel(const Readings& readings, const Readings& before, std::string_view id) {
  std::string text;
  for (const Reading& reading : readings)
    for (const KernelReading& kernel : reading.kernels) {
      if (kernel.metrics.id != id) continue;
      if (!text.empty()) text += '\n';
      append(text, reading, kernel, earlier(before, reading));
    }
  return text;
}

}  // namespace rkstat
