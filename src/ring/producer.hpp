/// The producing side of a ring: claim space, fill it in place, commit, publish.
///
/// Threading: one thread at a time, the ring's only producer. Distinct rings are independent.
/// Memory ordering: `publish` releases every record committed before it; a claim acquires the
/// consumer's position before it hands out bytes that the consumer has read.
/// Ownership: borrows the ring; the claimed record belongs to the caller until `commit` or `abort`.
/// Errors: a full ring is `nullptr`; a broken precondition stops the process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "foundation/assert.hpp"
#include "ring/geometry.hpp"
#include "ring/order.hpp"

namespace ringkernel {

class Producer {
 public:
  /// Goes on where the positions in memory stand. Whoever hands the ring over has ordered the
  /// former producer's work before this.
  explicit Producer(const RingView& ring) noexcept
      : ring_(ring),
        published_(std::atomic_ref(ring.lines->producer.position).load(std::memory_order_relaxed)),
        position_(published_) {
    refresh_consumer();
  }

  /// Whether a record with this payload can ever be claimed here.
  [[nodiscard]] bool fits(std::uint32_t payload_bytes) const noexcept {
    return ring_.fits(payload_bytes);
  }

  /// Space for one record: its header, with the payload right behind it. Bytes are as the previous
  /// lap left them. The consumer sees nothing of it. `nullptr`: there is not enough space at the
  /// moment, be it that the consumer is behind or that committed records wait for `publish`.
  /// Preconditions: `fits(payload_bytes)`, no claim is open.
  [[nodiscard]] rk_record_header* try_claim(std::uint32_t payload_bytes) noexcept {
    RK_ASSERT(claim_ == nullptr, "commit or abort a claim before the next one");
    RK_ASSERT(fits(payload_bytes), "the record is larger than the ring takes");
    const std::uint64_t bytes = record_bytes(payload_bytes);
    const std::uint64_t to_end = ring_.bytes_to_end(position_);
    const std::uint64_t padding = bytes <= to_end ? 0 : to_end;
    if (!has_space(padding + bytes)) return nullptr;
    if (padding != 0) write_padding(static_cast<std::uint32_t>(padding));
    claim_ = ring_.record(position_ + padding);
    claim_bytes_ = static_cast<std::uint32_t>(bytes);
    claim_end_ = position_ + padding + bytes;
    return claim_;
  }

  /// The claimed record, whose header the caller has filled except `length`, joins the batch that
  /// the next `publish` makes visible.
  void commit() noexcept {
    RK_ASSERT(claim_ != nullptr, "commit without a claim");
    claim_->length = claim_bytes_;
    position_ = claim_end_;
    claim_ = nullptr;
  }

  /// Forgets the claim, and the padding that it needed.
  void abort() noexcept { claim_ = nullptr; }

  /// Makes everything committed visible with one store.
  void publish() noexcept {
    if (position_ == published_) return;
    published_ = position_;
    // release: the records up to here; pairs with the consumer's acquire of this position
    // (rk_ring.h on the device, Consumer::refresh_producer on the host).
    std::atomic_ref(ring_.lines->producer.position).store(published_, ring_order::publish);
  }

  /// Fetches the lines of a next record like the last one while nobody waits for them. They lie in
  /// the consumer's cache, and each would cost the next claim a trip there.
  void prefetch_next() const noexcept {
    constexpr std::uint64_t prefetch_bytes_max = 1024;
    const std::uint64_t bytes =
        std::min({std::uint64_t{claim_bytes_}, prefetch_bytes_max, ring_.bytes_to_end(position_)});
    const std::byte* const next = reinterpret_cast<const std::byte*>(ring_.record(position_));
    for (std::uint64_t line = 0; line < bytes; line += 64) __builtin_prefetch(next + line, 1, 3);
  }

  /// Bytes that are free right now, contiguous or not.
  [[nodiscard]] std::uint64_t free_bytes() noexcept {
    refresh_consumer();
    return known_free_bytes();
  }

  /// Where the next record or its padding goes: everything committed lies before it.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

  /// What the consumer can see.
  [[nodiscard]] std::uint64_t published_position() const noexcept { return published_; }

 private:
  [[nodiscard]] bool has_space(std::uint64_t bytes) noexcept {
    if (known_free_bytes() >= bytes) return true;
    refresh_consumer();
    return known_free_bytes() >= bytes;
  }

  /// A consumer position that cannot be (ahead of us, or more than a lap behind) counts as full.
  [[nodiscard]] std::uint64_t known_free_bytes() const noexcept {
    const std::uint64_t used = position_ - cached_consumer_;
    return used <= ring_.capacity ? ring_.capacity - used : 0;
  }

  void refresh_consumer() noexcept {
    // acquire: the consumer has read what it frees; pairs with its release of this position
    // (rk_ring.h on the device, Consumer::release on the host).
    cached_consumer_ = std::atomic_ref(ring_.lines->consumer.position).load(ring_order::reuse);
  }

  void write_padding(std::uint32_t bytes) const noexcept {
    rk_record_header padding{};
    padding.length = bytes;
    padding.kind = RK_RECORD_PADDING;
    *ring_.record(position_) = padding;
  }

  RingView ring_;
  std::uint64_t published_;
  std::uint64_t position_;
  std::uint64_t cached_consumer_ = 0;
  rk_record_header* claim_ = nullptr;
  std::uint64_t claim_end_ = 0;
  std::uint32_t claim_bytes_ = 0;
};

}  // namespace ringkernel
