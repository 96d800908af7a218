/// Where a ring lies in the arena and how records are measured; see `protocol/ring.h`.
///
/// Threading: any thread; a `RingView` is a value that owns nothing.
/// Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "foundation/align.hpp"
#include "ringkernel/protocol/record.h"
#include "ringkernel/protocol/ring.h"
#include "ringkernel/result.hpp"

namespace ringkernel {

/// Arena bytes that a ring with `capacity` bytes of data takes.
[[nodiscard]] constexpr std::uint64_t ring_bytes(std::uint64_t capacity) noexcept {
  return sizeof(rk_ring) + capacity;
}

/// Ring bytes that a record with this payload takes: header and round-up included.
[[nodiscard]] constexpr std::uint64_t record_bytes(std::uint64_t payload_bytes) noexcept {
  return align_up<std::uint64_t>(sizeof(rk_record_header) + payload_bytes, RK_RECORD_ALIGN);
}

/// One ring in the arena, borrowed.
struct RingView {
  rk_ring* lines = nullptr;
  std::byte* data = nullptr;
  std::uint64_t capacity = 0;

  /// The ring at `offset`. Precondition: `validate` accepted the numbers, and `arena` is aligned to
  /// RK_LINE_BYTES.
  [[nodiscard]] static RingView at(std::byte* arena, std::uint64_t offset,
                                   std::uint64_t capacity) noexcept;

  /// Capacity a power of two within the limits, offset aligned to RK_LINE_BYTES, all of the ring
  /// inside the arena. Errors: `invalid_argument`, `out_of_bounds`.
  [[nodiscard]] static Result<void> validate(std::uint64_t offset, std::uint64_t capacity,
                                             std::uint64_t arena_bytes);

  /// The record header at a position, which is a multiple of RK_RECORD_ALIGN.
  [[nodiscard]] rk_record_header* record(std::uint64_t position) const noexcept {
    return reinterpret_cast<rk_record_header*>(data + (position & (capacity - 1)));
  }

  /// Bytes from a position to the end of the data, where the index wraps.
  [[nodiscard]] std::uint64_t bytes_to_end(std::uint64_t position) const noexcept {
    return capacity - (position & (capacity - 1));
  }

  /// Whether a record with this payload can ever be claimed in this ring.
  [[nodiscard]] bool fits(std::uint64_t payload_bytes) const noexcept {
    return payload_bytes < capacity && record_bytes(payload_bytes) <= RK_RING_RECORD_MAX(capacity);
  }

  /// Whether a record (or padding) of `length` bytes can lie at `position`, with everything before
  /// `end` published: the check that keeps a reader of foreign bytes inside the ring.
  [[nodiscard]] bool can_hold(std::uint64_t position, std::uint64_t end,
                              std::uint32_t length) const noexcept {
    return end - position <= capacity && length <= end - position &&
           length >= sizeof(rk_record_header) &&
           is_aligned<std::uint32_t>(length, RK_RECORD_ALIGN) && length <= bytes_to_end(position);
  }

  /// Makes the ring empty, with both sides at `position`, a multiple of RK_RECORD_ALIGN.
  /// Precondition: neither side is at work.
  void reset(std::uint64_t position = 0) const noexcept;
};

}  // namespace ringkernel
