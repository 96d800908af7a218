/// Power-of-two and alignment arithmetic.
#pragma once

#include <bit>
#include <concepts>

namespace ringkernel {

/// `value` rounded up to a multiple of `alignment`, which is a power of two.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T align_up(T value, T alignment) noexcept {
  return static_cast<T>((value + alignment - 1) & ~(alignment - 1));
}

template <std::unsigned_integral T>
[[nodiscard]] constexpr bool is_aligned(T value, T alignment) noexcept {
  return (value & (alignment - 1)) == 0;
}

}  // namespace ringkernel
