#include "measurement.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <boost/json/src.hpp>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <utility>

namespace bench {
namespace {

namespace json = boost::json;

double quantile(const std::vector<double>& sorted, double fraction) {
  const double last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(std::ceil(fraction * last))];
}

}  // namespace

std::string Measurement::to_json() const {
  return json::serialize(json::object{
      {"value", value}, {"p50", p50}, {"p99", p99}, {"p999", p999}, {"samples", samples}});
}

Measurement Measurement::from_json(std::string_view text) {
  const json::value parsed = json::parse({text.data(), text.size()});
  const auto number = [&](const char* key) { return parsed.at(key).to_number<double>(); };
  Measurement measurement;
  measurement.value = number("value");
  measurement.p50 = number("p50");
  measurement.p99 = number("p99");
  measurement.p999 = number("p999");
  measurement.samples = parsed.at("samples").to_number<std::uint64_t>();
  return measurement;
}

Measurement summarize(std::vector<double> samples, Better better) {
  if (samples.empty()) throw std::runtime_error("no samples");
  if (better == Better::lower)
    std::ranges::sort(samples);
  else
    std::ranges::sort(samples, std::greater<>());
  Measurement measurement;
  measurement.p50 = quantile(samples, 0.5);
  measurement.p99 = quantile(samples, 0.99);
  measurement.p999 = quantile(samples, 0.999);
  measurement.value = measurement.p50;
  measurement.samples = samples.size();
  return measurement;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double median(std::vector<double> values) {
  if (values.empty()) throw std::runtime_error("no values");
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double spread(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  const double middle = median(values);
  return middle != 0 ? (most - least) / std::abs(middle) : 0;
}

Latencies::Latencies(const SamplingLimits& limits)
    : limits_(limits), warm_at_(Clock::now() + limits.warm_up) {
  samples_us_.reserve(limits.samples_max);
}

bool Latencies::more() {
  const Clock::time_point now = Clock::now();
  if (warm_) return now < end_at_ && samples_us_.size() < limits_.samples_max;
  if (now >= warm_at_) {
    warm_ = true;
    end_at_ = now + limits_.duration;
  }
  return true;
}

void Latencies::add(double us) {
  if (warm_) samples_us_.push_back(us);
}

Rate::Rate(const SamplingLimits& limits)
    : limits_(limits), warm_at_(Clock::now() + limits.warm_up) {
  block_rates_.reserve(limits.samples_max);
}

bool Rate::more() {
  const Clock::time_point now = Clock::now();
  if (!warm_ && now >= warm_at_) {
    warm_ = true;
    start_ = now;
  }
  if (warm_ && (now >= start_ + limits_.duration || block_rates_.size() == limits_.samples_max))
    return false;
  block_start_ = now;
  return true;
}

void Rate::add(std::uint64_t messages) {
  if (!warm_) return;
  const std::chrono::duration<double, std::micro> us = Clock::now() - block_start_;
  block_rates_.push_back(static_cast<double>(messages) / us.count());
  messages_ += messages;
}

Measurement Rate::result() {
  const std::chrono::duration<double, std::micro> us = Clock::now() - start_;
  Measurement measurement = summarize(std::move(block_rates_), Better::higher);
  measurement.value = static_cast<double>(messages_) / us.count();
  measurement.samples = messages_;
  return measurement;
}

}  // namespace bench
