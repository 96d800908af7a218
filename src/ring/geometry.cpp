#include "ring/geometry.hpp"

#include <bit>
#include <string>

#include "foundation/assert.hpp"
#include "ringkernel/limits.hpp"

namespace ringkernel {

RingView RingView::at(std::byte* arena, std::uint64_t offset, std::uint64_t capacity) noexcept {
  std::byte* const ring = arena + offset;
  return {reinterpret_cast<rk_ring*>(ring), ring + sizeof(rk_ring), capacity};
}

Result<void> RingView::validate(std::uint64_t offset, std::uint64_t capacity,
                                std::uint64_t arena_bytes) {
  if (!std::has_single_bit(capacity) || capacity < ring_bytes_min || capacity > ring_bytes_max) {
    return Error(Errc::invalid_argument,
                 "ring capacity " + std::to_string(capacity) + " is not a power of two in [" +
                     std::to_string(ring_bytes_min) + ", " + std::to_string(ring_bytes_max) + "]");
  }
  if (!is_aligned<std::uint64_t>(offset, RK_LINE_BYTES)) {
    return Error(Errc::invalid_argument, "ring offset " + std::to_string(offset) +
                                             " is not a multiple of " +
                                             std::to_string(RK_LINE_BYTES));
  }
  if (offset > arena_bytes || ring_bytes(capacity) > arena_bytes - offset) {
    return Error(Errc::out_of_bounds, "ring of " + std::to_string(ring_bytes(capacity)) +
                                          " bytes at offset " + std::to_string(offset) +
                                          " ends beyond the arena of " +
                                          std::to_string(arena_bytes) + " bytes");
  }
  return {};
}

void RingView::reset(std::uint64_t position) const noexcept {
  RK_ASSERT(is_aligned<std::uint64_t>(position, RK_RECORD_ALIGN), "positions are record-aligned");
  *lines = rk_ring{};
  lines->producer.position = position;
  lines->producer.cached_consumer = position;
  lines->consumer.position = position;
  lines->consumer.cached_producer = position;
}

}  // namespace ringkernel
