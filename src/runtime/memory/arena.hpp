/// The allocator of a runtime's arena: regions named by 64-bit offsets, never pointers.
///
/// Two-level segregated fit. Free blocks are kept in lists by size class, 16 classes to each power
/// of two, and bitmaps say which lists hold something, so a search looks at a few words however
/// many blocks there are. What is known about the blocks lies on the host: the arena itself may be
/// memory that the host cannot reach, and a device that goes astray cannot damage it.
///
/// What stays where it is (rings, executors) is taken from the low end of a block, what can be
/// moved (tensors) from the high end. The two hardly ever lie between each other, which is what
/// lets `raise` gather the free space in one block.
///
/// Threading: any thread.
/// Units: bytes; a granule is the unit of all sizes and offsets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ringkernel/protocol/abi.h"
#include "ringkernel/result.hpp"

namespace ringkernel {

class Arena {
 public:
  /// Every region starts at a multiple of this and has a length that is one.
  static constexpr std::uint64_t granule_bytes = RK_RECORD_ALIGN;

  enum class End : std::uint8_t { low, high };
  struct Placement {
    std::uint64_t alignment = RK_LINE_BYTES;  ///< a power of two, at least the granule
    End end = End::low;
  };
  struct Usage {
    std::uint64_t free_bytes = 0;
    std::uint64_t largest_free_bytes = 0;
    /// 1 - largest / free; 0 where nothing is free or all of it is one block.
    [[nodiscard]] double fragmentation_score() const noexcept;
  };

  /// `data` is zeroed and aligned to 128 bytes. Only `raise` touches it.
  Arena(std::byte* data, std::uint64_t bytes);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Offset of a region. Its contents are whatever the last owner left. Succeeds wherever a free
  /// block has room for it. E6004 with what is free.
  [[nodiscard]] Result<std::uint64_t> allocate(std::uint64_t bytes, Placement placement);
  [[nodiscard]] Result<std::uint64_t> allocate(std::uint64_t bytes) { return allocate(bytes, {}); }
  /// Gives back a region of `allocate`, with the bytes it was asked for. Needs no memory.
  void free(std::uint64_t offset, std::uint64_t bytes) noexcept;
  /// While `touched` says so no region that is given back is given out again: a copy that nobody
  /// waits for any more may go to any of them. Asked with the lock, and not behind the next call.
  void hold_while(std::function<bool()> touched) {
    const std::lock_guard lock(mutex_);
    touched_ = std::move(touched);
  }

  /// Moves a region of granule alignment, contents included, nearer to the high end: into the
  /// smallest block above that takes it, else into the free space directly behind it. The largest
  /// free block never shrinks. Returns where the region is afterwards. Nobody else may look at the
  /// region meanwhile; other users of the arena wait for as long as the copy takes.
  [[nodiscard]] std::uint64_t raise(std::uint64_t offset, std::uint64_t bytes);

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] Usage usage() const;

  /// Owns a region.
  class Region {
   public:
    Region() noexcept = default;
    Region(Arena& arena, std::uint64_t offset, std::uint64_t bytes) noexcept
        : arena_(&arena), offset_(offset), bytes_(bytes) {}
    Region(Region&& other) noexcept
        : arena_(std::exchange(other.arena_, nullptr)),
          offset_(other.offset_),
          bytes_(other.bytes_) {}
    Region& operator=(Region&& other) noexcept {
      std::swap(arena_, other.arena_);
      std::swap(offset_, other.offset_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Region() { reset(); }

    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    /// Gives it back.
    void reset() noexcept {
      if (Arena* const arena = std::exchange(arena_, nullptr)) arena->free(offset_, bytes_);
    }

   private:
    Arena* arena_ = nullptr;  // null: nothing is owned
    std::uint64_t offset_ = 0;
    std::uint64_t bytes_ = 0;
  };
  /// `allocate`, owned.
  [[nodiscard]] Result<Region> take(std::uint64_t bytes) {
    RK_TRY(offset, allocate(bytes));
    return Region(*this, offset, bytes);
  }
  [[nodiscard]] std::uint64_t free_bytes() const { return usage().free_bytes; }
  [[nodiscard]] std::uint64_t largest_free_bytes() const { return usage().largest_free_bytes; }

 private:
  using Index = std::uint32_t;  // of a block
  static constexpr Index none = ~Index{0};
  static constexpr std::uint32_t steps_log2 = 4;  // 16 classes to a power of two
  static constexpr std::uint32_t steps = 1u << steps_log2;
  static constexpr std::uint32_t levels = 64 - steps_log2;

  /// A stretch of the arena, free or not. All stretches together are the arena.
  struct Block {
    std::uint64_t start = 0;  // granules
    std::uint64_t count = 0;
    Index below = none;  // neighbours in the arena
    Index above = none;
    Index previous = none;  // neighbours in the list of its class, while free
    Index next = none;      // likewise, and while held
    bool is_free = false;
  };
  struct SizeClass {
    std::uint32_t level = 0;
    std::uint32_t step = 0;
  };

  // The lock is held by the callers of all below.
  [[nodiscard]] static SizeClass class_of(std::uint64_t count) noexcept;
  [[nodiscard]] Index find(std::uint64_t count, std::uint64_t alignment) const noexcept;
  [[nodiscard]] Index first_at_or_above(SizeClass size) const noexcept;
  [[nodiscard]] std::uint64_t largest_count() const noexcept;
  void insert(Index block) noexcept;
  void remove(Index block) noexcept;
  /// Makes room for one more region, and the blocks beside it. What throws stands in front of all
  /// changes: those need no memory.
  void reserve();
  Index make_block(const Block& block) noexcept;
  /// Turns the granules [start, start + count) of a free block into a region that `regions_` is to
  /// name. Behind `reserve`.
  Index carve(Index block, std::uint64_t start, std::uint64_t count) noexcept;
  Index split(Index block, std::uint64_t start) noexcept;
  /// Gives back what was held, if nothing touches it any more.
  void let_go() noexcept;
  /// Makes a block free and one with its free neighbours; returns that one.
  Index give_back(Index block) noexcept;
  /// Makes two neighbours one; the lower one is in no list.
  void join(Index lower, Index upper) noexcept;
  [[nodiscard]] Index region_at(std::uint64_t offset, std::uint64_t bytes) const;

  std::byte* const data_;
  const std::uint64_t bytes_;
  mutable std::mutex mutex_;
  std::vector<Block> blocks_;
  std::vector<Index> spare_;                          // places in `blocks_` that hold no block
  std::unordered_map<std::uint64_t, Index> regions_;  // by start
  std::array<std::array<Index, steps>, levels> lists_{};
  std::array<std::uint32_t, levels> step_bits_{};  // bit s: lists_[level][s] holds something
  std::uint64_t level_bits_ = 0;                   // bit l: step_bits_[l] is not 0
  std::uint64_t free_count_ = 0;
  std::function<bool()> touched_;  // none: nothing ever is
  Index held_ = none;              // given back, and touched; a list
};

}  // namespace ringkernel
