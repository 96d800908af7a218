/// Numbers that are the same for the same seed, on every machine.
///
/// Threading: one thread.
#pragma once

#include <cstdint>

namespace rkc {

class Random {  // splitmix64
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t value = state_ += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
  }
  /// Below `bound`, which is not 0.
  std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }
  bool one_in(std::uint64_t bound) noexcept { return below(bound) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace rkc
