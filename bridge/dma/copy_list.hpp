/// The copies of one batch: those to the device first, then those back. Words that others may
/// change or poll meanwhile go through a staging area that nobody else looks at.
///
/// Threading: one thread at a time; the batch before has ended.
/// Ownership: borrows the host's arena; the staging area is a region of it. Once made it allocates
/// nothing, as long as whoever adds asks for room first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "foundation/align.hpp"
#include "foundation/assert.hpp"
#include "ringkernel/backend_abi.h"

namespace ringkernel::bridge {

struct CopyCounts {
  std::uint64_t copies = 0;
  std::uint64_t bytes = 0;
};

class CopyList {
 public:
  CopyList(std::byte* arena, std::uint64_t staging_offset, std::uint64_t staging_bytes)
      : arena_(arena), staging_(arena + staging_offset), staging_bytes_(staging_bytes) {
    to_device_.reserve(copies_max);
    to_host_.reserve(copies_max);
  }

  /// In each direction.
  static constexpr std::size_t copies_max = 1024;
  /// Whether so many copies, in either direction, and so much of the staging area are left.
  [[nodiscard]] bool has_room(std::size_t copies, std::uint64_t staging) const noexcept {
    return copies_max - std::max(to_device_.size(), to_host_.size()) >= copies &&
           staging_bytes_ - used_ >= staging;
  }

  void clear() noexcept {
    used_ = 0;
    to_device_.clear();
    to_host_.clear();
    counts_ = {};
  }
  /// Of both directions.
  [[nodiscard]] const CopyCounts& counts() const noexcept { return counts_; }

  /// To the device, from the same place of the host's arena, where it stays as it is.
  void send(std::uint64_t offset, std::uint64_t bytes) {
    add(to_device_, {RK_COPY_TO_DEVICE, 0, offset, bytes, arena_ + offset, 0});
  }
  /// To the device: a value as it is now.
  template <class Value>
  void send_value(std::uint64_t offset, const Value& value) {
    send_bytes(offset, &value, sizeof value);
  }
  void send_bytes(std::uint64_t offset, const void* from, std::uint64_t bytes) {
    std::byte* const staged = stage(bytes);
    std::memcpy(staged, from, bytes);
    add(to_device_, {RK_COPY_TO_DEVICE, 0, offset, bytes, staged, 0});
  }
  /// To the device in one copy, in any order: `line` to `offset`, and `bytes` to `second_offset`
  /// from the same place of the arena. Of the line, which the host alone writes, as many bytes go.
  template <class Line>
  void send_with(std::uint64_t offset, const Line& line, std::uint64_t second_offset,
                 std::uint64_t bytes) {
    RK_ASSERT(bytes <= sizeof line, "the line is shorter than what goes with it");
    std::byte* const staged = stage(2 * bytes);
    std::memcpy(staged, &line, bytes);
    std::memcpy(staged + bytes, arena_ + second_offset, bytes);
    add(to_device_, {RK_COPY_TO_DEVICE, 0, offset, bytes, staged, second_offset});
  }

  /// To the same place of the host's arena, where nobody looks yet.
  void fetch(std::uint64_t offset, std::uint64_t bytes) {
    add(to_host_, {RK_COPY_TO_HOST, 1, offset, bytes, arena_ + offset, 0});
  }
  /// To the staging area: where the value will be when the batch has ended.
  template <class Value>
  [[nodiscard]] const Value* fetch_value(std::uint64_t offset) {
    return static_cast<const Value*>(fetch_bytes(offset, sizeof(Value)));
  }
  [[nodiscard]] const void* fetch_bytes(std::uint64_t offset, std::uint64_t bytes) {
    std::byte* const staged = stage(bytes);
    add(to_host_, {RK_COPY_TO_HOST, 0, offset, bytes, staged, 0});
    return staged;
  }
  /// To the staging area in one copy, in any order: as many bytes from `offset` on, and behind them
  /// those from `second_offset` on.
  [[nodiscard]] const std::byte* fetch_both(std::uint64_t offset, std::uint64_t second_offset,
                                            std::uint64_t bytes) {
    std::byte* const staged = stage(2 * bytes);
    add(to_host_, {RK_COPY_TO_HOST, 0, offset, bytes, staged, second_offset});
    return staged;
  }

  [[nodiscard]] const std::vector<rk_copy>& to_device() const noexcept { return to_device_; }
  [[nodiscard]] const std::vector<rk_copy>& to_host() const noexcept { return to_host_; }

 private:
  void add(std::vector<rk_copy>& copies, const rk_copy& copy) {
    RK_ASSERT(copies.size() < copies_max, "the batch is full");
    copies.push_back(copy);
    ++counts_.copies;
    counts_.bytes += copy.second_offset != 0 ? 2 * copy.bytes : copy.bytes;
  }
  std::byte* stage(std::uint64_t bytes) {
    RK_ASSERT(bytes <= staging_bytes_ - used_, "the staging area is full");
    std::byte* const staged = staging_ + used_;
    used_ += align_up<std::uint64_t>(bytes, sizeof(rk_u64));
    return staged;
  }

  std::byte* const arena_;
  std::byte* const staging_;
  const std::uint64_t staging_bytes_;
  std::uint64_t used_ = 0;
  CopyCounts counts_;
  std::vector<rk_copy> to_device_;
  std::vector<rk_copy> to_host_;
};

}  // namespace ringkernel::bridge
