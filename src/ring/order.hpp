/// The memory orders of a ring, by role, for the host's side. Each pairs with the device's role of
/// the opposite direction in `kernels/rk_ring.h`, or with the other class in a host-only ring.
///
/// Memory ordering: publishing (release) and seeing (acquire) make a record's bytes visible;
/// freeing (release) and reusing (acquire) keep the producer from overwriting bytes that are still
/// being read. `RK_RING_MUTANT` names the one that a mutation test weakens (`tests/stress`).
#pragma once

#include <atomic>

#ifndef RK_RING_MUTANT
#define RK_RING_MUTANT 0
#endif

namespace ringkernel::ring_order {

/// `correct`, unless this build is the mutant with this number.
[[nodiscard]] consteval std::memory_order unless_mutant(int number, std::memory_order correct) {
  return number == RK_RING_MUTANT ? std::memory_order_relaxed : correct;
}

inline constexpr std::memory_order publish = unless_mutant(1, std::memory_order_release);
inline constexpr std::memory_order see = unless_mutant(2, std::memory_order_acquire);
inline constexpr std::memory_order free = unless_mutant(3, std::memory_order_release);
inline constexpr std::memory_order reuse = unless_mutant(4, std::memory_order_acquire);

}  // namespace ringkernel::ring_order
