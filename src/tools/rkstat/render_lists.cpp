#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "render.hpp"
#include "text.hpp"

namespace rkstat {
namespace {

namespace rk = ringkernel;
using namespace rk::telemetry;

constexpr std::size_t id_width = 24;
constexpr std::size_t runtime_width = 10;

/// Something of a reading that is shown as one line.
template <class Item>
struct Line {
  const Reading* reading;
  const Item* item;
};

/// What is queued is mostly in flight as well.
std::uint64_t waiting(const rk::KernelMetrics& metrics) {
  return std::max(metrics.queued, metrics.in_flight);
}

/// Of each kernel whose answers nobody receives, a line.
std::string render_unreceived(const Readings& readings) {
  std::string text;
  for (const Reading& reading : readings)
    for (const KernelReading& kernel : reading.kernels)
      if (kernel.metrics.unreceived != 0)
        text += fmt::format("{} {}{}\n", reading.label, kernel.metrics.id,
                            unreceived_text(kernel.metrics));
  return text;
}

}  // namespace

std::uint64_t without_ages(const Reading& reading, const KernelReading& kernel) {
  const rk::KernelMetrics& of = kernel.metrics;
  const bool takes_times = !reading.runtime || reading.runtime->metrics.latency_sampling != 0;
  if (takes_times || of.in_flight <= of.unreceived) return 0;
  return of.in_flight - of.unreceived;
}

std::string unreceived_text(const rk::KernelMetrics& kernel) {
  if (kernel.unreceived == 0) return {};
  return fmt::format(", {} answered wait for a receive{}", kernel.unreceived,
                     kernel.unreceived >= kernel.in_flight_max ? ": nobody receives" : "");
}

std::string render_errors(const Readings& readings) {
  std::vector<Line<rk::ErrorRecord>> lines;
  for (const Reading& reading : readings)
    for (const rk::ErrorRecord& error : reading.errors) lines.push_back({&reading, &error});
  if (lines.empty()) return "no errors\n";
  std::ranges::sort(lines, std::greater(), [](const auto& line) { return line.item->last_ns; });
  std::string text = fmt::format("{:<{}} {:<{}} {:>10} {:>9} {:>9}  {}\n", "RUNTIME", runtime_width,
                                 "KERNEL", id_width, "COUNT", "FIRST", "LAST", "ERROR");
  for (const auto& [reading, error] : lines) {
    const std::uint64_t now_ns = moment_ns(*reading);
    text += fmt::format("{:<{}} {:<{}} {:>10} {:>9} {:>9}  {}\n",
                        short_id(reading->label, runtime_width), runtime_width,
                        error->kernel.empty() ? "-" : short_id(error->kernel, id_width), id_width,
                        error->count, age_text(now_ns, error->first_ns),
                        age_text(now_ns, error->last_ns), error->text);
  }
  return text;
}

std::string render_backlog(const Readings& readings, const Readings& before) {
  std::vector<Line<KernelReading>> lines;
  for (const Reading& reading : readings)
    for (const KernelReading& kernel : reading.kernels)
      if (waiting(kernel.metrics) != 0) lines.push_back({&reading, &kernel});
  if (lines.empty()) return "nothing waits\n";
  std::ranges::stable_sort(lines, std::greater(),
                           [](const auto& line) { return waiting(line.item->metrics); });
  std::string text =
      fmt::format("{:<{}} {:<{}} {:>7} {:>9} {:>6} {:>6} {:>9} {:>9}\n", "RUNTIME", runtime_width,
                  "KERNEL", id_width, "QUEUED", "IN FLIGHT", "IN", "OUT", "OLDEST", "MSG/S");
  for (const auto& [reading, kernel] : lines) {
    const rk::KernelMetrics& of = kernel->metrics;
    text += fmt::format("{:<{}} {:<{}} {:>7} {:>9} {:>6} {:>6} {:>9} {:>9}\n",
                        short_id(reading->label, runtime_width), runtime_width,
                        short_id(of.id, id_width), id_width, of.queued, of.in_flight,
                        percent_text(of.input_ring_used_bytes, of.input_ring_bytes),
                        percent_text(of.output_ring_used_bytes, of.output_ring_bytes),
                        of.oldest_call_age_ns == 0 ? "-" : duration_text(of.oldest_call_age_ns),
                        rate_text(messages_per_second(*kernel, earlier(before, *reading))));
  }
  return text + render_unreceived(readings);
}

std::string render_calls(const Readings& readings) {
  struct Call {
    const Reading* reading;
    const KernelReading* kernel;
    rk::CallInFlight call;
  };
  std::vector<Call> calls;
  std::uint64_t unnamed = 0;
  std::uint64_t ageless = 0;
  for (const Reading& reading : readings)
    for (const KernelReading& kernel : reading.kernels) {
      for (const rk::CallInFlight& call : kernel.calls) calls.push_back({&reading, &kernel, call});
      const rk::KernelMetrics& of = kernel.metrics;
      if (kernel.calls.size() == calls_max && of.in_flight > calls_max + of.unreceived)
        unnamed += of.in_flight - of.unreceived - calls_max;
      ageless += without_ages(reading, kernel);
    }
  std::string others = ageless == 0 ? "" : fmt::format("{} in flight, {}\n", ageless, no_ages_text);
  others += render_unreceived(readings);
  if (calls.empty()) return others.empty() ? "no calls in flight\n" : others;
  std::ranges::stable_sort(calls, std::greater(),
                           [](const Call& call) { return call.call.age_ns; });
  std::string text = fmt::format("{:<{}} {:<{}} {:>18} {:>9}\n", "RUNTIME", runtime_width, "KERNEL",
                                 id_width, "MESSAGE", "AGE");
  for (const Call& call : calls)
    text +=
        fmt::format("{:<{}} {:<{}} {:>18} {:>9}\n", short_id(call.reading->label, runtime_width),
                    runtime_width, short_id(call.kernel->metrics.id, id_width), id_width,
                    call.call.message, duration_text(call.call.age_ns));
  if (unnamed != 0) text += fmt::format("and up to {} younger ones\n", unnamed);
  return text + others;
}

}  // namespace rkstat
