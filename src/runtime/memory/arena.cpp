#include "runtime/memory/arena.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "foundation/align.hpp"
#include "foundation/assert.hpp"
#include "ringkernel/telemetry.hpp"

namespace ringkernel {
namespace {

/// An empty region still has a place of its own.
std::uint64_t granules(std::uint64_t bytes) noexcept {
  return std::max<std::uint64_t>((bytes + Arena::granule_bytes - 1) / Arena::granule_bytes, 1);
}

}  // namespace

double Arena::Usage::fragmentation_score() const noexcept {
  return ringkernel::fragmentation_score(free_bytes, largest_free_bytes);
}

Arena::Arena(std::byte* data, std::uint64_t bytes)
    : data_(data), bytes_(bytes & ~(granule_bytes - 1)) {
  for (auto& level : lists_) level.fill(none);
  if (bytes_ == 0) return;
  reserve();
  insert(make_block({.start = 0, .count = bytes_ / granule_bytes}));
}

Result<std::uint64_t> Arena::allocate(std::uint64_t bytes, Placement placement) {
  RK_ASSERT(std::has_single_bit(placement.alignment) && placement.alignment >= granule_bytes,
            "an arena aligns to powers of two of at least a granule");
  const std::lock_guard lock(mutex_);
  let_go();
  const std::uint64_t alignment = placement.alignment / granule_bytes;
  const std::uint64_t count = bytes > bytes_ ? 0 : granules(bytes);
  const Index block = count == 0 ? none : find(count, alignment);
  if (block == none)
    return Error(Errc::allocation_failure, std::to_string(bytes) + " bytes; the arena of " +
                                               std::to_string(bytes_) + " bytes has " +
                                               std::to_string(free_count_ * granule_bytes) +
                                               " free, the largest block is " +
                                               std::to_string(largest_count() * granule_bytes));
  const Block& room = blocks_[block];
  const std::uint64_t start = placement.end == End::low
                                  ? align_up(room.start, alignment)
                                  : (room.start + room.count - count) & ~(alignment - 1);
  reserve();
  const auto region = regions_.emplace(start, none).first;  // nothing has changed if this throws
  region->second = carve(block, start, count);
  return start * granule_bytes;
}

void Arena::free(std::uint64_t offset, std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  const Index block = region_at(offset, bytes);
  regions_.erase(blocks_[block].start);
  blocks_[block].next = std::exchange(held_, block);
  let_go();
}

void Arena::let_go() noexcept {
  if (held_ == none || (touched_ && touched_())) return;
  while (held_ != none) {
    const Index block = std::exchange(held_, blocks_[held_].next);
    blocks_[block].next = none;
    (void)give_back(block);
  }
}

std::uint64_t Arena::raise(std::uint64_t offset, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const Index block = region_at(offset, bytes);
  const std::uint64_t count = blocks_[block].count;
  const Index above = blocks_[block].above;
  const Index hole = find(count, 1);
  std::uint64_t start = blocks_[block].start;
  reserve();
  const auto copy = [&] {
    std::memmove(data_ + start * granule_bytes, data_ + offset, count * granule_bytes);
  };
  if (hole != none && blocks_[hole].start > start && blocks_[hole].count < largest_count()) {
    start = blocks_[hole].start + blocks_[hole].count - count;
    copy();
    auto node = regions_.extract(blocks_[block].start);  // goes back as another one
    node.key() = start;
    node.mapped() = carve(hole, start, count);
    regions_.insert(std::move(node));
    (void)give_back(block);
  } else if (above != none && blocks_[above].is_free) {
    start += blocks_[above].count;
    copy();
    auto node = regions_.extract(blocks_[block].start);
    node.key() = start;
    node.mapped() = carve(give_back(block), start, count);
    regions_.insert(std::move(node));
  }
  return start * granule_bytes;
}

Arena::Usage Arena::usage() const {
  const std::lock_guard lock(mutex_);
  return {free_count_ * granule_bytes, largest_count() * granule_bytes};
}

// --- size classes -----------------------------------------------------------------------------

/// Up to `steps` granules each count has a class; beyond, the leading bits of the count choose it.
Arena::SizeClass Arena::class_of(std::uint64_t count) noexcept {
  if (count < steps) return {0, static_cast<std::uint32_t>(count)};
  const auto shift = static_cast<std::uint32_t>(std::bit_width(count)) - 1 - steps_log2;
  return {shift + 1, static_cast<std::uint32_t>(count >> shift) - steps};
}

Arena::Index Arena::first_at_or_above(SizeClass size) const noexcept {
  std::uint32_t level = size.level;
  std::uint32_t found = step_bits_[level] & (~0u << size.step);
  if (found == 0) {
    const std::uint64_t higher = level_bits_ & (~std::uint64_t{1} << level);
    if (higher == 0) return none;
    level = static_cast<std::uint32_t>(std::countr_zero(higher));
    found = step_bits_[level];
  }
  return lists_[level][static_cast<std::uint32_t>(std::countr_zero(found))];
}

/// A block with room for `count` granules at a multiple of `alignment`.
Arena::Index Arena::find(std::uint64_t count, std::uint64_t alignment) const noexcept {
  // Any block of this class or of a higher one has room, wherever it starts.
  std::uint64_t certain = count + alignment - 1;
  if (certain >= steps)
    certain += (std::uint64_t{1} << (std::bit_width(certain) - 1 - steps_log2)) - 1;
  const SizeClass end = class_of(certain);
  const Index block = first_at_or_above(end);
  if (block != none) return block;
  // Nothing so large is left. The few classes in between hold blocks that may have room.
  for (SizeClass size = class_of(count); size.level < end.level || size.step < end.step;) {
    for (Index each = lists_[size.level][size.step]; each != none; each = blocks_[each].next) {
      const std::uint64_t start = align_up(blocks_[each].start, alignment);
      if (start + count <= blocks_[each].start + blocks_[each].count) return each;
    }
    if (++size.step == steps) size = {size.level + 1, 0};
  }
  return none;
}

std::uint64_t Arena::largest_count() const noexcept {
  if (level_bits_ == 0) return 0;
  const auto level = static_cast<std::uint32_t>(std::bit_width(level_bits_)) - 1;
  const auto step = static_cast<std::uint32_t>(std::bit_width(step_bits_[level])) - 1;
  std::uint64_t largest = 0;
  for (Index each = lists_[level][step]; each != none; each = blocks_[each].next)
    largest = std::max(largest, blocks_[each].count);
  return largest;
}

void Arena::insert(Index block) noexcept {
  const SizeClass size = class_of(blocks_[block].count);
  Index& first = lists_[size.level][size.step];
  blocks_[block].is_free = true;
  blocks_[block].previous = none;
  blocks_[block].next = first;
  if (first != none) blocks_[first].previous = block;
  first = block;
  step_bits_[size.level] |= 1u << size.step;
  level_bits_ |= std::uint64_t{1} << size.level;
  free_count_ += blocks_[block].count;
}

void Arena::remove(Index block) noexcept {
  Block& gone = blocks_[block];
  const SizeClass size = class_of(gone.count);
  Index& first = lists_[size.level][size.step];
  (gone.previous != none ? blocks_[gone.previous].next : first) = gone.next;
  if (gone.next != none) blocks_[gone.next].previous = gone.previous;
  gone.is_free = false;
  if (first == none) step_bits_[size.level] &= ~(1u << size.step);
  if (step_bits_[size.level] == 0) level_bits_ &= ~(std::uint64_t{1} << size.level);
  free_count_ -= gone.count;
}

// --- blocks -----------------------------------------------------------------------------------

void Arena::reserve() {
  constexpr std::size_t more = 2;  // below the region and above it
  constexpr std::size_t first = 64;
  if (blocks_.capacity() - blocks_.size() + spare_.size() < more)
    blocks_.reserve(std::max(first, 2 * blocks_.capacity()));
  spare_.reserve(blocks_.capacity());  // giving a block back needs no memory
  if (regions_.bucket_count() == 1) regions_.reserve(first);
}

Arena::Index Arena::make_block(const Block& block) noexcept {
  if (spare_.empty()) {
    blocks_.push_back(block);
    return static_cast<Index>(blocks_.size() - 1);
  }
  const Index index = spare_.back();
  spare_.pop_back();
  blocks_[index] = block;
  return index;
}

/// Cuts a block, which is in no list, at `start`. Returns the upper part.
Arena::Index Arena::split(Index block, std::uint64_t start) noexcept {
  const Block whole = blocks_[block];
  const Index upper = make_block({.start = start,
                                  .count = whole.start + whole.count - start,
                                  .below = block,
                                  .above = whole.above});
  blocks_[block].count = start - whole.start;
  blocks_[block].above = upper;
  if (whole.above != none) blocks_[whole.above].below = upper;
  return upper;
}

Arena::Index Arena::carve(Index block, std::uint64_t start, std::uint64_t count) noexcept {
  remove(block);
  Index region = block;
  if (blocks_[block].start != start) {
    region = split(block, start);
    insert(block);
  }
  if (blocks_[region].count != count) insert(split(region, start + count));
  return region;
}

Arena::Index Arena::give_back(Index block) noexcept {
  const Index above = blocks_[block].above;
  if (above != none && blocks_[above].is_free) join(block, above);
  const Index below = blocks_[block].below;
  if (below != none && blocks_[below].is_free) {
    remove(below);
    join(below, block);
    block = below;
  }
  insert(block);
  return block;
}

void Arena::join(Index lower, Index upper) noexcept {
  if (blocks_[upper].is_free) remove(upper);
  blocks_[lower].count += blocks_[upper].count;
  blocks_[lower].above = blocks_[upper].above;
  if (blocks_[lower].above != none) blocks_[blocks_[lower].above].below = lower;
  spare_.push_back(upper);
}

Arena::Index Arena::region_at(std::uint64_t offset, std::uint64_t bytes) const {
  const auto found = regions_.find(offset / granule_bytes);
  RK_ASSERT(found != regions_.end(), "region freed twice");
  RK_ASSERT(blocks_[found->second].count == granules(bytes), "a region has another length");
  return found->second;
}

}  // namespace ringkernel
