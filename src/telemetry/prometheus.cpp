#include "telemetry/prometheus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "telemetry/utf8.hpp"

namespace ringkernel::telemetry {
namespace {

/// A label's value as the format wants it, which is UTF-8.
std::string escaped(std::string_view value) {
  std::string text;
  while (!value.empty()) {
    const std::size_t bytes = first_character(value).bytes;
    if (value.front() == '\\' || value.front() == '"') text += '\\';
    if (value.front() == '\n')
      text += "\\n";
    else if (bytes == 0)
      text += '?';
    else
      text += value.substr(0, bytes);
    value.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return text;
}

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

/// Of the buckets of a latency: from 100 ns to 10 s.
constexpr std::uint64_t bounds_ns[] = {
    100,         200,           500,           1'000,         2'000,
    5'000,       10'000,        20'000,        50'000,        100'000,
    200'000,     500'000,       1'000'000,     2'000'000,     5'000'000,
    10'000'000,  20'000'000,    50'000'000,    100'000'000,   200'000'000,
    500'000'000, 1'000'000'000, 2'000'000'000, 5'000'000'000, 10'000'000'000};

enum class MetricKind : std::uint8_t { counter, gauge, summary, histogram };

std::string_view type_name(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter: return "counter";
    case MetricKind::gauge: return "gauge";
    case MetricKind::summary: return "summary";
    case MetricKind::histogram: break;
  }
  return "histogram";
}

/// One metric: its head, then a line for each sample that `samples` gives.
class Family {
 public:
  Family(std::string& text, std::string_view name, MetricKind kind, std::string_view help)
      : text_(text),
        name_(fmt::format("ringkernel_{}{}", name, kind == MetricKind::counter ? "_total" : "")) {
    text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name_, help, type_name(kind));
  }

  void add(const std::string& labels, double value) {
    text_ += fmt::format("{}{{{}}} {}\n", name_, labels, value);
  }
  void add(const std::string& labels, std::uint64_t value) {
    text_ += fmt::format("{}{{{}}} {}\n", name_, labels, value);
  }
  /// Of a summary.
  void add(const std::string& labels, const LatencySummary& latency) {
    if (latency.count != 0) {
      add(labels + ",quantile=\"0.5\"", seconds(latency.p50_ns));
      add(labels + ",quantile=\"0.9\"", seconds(latency.p90_ns));
      add(labels + ",quantile=\"0.99\"", seconds(latency.p99_ns));
      add(labels + ",quantile=\"0.999\"", seconds(latency.p999_ns));
    }
    add_total(labels, latency.count, latency.sum_ns);
  }
  /// Of a histogram: a duration counts where its bucket ends, less than a hundredth above it.
  void add(const std::string& labels, const Histogram& durations) {
    std::uint64_t counts[std::size(bounds_ns) + 1] = {};
    durations.visit([&](std::uint32_t bucket, std::uint64_t count) {
      const auto bound = std::ranges::lower_bound(bounds_ns, Histogram::longest_of(bucket));
      counts[bound - std::begin(bounds_ns)] += count;
    });
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < std::size(bounds_ns); ++i) {
      total += counts[i];
      add_bucket(labels, fmt::format("{}", seconds(bounds_ns[i])), total);
    }
    total += counts[std::size(bounds_ns)];
    add_bucket(labels, "+Inf", total);
    add_total(labels, total, durations.sum_ns());
  }

 private:
  void add_bucket(const std::string& labels, std::string_view bound, std::uint64_t count) {
    text_ += fmt::format("{}_bucket{{{},le=\"{}\"}} {}\n", name_, labels, bound, count);
  }
  void add_total(const std::string& labels, std::uint64_t count, std::uint64_t sum_ns) {
    text_ += fmt::format("{}_sum{{{}}} {}\n", name_, labels, seconds(sum_ns));
    text_ += fmt::format("{}_count{{{}}} {}\n", name_, labels, count);
  }

  std::string& text_;
  std::string name_;
};

std::string labels_of(const Reading& reading) {
  return fmt::format("runtime=\"{}\"", escaped(reading.label));
}

std::string labels_of(const Reading& reading, const KernelMetrics& kernel) {
  return fmt::format("{},kernel=\"{}\",program=\"{}\"", labels_of(reading), escaped(kernel.id),
                     escaped(kernel.program));
}

/// Times are in seconds there.
void add_kernel_metric(std::string& text, std::string_view name, MetricKind kind,
                       std::string_view help, const std::vector<Reading>& readings,
                       std::uint64_t KernelMetrics::*metric) {
  constexpr std::string_view ns = "_ns";
  const bool is_time = name.ends_with(ns);
  if (is_time) name.remove_suffix(ns.size());
  Family family(text, fmt::format("kernel_{}{}", name, is_time ? "_seconds" : ""), kind, help);
  for (const Reading& reading : readings)
    for (const KernelReading& kernel : reading.kernels) {
      const std::string labels = labels_of(reading, kernel.metrics);
      if (is_time)
        family.add(labels, seconds(kernel.metrics.*metric));
      else
        family.add(labels, kernel.metrics.*metric);
    }
}

