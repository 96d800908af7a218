/// One who classifies digits, and the clock at each of the requests it makes.
///
/// Threading: one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "dataset.hpp"

namespace digits {

/// How long each of many like pieces of work took.
class Latencies {
 public:
  /// Does the work, and remembers its time.
  template <class Work>
  decltype(auto) timed(Work&& work) {
    const Timer timer(*this);
    return work();
  }

  [[nodiscard]] const std::vector<std::int64_t>& nanoseconds() const noexcept {
    return nanoseconds_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  class Timer {
   public:
    explicit Timer(Latencies& latencies) : latencies_(latencies) {}
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer() {
      latencies_.nanoseconds_.push_back(std::chrono::nanoseconds(Clock::now() - start_).count());
    }

   private:
    Latencies& latencies_;
    Clock::time_point start_ = Clock::now();
  };

  std::vector<std::int64_t> nanoseconds_;
};

/// Ops per digit: matmul, add, relu, matmul, add.
inline constexpr std::size_t ops_per_digit = 5;

class Classifier {
 public:
  virtual ~Classifier() = default;

  /// The digit that the image shows, in `ops_per_digit` ops; `ops` takes the time of each request.
  virtual int classify(std::span<const float, pixels> image, Latencies& ops) = 0;
};

}  // namespace digits
