#include "telemetry/reading.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <system_error>

#include "telemetry/counters_file.hpp"
#include "telemetry/counters_writer.hpp"
#include "telemetry/latency.hpp"
#include "telemetry/process.hpp"

namespace ringkernel::telemetry {

namespace {

/// The same ring kernel in an earlier reading of its runtime.
const KernelReading* earlier(const KernelReading& now, const Reading* before) {
  if (before == nullptr) return nullptr;
  const auto found = std::ranges::find(before->kernels, now.number, &KernelReading::number);
  return found == before->kernels.end() ? nullptr : &*found;
}

/// Runtimes of one name, those of a service that was started anew for instance.
void tell_apart(std::vector<Reading>& readings) {
  std::map<std::string, int> named;
  for (const Reading& reading : readings) ++named[reading.label];
  for (Reading& reading : readings)
    if (named[reading.label] > 1) reading.label += " " + reading.name;
}

}  // namespace

std::string name_of(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  return path.parent_path().filename().string() + "/" +
         stem.substr(std::string_view(file_prefix).size());
}

Reading read(const std::filesystem::path& path) {
  Reading reading;
  reading.path = path;
  reading.name = reading.label = name_of(path);
  const auto reader = CountersReader::open(path);
  if (!reader) {
    const bool other = reader.error() == Errc::protocol_mismatch;
    reading.health = other ? Health::other_version : Health::unreadable;
    reading.problem = reader.error().detail;
    const auto writer = writer_of(path);
    if (other && writer && !is_running(writer->process)) reading.problem += "; its process is gone";
    return reading;
  }
  const std::uint64_t now_ns = monotonic_ns();
  const WriterState writer = reader->writer();
  reading.heartbeat_ns = writer.heartbeat_ns;
  reading.heartbeat_age = std::chrono::nanoseconds(now_ns - std::min(now_ns, reading.heartbeat_ns));
  reading.created = reader->created();
  reading.kernels_missing = reader->kernels_missing();
  reading.runtime = reader->runtime();
  if (reading.runtime && !reading.runtime->metrics.name.empty())
    reading.label = reading.runtime->metrics.name;
  for (PublishedKernel& kernel : reader->kernels()) {
    std::shared_ptr<const Histogram> latency = reader->latency(kernel);
    reading.kernels.push_back({std::move(kernel), std::move(latency), reading.heartbeat_ns});
  }
  reading.errors = reader->errors();
  std::ranges::sort(reading.kernels, {},
                    [](const KernelReading& kernel) { return kernel.metrics.id; });
  if (!is_running(writer.process)) {
    reading.health = Health::dead;
    reading.problem = reading.runtime ? "the process is gone; these are its last figures"
                                      : "the process is gone, and had published nothing";
  } else if (writer.is_silent(now_ns)) {
    reading.health = Health::silent;
    reading.problem = "the process has published nothing for long";
  } else {
    reading.health = Health::running;
  }
  return reading;
}

std::vector<Reading> read_all(const Scope& scope) {
  std::vector<Reading> readings;
  for (const std::filesystem::path& path : counters_files(scope)) {
    Reading reading = read(path);
    // One that ended between the listing and the look has removed its file.
    std::error_code error;
    const bool is_there = std::filesystem::exists(path, error) || error;
    if (reading.health == Health::unreadable && !is_there) continue;
    readings.push_back(std::move(reading));
  }
  tell_apart(readings);
  std::ranges::stable_sort(readings, [](const Reading& a, const Reading& b) {
    if (a.health != b.health) return a.health < b.health;
    return a.health == Health::dead && a.heartbeat_ns > b.heartbeat_ns;
  });
  return readings;
}

const Reading* earlier(const std::vector<Reading>& readings, const Reading& now) {
  if (now.health != Health::running) return nullptr;
  const auto found = std::ranges::find_if(readings, [&](const Reading& reading) {
    return reading.path == now.path && reading.created == now.created;
  });
  return found == readings.end() ? nullptr : &*found;
}

bool is_known(const KernelMetrics& kernel, LatencySummary KernelMetrics::*hop) {
  constexpr std::array parts = {&KernelMetrics::to_device, &KernelMetrics::executor,
                                &KernelMetrics::to_host};
  return (kernel.*hop).count != 0 || std::ranges::find(parts, hop) == parts.end();
}

std::optional<double> messages_per_second(const KernelReading& now, const Reading* before) {
  const KernelReading* const found = earlier(now, before);
  if (found == nullptr) return std::nullopt;
  const std::uint64_t messages = now.metrics.messages_out - found->metrics.messages_out;
  // One that rests is not published: nothing had happened yet when the last round of publications
  // began, with the runtime's.
  const std::uint64_t round_ns = before->runtime ? before->runtime->published_ns : 0;
  const std::uint64_t since_ns = std::max(found->published_ns, round_ns);
  if (now.published_ns <= since_ns)  // it rests, or nobody has looked since
    return now.heartbeat_ns != found->heartbeat_ns ? std::optional(0.0) : std::nullopt;
  return static_cast<double>(messages) * 1e9 / static_cast<double>(now.published_ns - since_ns);
}

LatencySummary recent_latency(const KernelReading& now, const Reading* before) {
  if (now.latency == nullptr) return {};
  const KernelReading* const found = earlier(now, before);
  if (found == nullptr || found->latency == nullptr) return summarize(*now.latency);
  return summarize(*now.latency, *found->latency);
}

std::uint64_t moment_ns(const Reading& reading) {
  const auto age_ns = static_cast<std::uint64_t>(reading.heartbeat_age.count());
  return monotonic_ns() - (reading.health == Health::running ? 0 : age_ns);
}

std::string_view name(Health health) {
  switch (health) {
    case Health::running: return "running";
    case Health::silent: return "silent";
    case Health::dead: return "dead";
    case Health::unreadable: return "unreadable";
    case Health::other_version: return "other version";
  }
  return "unknown";
}

bool is_healthy(const Reading& reading) {
  return reading.health == Health::running &&
         std::ranges::none_of(reading.kernels, [](const KernelReading& kernel) {
           return kernel.metrics.status == KernelStatus::failed;
         });
}

int exit_code(const std::vector<Reading>& readings) {
  if (readings.empty()) return 2;
  const auto is_other = [](const Reading& reading) {
    return reading.health == Health::other_version;
  };
  if (std::ranges::any_of(readings, is_other)) return 3;
  return std::ranges::all_of(readings, is_healthy) ? 0 : 1;
}

}  // namespace ringkernel::telemetry