/// A histogram, of which percentiles over any time and of many kernels can be had.
void add_latency(std::string& text, std::string_view help, const std::vector<Reading>& readings) {
  Family family(text, "kernel_latency_seconds", MetricKind::histogram, help);
  for (const Reading& reading : readings)
    for (const KernelReading& kernel : reading.kernels)
      if (kernel.latency) family.add(labels_of(reading, kernel.metrics), *kernel.latency);
}

void add_hop(std::string& text, std::string_view name, std::string_view help,
             const std::vector<Reading>& readings, LatencySummary KernelMetrics::*hop) {
  Family family(text, name, MetricKind::summary, help);
  for (const Reading& reading : readings)
    for (const KernelReading& kernel : reading.kernels)
      if (is_known(kernel.metrics, hop))
        family.add(labels_of(reading, kernel.metrics), kernel.metrics.*hop);
}

template <class Value>
void add_runtimes(Family family, const std::vector<Reading>& readings, Value&& value) {
  for (const Reading& reading : readings)
    if (reading.runtime) family.add(labels_of(reading), value(reading.runtime->metrics));
}

void add_health(std::string& text, const std::vector<Reading>& readings) {
  Family up(text, "up", MetricKind::gauge, "1 if the process runs and publishes");
  for (const Reading& reading : readings)
    up.add(labels_of(reading), std::uint64_t{reading.health == Health::running ? 1u : 0u});
  Family age(text, "heartbeat_age_seconds", MetricKind::gauge, "Since the last publication");
  for (const Reading& reading : readings)
    if (reading.runtime)
      age.add(labels_of(reading), std::chrono::duration<double>(reading.heartbeat_age).count());
  Family info(text, "device_info", MetricKind::gauge, "The device, how bytes reach it, and 1");
  for (const Reading& reading : readings) {
    if (!reading.runtime) continue;
    const RuntimeMetrics& of = reading.runtime->metrics;
    info.add(fmt::format("{},backend=\"{}\",device=\"{}\",transfer=\"{}\"", labels_of(reading),
                         escaped(of.backend), escaped(of.device), escaped(of.transfer)),
             std::uint64_t{1});
  }
  Family kernel_info(text, "kernel_info", MetricKind::gauge, "The behaviour of the kernel, and 1");
  for (const Reading& reading : readings)
    for (const KernelReading& kernel : reading.kernels)
      kernel_info.add(fmt::format("{},behaviour=\"{}\"", labels_of(reading, kernel.metrics),
                                  escaped(kernel.metrics.behaviour)),
                      std::uint64_t{1});
  Family state(text, "kernel_state", MetricKind::gauge, "1 for the state that the kernel is in");
  for (const Reading& reading : readings)
    for (const KernelReading& kernel : reading.kernels)
      state.add(fmt::format("{},state=\"{}\"", labels_of(reading, kernel.metrics),
                            ringkernel::name(kernel.metrics.status)),
                std::uint64_t{1});
}

void add_methods(std::string& text, const std::vector<Reading>& readings) {
  const auto for_each = [&](auto&& add) {
    for (const Reading& reading : readings)
      for (const KernelReading& kernel : reading.kernels)
        for (const MethodMetrics& method : kernel.metrics.methods)
          add(fmt::format("{},method=\"{}\"", labels_of(reading, kernel.metrics),
                          escaped(method.name)),
              method);
  };
  Family answered(text, "method_answered", MetricKind::counter, "Requests the device has answered");
  for_each([&](const auto& labels, const auto& of) { answered.add(labels, of.answered); });
  Family faults(text, "method_faults", MetricKind::counter, "Of these, with an error");
  for_each([&](const auto& labels, const auto& of) { faults.add(labels, of.faults); });
  Family latency(text, "method_latency_seconds", MetricKind::summary,
                 "From the submission until the answer was found");
  for_each([&](const auto& labels, const auto& of) { latency.add(labels, of.latency); });
}

/// The code's own words, without what is different each time.
std::string kind_of(const ErrorRecord& error) { return error.text.substr(0, error.text.find(':')); }

void add_errors(std::string& text, const std::vector<Reading>& readings) {
  Family errors(text, "kernel_errors", MetricKind::counter, "Errors of one kind");
  for (const Reading& reading : readings)
    for (const ErrorRecord& error : reading.errors)
      errors.add(fmt::format("{},kernel=\"{}\",code=\"{}\",error=\"{}\"", labels_of(reading),
                             escaped(error.kernel), error.code, escaped(kind_of(error))),
                 error.count);
}

}  // namespace

std::string render_prometheus(const std::vector<Reading>& readings) {
  std::string text;
  add_health(text, readings);
  add_errors(text, readings);
  add_methods(text, readings);
#define RK_KERNEL_LATENCY(name, help)       \
  if (std::string_view(#name) == "latency") \
    add_latency(text, help, readings);      \
  else                                      \
    add_hop(text, "kernel_" #name "_seconds", help, readings, &KernelMetrics::name);
#define RK_KERNEL_METRIC(name, kind, help) \
  add_kernel_metric(text, #name, MetricKind::kind, help, readings, &KernelMetrics::name);
#define RK_RUNTIME_METRIC(name, kind, help)                           \
  add_runtimes(Family(text, #name, MetricKind::kind, help), readings, \
               [](const RuntimeMetrics& metrics) { return std::uint64_t{metrics.name}; });
#include "ringkernel/metrics.def"
  return text;
}

}  // namespace ringkernel::telemetry
