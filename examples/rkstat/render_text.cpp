#include <fmt/format.h>

#include <algorithm>

#include "reading.hpp"

namespace rkstat {
namespace {

namespace rk = ringkernel;

constexpr std::size_t id_width_max = 24;

double seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Binary multiples, three digits.
std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  const int decimals = unit == 0 || value >= 100 ? 0 : 1;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string rate_text(std::optional<double> rate) {
  return rate ? fmt::format("{:.0f}", *rate) : "-";
}

/// Cut off in the middle where it is long: ends differ more often than middles.
std::string short_id(const std::string& id, std::size_t width) {
  if (id.size() <= width) return id;
  const std::size_t tail = (width - 2) / 2;
  return id.substr(0, width - 2 - tail) + ".." + id.substr(id.size() - tail);
}

void append_kernels(std::string& text, const Reading& reading, const Reading* before) {
  std::size_t width = 6;
  for (const KernelReading& kernel : reading.kernels)
    width = std::max(width, std::min(kernel.metrics.id.size(), id_width_max));
  text += fmt::format("  {:<{}}  {:<8} {:<11} {:>9} {:>12} {:>8} {:>9} {:>7} {:>6} {:>6}\n",
                      "KERNEL", width, "PROGRAM", "STATE", "MSG/S", "REPLIED", "FAILED",
                      "IN FLIGHT", "QUEUED", "IN", "OUT");
  for (const KernelReading& kernel : reading.kernels) {
    const rk::KernelMetrics& of = kernel.metrics;
    text += fmt::format("  {:<{}}  {:<8} {:<11} {:>9} {:>12} {:>8} {:>9} {:>7} {:>6} {:>6}\n",
                        short_id(of.id, width), width, of.program, rk::name(of.status),
                        rate_text(messages_per_second(kernel, before)), of.replied, of.failed,
                        of.in_flight, of.queued,
                        percent_text(of.input_ring_used_bytes, of.input_ring_bytes),
                        percent_text(of.output_ring_used_bytes, of.output_ring_bytes));
  }
}

void append(std::string& text, const Reading& reading, const Reading* before) {
  text += fmt::format("runtime {}  {}", reading.name, name(reading.health));
  if (reading.health == Health::unreadable || reading.health == Health::other_version) {
    text += fmt::format(": {}\n", reading.problem);
    return;
  }
  text += fmt::format(", last sign of life {:.1f} s ago\n", seconds(reading.heartbeat_age));
  if (!reading.problem.empty()) text += fmt::format("  {}\n", reading.problem);
  if (reading.runtime) {
    const rk::RuntimeMetrics& of = reading.runtime->metrics;
    text += fmt::format("  {}, {}, {}\n", of.device, of.backend, of.transfer);
    text +=
        fmt::format("  {} kernels, {} executors, {} slices; arena {}, {} free; {} tensors, {}\n",
                    of.kernels, of.executors, of.slices, bytes_text(of.arena_bytes),
                    bytes_text(of.arena_free_bytes), of.tensors, bytes_text(of.tensor_bytes));
  }
  if (!reading.kernels.empty()) append_kernels(text, reading, before);
  if (reading.kernels_missing != 0)
    text +=
        fmt::format("  and {} kernels that found no place in the file\n", reading.kernels_missing);
}

}  // namespace

std::string render_text(const std::vector<Reading>& readings, const std::vector<Reading>& before) {
  if (readings.empty()) return "no runtime\n";
  std::string text;
  for (const Reading& reading : readings) {
    if (!text.empty()) text += '\n';
    append(text, reading, earlier(before, reading));
  }
  return text;
}

}  // namespace rkstat
