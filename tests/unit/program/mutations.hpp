/// Damaged buffers, the same ones in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace ringkernel::program::test {

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

  /// The bytes with one to four places changed; one in eight is cut.
  template <class Byte>
  std::vector<Byte> mutate(std::vector<Byte> bytes) {
    if (below(8) == 0) bytes.resize(below(static_cast<std::uint32_t>(bytes.size())) + 1);
    for (std::uint32_t left = 1 + below(4); left != 0; --left) {
      const std::uint32_t width = 1u << below(3);
      if (bytes.size() < width) continue;
      const std::size_t last = bytes.size() - width;
      const std::size_t at = below(static_cast<std::uint32_t>(last) + 1) / width * width;
      std::uint32_t value = 0;
      std::memcpy(&value, bytes.data() + at, width);
      value = changed(value, static_cast<std::uint32_t>(bytes.size()));
      std::memcpy(bytes.data() + at, &value, width);
    }
    return bytes;
  }

 private:
  std::uint32_t changed(std::uint32_t value, std::uint32_t size) {
    switch (below(6)) {
      case 0: return static_cast<std::uint32_t>(random_());
      case 1: return value ^ 1u << below(32);
      case 2: return value + below(9) - 4;
      case 3: return below(size + 8);
      case 4: return 0u - below(size);
      default: return below(2) ? 0xffffffffu : 0u;
    }
  }

  std::mt19937 random_;
};

}  // namespace ringkernel::program::test
