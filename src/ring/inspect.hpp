/// A read-only picture of a ring, for people and tests.
///
/// Threading: any thread, also beside a running producer and consumer; but what lies between two
/// moving positions may be overwritten while it is read, so only a quiet ring gives a true picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ring/geometry.hpp"

namespace ringkernel {

/// Of a ring beside a producer and a consumer at work, so about.
struct RingUse {
  std::uint64_t position = 0;    ///< of the producer: bytes ever published
  std::uint64_t used_bytes = 0;  ///< of these, not released: the consumer is so far behind
};

[[nodiscard]] RingUse use_of(const RingView& ring) noexcept;

struct RecordInfo {
  std::uint64_t position = 0;
  rk_record_header header{};
};

struct RingPicture {
  std::uint64_t capacity = 0;
  std::uint64_t producer_position = 0;
  std::uint64_t consumer_position = 0;
  /// Everything published and not released, padding included, oldest first; ends at the first
  /// record whose length is not possible.
  std::vector<RecordInfo> records;
  bool corrupt = false;
};

[[nodiscard]] RingPicture inspect(const RingView& ring);

/// One line for the positions, one per record.
[[nodiscard]] std::string to_text(const RingPicture& picture);

}  // namespace ringkernel
