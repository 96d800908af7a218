/// Samples, what is made of them, and the two loops that take them.
///
/// Threading: one thread.
/// Units: a sample has the unit of its case; `Stopwatch` gives microseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Of a case that this device cannot run; `what` says why.
class Absent : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Better { lower, higher };

/// One case run once. `p99` is what 99 % of the samples were at least as good as.
struct Measurement {
  double value = 0;
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
  std::uint64_t samples = 0;

  [[nodiscard]] std::string to_json() const;
  /// Throws std::exception if the text is not such an object.
  [[nodiscard]] static Measurement from_json(std::string_view text);
};

/// The value is the median. Throws if there are no samples.
[[nodiscard]] Measurement summarize(std::vector<double> samples, Better better);

[[nodiscard]] double median(std::vector<double> values);
/// (max - min) / median.
[[nodiscard]] double spread(const std::vector<double>& values);

/// User and system time of this process so far, all its threads.
[[nodiscard]] double cpu_seconds();

using Clock = std::chrono::steady_clock;

/// Starts when it is made.
class Stopwatch {
 public:
  [[nodiscard]] double us() const {
    return std::chrono::duration<double, std::micro>(Clock::now() - start_).count();
  }

 private:
  Clock::time_point start_ = Clock::now();
};

struct SamplingLimits {
  std::chrono::nanoseconds warm_up = std::chrono::milliseconds(200);
  std::chrono::nanoseconds duration = std::chrono::seconds(1);
  std::size_t samples_max = 500'000;
};

/// `while (latencies.more()) { ...; latencies.add(watch.us()); }`
class Latencies {
 public:
  explicit Latencies(const SamplingLimits& limits = {});

  /// Whether the warm-up or the measurement goes on.
  [[nodiscard]] bool more();
  /// One sample; forgotten during the warm-up.
  void add(double us);
  [[nodiscard]] Measurement result() { return summarize(std::move(samples_us_), Better::lower); }

 private:
  SamplingLimits limits_;
  std::vector<double> samples_us_;
  Clock::time_point warm_at_;
  Clock::time_point end_at_;
  bool warm_ = false;
};

/// `while (rate.more()) { move a block of messages; rate.add(messages); }`. A sample is the rate of
/// one block in millions per second; the value is the rate over all blocks.
class Rate {
 public:
  explicit Rate(const SamplingLimits& limits = {});

  [[nodiscard]] bool more();
  void add(std::uint64_t messages);
  [[nodiscard]] Measurement result();

 private:
  SamplingLimits limits_;
  std::vector<double> block_rates_;
  std::uint64_t messages_ = 0;
  Clock::time_point warm_at_;
  Clock::time_point start_;
  Clock::time_point block_start_;
  bool warm_ = false;
};

}  // namespace bench
