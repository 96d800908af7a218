/// Elements of a tensor that are picked out in another order.
///
/// Threading: any thread; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace ringkernel {

/// How far apart the elements of each dim are, row-major.
[[nodiscard]] inline std::vector<std::int64_t> strides_of(std::span<const std::int64_t> dims) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t dim = dims.size(); dim-- > 1;) strides[dim - 1] = strides[dim] * dims[dim];
  return strides;
}

/// A tensor of `counts` elements in each dim, which are `strides` apart, from element `offset` on.
/// All of them are inside of `elements`.
[[nodiscard]] inline std::vector<std::byte> strided(std::span<const std::byte> elements,
                                                    std::size_t element_bytes, std::int64_t offset,
                                                    std::span<const std::int64_t> counts,
                                                    std::span<const std::int64_t> strides) {
  std::size_t total = 1;
  for (const std::int64_t count : counts) total *= static_cast<std::size_t>(count);
  std::vector<std::byte> result(total * element_bytes);
  for (std::size_t i = 0; i < total; ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t from = offset;
    for (std::size_t dim = counts.size(); dim-- != 0;) {
      from += rest % counts[dim] * strides[dim];
      rest /= counts[dim];
    }
    std::memcpy(result.data() + i * element_bytes,
                elements.data() + static_cast<std::size_t>(from) * element_bytes, element_bytes);
  }
  return result;
}

}  // namespace ringkernel
