/// How large a stress test is, and its random numbers.
///
///   RK_TEST_SCALE  factor on the full size; 1 without sanitizers, 0.02 with them
///   RK_TEST_SEED   repeats a run's random choices (its threads still run as they like)
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

namespace ringkernel::test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr double default_scale = 0.02;
#else
inline constexpr double default_scale = 1;
#endif

/// `full`, scaled; at least `least`.
inline std::uint64_t scaled(std::uint64_t full, std::uint64_t least = 1) {
  const char* const text = std::getenv("RK_TEST_SCALE");
  const double scale = text != nullptr ? std::strtod(text, nullptr) : default_scale;
  return std::max(least, static_cast<std::uint64_t>(static_cast<double>(full) * scale));
}

/// The run's seed; printed, so that a failure can be repeated.
inline std::uint64_t announce_seed() {
  const char* const text = std::getenv("RK_TEST_SEED");
  const std::uint64_t seed =
      text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device()();
  std::cout << "RK_TEST_SEED=" << seed << '\n';
  return seed;
}

/// Small random numbers for one thread.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t stream)
      : engine_(seed ^ (stream + 1) * 0x9e3779b97f4a7c15) {}
  /// From 0 to `end` - 1.
  std::uint64_t below(std::uint64_t end) { return engine_() % end; }
  /// True in `percent` of 100 throws.
  bool hits(std::uint64_t percent) { return below(100) < percent; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace ringkernel::test
