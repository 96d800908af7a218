/// The allocator of a runtime's arena: regions named by 64-bit offsets, never pointers.
///
/// Best fit over an ordered free list; neighbours are merged when a region is given back.
///
/// Threading: any thread.
/// Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "ringkernel/result.hpp"

namespace ringkernel {

class Arena {
 public:
  /// Every region starts at a multiple of this and has a length that is one.
  static constexpr std::uint64_t granule_bytes = 128;

  /// `data` is zeroed and aligned to the granule.
  Arena(std::byte* data, std::uint64_t bytes);

  /// Offset of a region. Its contents are whatever the last owner left. E6004 with what is free.
  [[nodiscard]] Result<std::uint64_t> allocate(std::uint64_t bytes);
  /// Gives back a region of `allocate`, with the bytes it was asked for.
  void free(std::uint64_t offset, std::uint64_t bytes);

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t free_bytes() const;
  [[nodiscard]] std::uint64_t largest_free_bytes() const;

 private:
  void insert(std::uint64_t offset, std::uint64_t bytes);
  void erase(std::map<std::uint64_t, std::uint64_t>::iterator region);

  std::byte* const data_;
  const std::uint64_t bytes_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> by_offset_;     // free regions: offset -> bytes
  std::multimap<std::uint64_t, std::uint64_t> by_size_;  // the same: bytes -> offset
  std::uint64_t free_bytes_ = 0;
};

}  // namespace ringkernel
