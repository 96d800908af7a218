/// The consuming side of a ring: look at the front record in place, pop it, release its space.
///
/// Threading: one thread at a time, the ring's only consumer, `empty` included. Distinct rings are
/// independent.
/// Memory ordering: `front` and `empty` acquire the producer's position; `release` gives the bytes
/// of every popped record back to the producer.
/// Ownership: borrows the ring; a record's bytes stay readable until `release`, also after `pop`.
/// Errors: an empty ring is `nullptr`; so is a broken one, which `corrupt` tells apart.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "foundation/assert.hpp"
#include "ring/geometry.hpp"
#include "ring/order.hpp"

namespace ringkernel {

class Consumer {
 public:
  /// Goes on where the positions in memory stand. Whoever hands the ring over has ordered the
  /// former consumer's work before this.
  explicit Consumer(const RingView& ring) noexcept
      : ring_(ring),
        released_(std::atomic_ref(ring.lines->consumer.position).load(std::memory_order_relaxed)),
        position_(released_),
        cached_producer_(position_) {}

  /// The oldest record that was not popped, or `nullptr`: nothing is published, or the ring is
  /// corrupt. Padding is skipped. The same record until `pop`.
  [[nodiscard]] const rk_record_header* front() noexcept {
    while (front_bytes_ == 0) {
      if (corrupt_ || empty()) return nullptr;
      const rk_record_header* const header = ring_.record(position_);
      // One look at `length`: what was checked is what `pop` adds.
      const std::uint32_t bytes = header->length;
      if (!is_sound(*header, bytes)) {
        corrupt_ = true;
        return nullptr;
      }
      if (header->kind == RK_RECORD_PADDING) {
        position_ += bytes;
      } else {
        front_bytes_ = bytes;
      }
    }
    return ring_.record(position_);
  }

  /// Goes past the front record. The producer does not learn it before `release`.
  /// Precondition: `front` returned a record.
  void pop() noexcept {
    RK_ASSERT(front_bytes_ != 0, "pop without a front record");
    position_ += front_bytes_;
    front_bytes_ = 0;
  }

  /// Gives the space of everything popped, and of skipped padding, back with one store.
  void release() noexcept {
    if (position_ == released_) return;
    released_ = position_;
    // release: our reads of the records before here; pairs with the producer's acquire of this
    // position (rk_ring.h on the device, Producer::refresh_consumer on the host).
    std::atomic_ref(ring_.lines->consumer.position).store(released_, ring_order::free);
  }

  /// Whether nothing is left to read; costs one load, and none while records are known to wait.
  [[nodiscard]] bool empty() noexcept {
    if (position_ != cached_producer_) return false;
    refresh_producer();
    return position_ == cached_producer_;
  }

  /// A record or the producer's position was not possible: length 0, unaligned, beyond the
  /// published position or the end, payload longer than the record, nothing committed. Sticky: no
  /// later record can be found, so the ring is of no use until both sides start over.
  [[nodiscard]] bool corrupt() const noexcept { return corrupt_; }

  /// Where the next `front` looks: everything popped lies before it.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

 private:
  void refresh_producer() noexcept {
    // acquire: the records up to there; pairs with the producer's release of this position
    // (rk_ring.h on the device, Producer::publish on the host).
    cached_producer_ = std::atomic_ref(ring_.lines->producer.position).load(ring_order::see);
    prefetch_published();
  }

  /// Asks for the lines of what was just published, all at once: they lie in the producer's cache,
  /// and one after the other each costs a trip there.
  void prefetch_published() const noexcept {
    constexpr std::uint64_t prefetch_bytes_max = 1024;
    const std::uint64_t bytes =
        std::min({cached_producer_ - position_, prefetch_bytes_max, ring_.bytes_to_end(position_)});
    const std::byte* const first = reinterpret_cast<const std::byte*>(ring_.record(position_));
    for (std::uint64_t line = 0; line < bytes; line += 64) __builtin_prefetch(first + line, 0, 3);
  }

  [[nodiscard]] bool is_sound(const rk_record_header& header, std::uint32_t bytes) const noexcept {
    return ring_.can_hold(position_, cached_producer_, bytes) && header.kind != RK_RECORD_NONE &&
           (header.kind == RK_RECORD_PADDING ||
            header.payload_bytes <= bytes - sizeof(rk_record_header));
  }

  RingView ring_;
  std::uint64_t released_;
  std::uint64_t position_;
  std::uint64_t cached_producer_;
  std::uint32_t front_bytes_ = 0;
  bool corrupt_ = false;
};

}  // namespace ringkernel
