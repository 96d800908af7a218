#include "runtime/arena.hpp"

#include <iterator>
#include <string>

#include "foundation/align.hpp"
#include "foundation/assert.hpp"

namespace ringkernel {

Arena::Arena(std::byte* data, std::uint64_t bytes)
    : data_(data), bytes_(bytes & ~(granule_bytes - 1)) {
  insert(0, bytes_);
}

Result<std::uint64_t> Arena::allocate(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const bool overflows = bytes > bytes_;
  const std::uint64_t length = overflows ? bytes : align_up(bytes, granule_bytes);
  const auto fit = overflows ? by_size_.end() : by_size_.lower_bound(length);
  if (fit == by_size_.end())
    return Error(Errc::allocation_failure,
                 std::to_string(bytes) + " bytes; the arena of " + std::to_string(bytes_) +
                     " bytes has " + std::to_string(free_bytes_) + " free, the largest block is " +
                     std::to_string(by_size_.empty() ? 0 : by_size_.rbegin()->first));
  const std::uint64_t offset = fit->second;
  const std::uint64_t available = fit->first;
  erase(by_offset_.find(offset));
  if (available > length) insert(offset + length, available - length);
  return offset;
}

void Arena::free(std::uint64_t offset, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  std::uint64_t length = align_up(bytes, granule_bytes);
  auto next = by_offset_.lower_bound(offset);
  RK_ASSERT(next == by_offset_.end() || offset + length <= next->first, "region freed twice");
  if (next != by_offset_.end() && next->first == offset + length) {
    length += next->second;
    erase(next);
    next = by_offset_.lower_bound(offset);
  }
  if (next != by_offset_.begin()) {
    const auto previous = std::prev(next);
    RK_ASSERT(previous->first + previous->second <= offset, "region freed twice");
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      length += previous->second;
      erase(previous);
    }
  }
  insert(offset, length);
}

std::uint64_t Arena::free_bytes() const {
  const std::lock_guard lock(mutex_);
  return free_bytes_;
}

std::uint64_t Arena::largest_free_bytes() const {
  const std::lock_guard lock(mutex_);
  return by_size_.empty() ? 0 : by_size_.rbegin()->first;
}

void Arena::insert(std::uint64_t offset, std::uint64_t bytes) {
  by_offset_.emplace(offset, bytes);
  by_size_.emplace(bytes, offset);
  free_bytes_ += bytes;
}

void Arena::erase(std::map<std::uint64_t, std::uint64_t>::iterator region) {
  auto [candidate, end] = by_size_.equal_range(region->second);
  while (candidate != end && candidate->second != region->first) ++candidate;
  RK_ASSERT(candidate != end, "the two free lists differ");
  by_size_.erase(candidate);
  free_bytes_ -= region->second;
  by_offset_.erase(region);
}

}  // namespace ringkernel
