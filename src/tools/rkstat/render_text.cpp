#include <fmt/format.h>

#include <algorithm>

#include "render.hpp"
#include "text.hpp"

namespace rkstat {
namespace {

namespace rk = ringkernel;
using namespace rk::telemetry;

constexpr std::size_t id_width_max = 24;
/// A crash is looked into with the last state of who crashed; those before are a line each.
constexpr std::size_t dead_shown_max = 3;

/// A percentile, of which zero means that nothing was measured.
std::string p_text(std::uint64_t ns) { return ns == 0 ? "-" : duration_text(ns); }

void append_kernels(std::string& text, const Reading& reading, const Reading* before) {
  std::size_t width = 6;
  std::size_t program_width = 8;
  for (const KernelReading& kernel : reading.kernels) {
    width = std::max(width, std::min(width_of(kernel.metrics.id), id_width_max));
    program_width =
        std::max(program_width, std::min(width_of(program_text(kernel.metrics)), id_width_max));
  }
  constexpr const char* line =
      "  {:<{}}  {:<{}} {:<11} {:>9} {:>8} {:>8} {:>12} {:>8} {:>9} {:>7} {:>6} {:>6}\n";
  text += fmt::format(line, "KERNEL", width, "PROGRAM", program_width, "STATE", "MSG/S", "P50",
                      "P99", "REPLIED", "FAILED", "IN FLIGHT", "QUEUED", "IN", "OUT");
  for (const KernelReading& kernel : reading.kernels) {
    const rk::KernelMetrics& of = kernel.metrics;
    const rk::LatencySummary latency = recent_latency(kernel, before);
    text += fmt::format(
        line, short_id(of.id, width), width, short_id(program_text(of), program_width),
        program_width, rk::name(of.status), rate_text(messages_per_second(kernel, before)),
        p_text(latency.p50_ns), p_text(latency.p99_ns), of.replied, of.failed, of.in_flight,
        of.queued, percent_text(of.input_ring_used_bytes, of.input_ring_bytes),
        percent_text(of.output_ring_used_bytes, of.output_ring_bytes));
  }
}

std::string heading(const Reading& reading) {
  const std::string text = fmt::format("runtime {}  {}", titled(reading), name(reading.health));
  if (reading.health == Health::unreadable || reading.health == Health::other_version)
    return fmt::format("{}: {}\n", text, reading.problem);
  const auto age_ns = static_cast<std::uint64_t>(reading.heartbeat_age.count());
  return fmt::format("{}, last sign of life {} ago\n", text, duration_text(age_ns));
}

void append_state(std::string& text, const Reading& reading, const Reading* before) {
  if (!reading.problem.empty()) text += fmt::format("  {}\n", reading.problem);
  if (reading.runtime) {
    const rk::RuntimeMetrics& of = reading.runtime->metrics;
    text += fmt::format("  {}, {}, {}\n", of.device, of.backend, of.transfer);
    text += fmt::format("  {}, {}, {}; {}, {}\n", count_text(of.kernels, "kernel"),
                        count_text(of.executors, "executor"), count_text(of.slices, "slice"),
                        count_text(of.tensors, "tensor"), bytes_text(of.tensor_bytes));
    text += fmt::format("  arena {}, {} free, {} of it in one piece\n", bytes_text(of.arena_bytes),
                        bytes_text(of.arena_free_bytes), bytes_text(of.arena_largest_free_bytes));
  }
  if (!reading.kernels.empty()) append_kernels(text, reading, before);
  if (reading.runtime && reading.runtime->metrics.errors != 0)
    text += fmt::format("  {} of {}: rkstat errors\n",
                        count_text(reading.runtime->metrics.errors, "error"),
                        count_text(reading.errors.size(), "kind"));
  if (reading.kernels_missing != 0)
    text += fmt::format("  and {} without a place in the file\n",
                        count_text(reading.kernels_missing, "kernel"));
}

}  // namespace

std::string program_text(const rk::KernelMetrics& kernel) {
  return kernel.program_version > 1 ? fmt::format("{} v{}", kernel.program, kernel.program_version)
                                    : kernel.program;
}

std::string titled(const Reading& reading) {
  if (!reading.runtime || reading.runtime->metrics.name.empty()) return reading.name;
  return fmt::format("{} ({})", reading.runtime->metrics.name, reading.name);
}

std::string render_text(const Readings& readings, const Readings& before) {
  std::string text;
  std::size_t dead = 0;
  bool was_short = true;
  for (const Reading& reading : readings) {
    const bool is_short = reading.health > Health::dead ||
                          (reading.health == Health::dead && ++dead > dead_shown_max);
    if (!text.empty() && !(is_short && was_short)) text += '\n';
    was_short = is_short;
    text += heading(reading);
    if (!is_short) append_state(text, reading, earlier(before, reading));
  }
  return text;
}

}  // namespace rkstat
