#include "runtime/memory/arena.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t granule = Arena::granule_bytes;
constexpr Arena::Placement anywhere{.alignment = granule};
constexpr Arena::Placement high{.alignment = granule, .end = Arena::End::high};

// But for `raise` the allocator never touches the memory itself.
Arena arena_of(std::uint64_t granules) { return {nullptr, granules * granule}; }

TEST(Arena, GivesAlignedRegionsThatDoNotOverlap) {
  Arena arena = arena_of(10);
  const std::uint64_t first = arena.allocate(1, anywhere).value();
  const std::uint64_t second = arena.allocate(granule + 1, anywhere).value();
  const std::uint64_t third = arena.allocate(granule, anywhere).value();
  EXPECT_EQ(first, 0u);
  EXPECT_EQ(second, granule);
  EXPECT_EQ(third, 3 * granule);
  EXPECT_EQ(arena.free_bytes(), 6 * granule);
}

TEST(Arena, AlignsToTwoGranulesUnlessAskedOtherwise) {
  Arena arena = arena_of(8);
  ASSERT_EQ(arena.allocate(granule, anywhere).value(), 0u);
  EXPECT_EQ(arena.allocate(granule).value(), 2 * granule);
  // What was left out for the alignment is not lost.
  EXPECT_EQ(arena.allocate(granule, anywhere).value(), granule);
  EXPECT_EQ(arena.allocate(granule, {.alignment = 256}).value(), 4 * granule);
}

TEST(Arena, HoldsWhatIsGivenBackWhileItIsTouched) {
  bool is_touched = false;
  Arena arena = arena_of(8);
  arena.hold_while([&] { return is_touched; });
  const std::uint64_t first = arena.allocate(2 * granule, anywhere).value();
  const std::uint64_t second = arena.allocate(3 * granule, anywhere).value();
  const std::uint64_t third = arena.allocate(3 * granule, anywhere).value();
  is_touched = true;
  arena.free(second, 3 * granule);
  arena.free(first, 2 * granule);
  EXPECT_EQ(arena.free_bytes(), 0u);
  EXPECT_TRUE(arena.allocate(granule, anywhere).has_error());
  is_touched = false;
  EXPECT_EQ(arena.allocate(5 * granule, anywhere).value(), 0u);
  // What comes next gives back what is held, too.
  is_touched = true;
  arena.free(first, 5 * granule);
  is_touched = false;
  arena.free(third, 3 * granule);
  EXPECT_EQ(arena.largest_free_bytes(), 8 * granule);
}

TEST(Arena, TakesTheHighEndOfABlockWhenAsked) {
  Arena arena = arena_of(8);
  EXPECT_EQ(arena.allocate(granule, high).value(), 7 * granule);
  EXPECT_EQ(arena.allocate(2 * granule, high).value(), 5 * granule);
  EXPECT_EQ(arena.allocate(granule, {.end = Arena::End::high}).value(), 4 * granule);
  EXPECT_EQ(arena.allocate(granule).value(), 0u);
}

TEST(Arena, FindsABlockOfExactlyTheSizeAmongManyOfItsClass) {
  // 100 and 101 granules are of one class; only one of the blocks has room for 101.
  Arena arena = arena_of(4 * 102);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> regions;
  for (const std::uint64_t granules : {100u, 101u, 100u}) {
    regions.emplace_back(arena.allocate(granules * granule, anywhere).value(), granules * granule);
    ASSERT_TRUE(arena.allocate(granule, anywhere));
  }
  const std::uint64_t rest = arena.free_bytes();
  ASSERT_TRUE(arena.allocate(rest, anywhere));
  for (const auto& [offset, bytes] : regions) arena.free(offset, bytes);
  EXPECT_EQ(arena.largest_free_bytes(), 101 * granule);
  EXPECT_EQ(arena.allocate(101 * granule, anywhere).value(), regions[1].first);
  EXPECT_TRUE(arena.allocate(101 * granule, anywhere).has_error());
}

TEST(Arena, LeavesOutABrokenGranuleAtTheEnd) {
  Arena arena(nullptr, 3 * granule - 1);
  EXPECT_EQ(arena.bytes(), 2 * granule);
  EXPECT_TRUE(arena.allocate(2 * granule));
}

TEST(Arena, AnswersE6004WithWhatIsFree) {
  Arena arena = arena_of(4);
  ASSERT_TRUE(arena.allocate(granule, anywhere));
  for (const std::uint64_t bytes : {4 * granule, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    const auto region = arena.allocate(bytes);
    ASSERT_TRUE(region.has_error()) << bytes;
    EXPECT_EQ(region.error(), Errc::allocation_failure);
    EXPECT_THAT(region.error().text(), HasSubstr("E6004"));
    EXPECT_THAT(region.error().detail, HasSubstr(std::to_string(3 * granule)));
  }
  EXPECT_EQ(arena.free_bytes(), 3 * granule);
}

TEST(Arena, MergesARegionWithItsNeighboursOnBothSides) {
  Arena arena = arena_of(3);
  const std::uint64_t left = arena.allocate(granule, anywhere).value();
  const std::uint64_t middle = arena.allocate(granule, anywhere).value();
  const std::uint64_t right = arena.allocate(granule, anywhere).value();
  EXPECT_EQ(arena.largest_free_bytes(), 0u);
  arena.free(left, granule);
  arena.free(right, granule);
  EXPECT_EQ(arena.largest_free_bytes(), granule);
  EXPECT_TRUE(arena.allocate(2 * granule, anywhere).has_error());
  EXPECT_EQ(arena.usage().fragmentation_score(), 0.5);
  arena.free(middle, granule);
  EXPECT_EQ(arena.largest_free_bytes(), 3 * granule);
  EXPECT_EQ(arena.usage().fragmentation_score(), 0);
}

TEST(Arena, TakesTheSmallestRegionThatFits) {
  Arena arena = arena_of(10);
  const std::uint64_t large = arena.allocate(5 * granule, anywhere).value();
  ASSERT_TRUE(arena.allocate(granule, anywhere));
  const std::uint64_t small = arena.allocate(2 * granule, anywhere).value();
  ASSERT_TRUE(arena.allocate(granule, anywhere));
  arena.free(large, 5 * granule);
  arena.free(small, 2 * granule);
  EXPECT_EQ(arena.allocate(2 * granule, anywhere).value(), small);
}

TEST(Arena, RaisingAllRegionsFromTheTopLeavesOneFreeBlock) {
  std::vector<std::byte> memory(100 * granule);
  Arena arena(memory.data(), memory.size());
  std::vector<std::uint64_t> regions;
  for (int i = 0; i < 20; ++i) regions.push_back(arena.allocate(5 * granule, high).value());
  std::vector<std::pair<std::uint64_t, std::byte>> kept;  // from the top; what lies in them
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (i % 3 == 0) {
      arena.free(regions[i], 5 * granule);
      continue;
    }
    kept.emplace_back(regions[i], static_cast<std::byte>(i));
    std::fill_n(memory.begin() + static_cast<std::ptrdiff_t>(regions[i]), 5 * granule,
                kept.back().second);
  }
  EXPECT_GT(arena.usage().fragmentation_score(), 0.5);
  for (auto& [offset, value] : kept) offset = arena.raise(offset, 5 * granule);
  EXPECT_EQ(arena.usage().fragmentation_score(), 0);
  EXPECT_EQ(kept.front().first, 95 * granule);
  for (const auto& [offset, value] : kept)
    for (std::uint64_t byte = 0; byte < 5 * granule; ++byte)
      ASSERT_EQ(memory[offset + byte], value);
}

TEST(Arena, RaisingFillsAHoleBehindWhatCannotMove) {
  std::vector<std::byte> memory(20 * granule);
  Arena arena(memory.data(), memory.size());
  const std::uint64_t hole = arena.allocate(2 * granule, high).value();
  ASSERT_TRUE(arena.allocate(granule, high));  // stays
  const std::uint64_t region = arena.allocate(2 * granule, high).value();
  arena.free(hole, 2 * granule);
  EXPECT_EQ(arena.raise(region, 2 * granule), hole);
  EXPECT_EQ(arena.usage().fragmentation_score(), 0);
}

TEST(Arena, RaisingDoesNotSpendTheLargestBlock) {
  std::vector<std::byte> memory(20 * granule);
  Arena arena(memory.data(), memory.size());
  const std::uint64_t largest = arena.allocate(12 * granule, high).value();
  ASSERT_TRUE(arena.allocate(granule, high));  // stays
  const std::uint64_t region = arena.allocate(2 * granule, high).value();
  arena.free(largest, 12 * granule);
  EXPECT_EQ(arena.raise(region, 2 * granule), region);
  EXPECT_EQ(arena.largest_free_bytes(), 12 * granule);
}

/// What an arena must be like: regions by offset, nothing else.
struct Model {
  struct Region {
    std::uint64_t count;  // granules
    std::byte value;      // of each of its bytes
  };
  std::uint64_t count;
  std::map<std::uint64_t, Region> regions;

  /// Calls `visit(start, count)` for each gap between the regions.
  void for_each_gap(auto&& visit) const {
    std::uint64_t start = 0;
    for (const auto& [region, what] : regions) {
      if (region > start) visit(start, region - start);
      start = region + what.count;
    }
    if (count > start) visit(start, count - start);
  }
  [[nodiscard]] bool has_room(std::uint64_t granules, std::uint64_t alignment) const {
    bool found = false;
    for_each_gap([&](std::uint64_t start, std::uint64_t gap) {
      const std::uint64_t aligned = (start + alignment - 1) / alignment * alignment;
      found |= aligned + granules <= start + gap;
    });
    return found;
  }
  void expect_same(const Arena& arena) const {
    std::uint64_t free = 0;
    std::uint64_t largest = 0;
    for_each_gap([&](std::uint64_t, std::uint64_t gap) {
      free += gap;
      largest = std::max(largest, gap);
    });
    ASSERT_EQ(arena.free_bytes(), free * granule);
    ASSERT_EQ(arena.largest_free_bytes(), largest * granule);
  }
};

TEST(Arena, AgreesWithASimpleModelWhateverIsAskedOfIt) {
  std::mt19937_64 random(20261121);
  constexpr std::uint64_t granules = 3000;
  std::vector<std::byte> memory(granules * granule);
  Arena arena(memory.data(), memory.size());
  Model model{granules, {}};
  const auto fill = [&](std::uint64_t start, const Model::Region& region) {
    std::fill_n(memory.begin() + static_cast<std::ptrdiff_t>(start * granule),
                region.count * granule, region.value);
  };
  const auto any_region = [&] {
    auto region = model.regions.begin();
    std::advance(region, random() % model.regions.size());
    return region;
  };
  for (int step = 0; step < 20'000; ++step) {
    SCOPED_TRACE(step);
    const std::uint64_t action = random() % 10;
    if (action < 5) {
      const std::uint64_t count = 1 + random() % (random() % 8 == 0 ? 600 : 40);
      const std::uint64_t alignment = std::uint64_t{1} << random() % 4;
      const Arena::End end = random() % 2 == 0 ? Arena::End::low : Arena::End::high;
      const auto offset = arena.allocate(count * granule - random() % granule,
                                         {.alignment = alignment * granule, .end = end});
      ASSERT_EQ(offset.has_value(), model.has_room(count, alignment));
      if (!offset) continue;
      const std::uint64_t start = *offset / granule;
      ASSERT_EQ(*offset % (alignment * granule), 0u);
      const auto next = model.regions.lower_bound(start);
      ASSERT_LE(start + count, next == model.regions.end() ? granules : next->first);
      if (next != model.regions.begin()) {
        ASSERT_LE(std::prev(next)->first + std::prev(next)->second.count, start);
      }
      fill(start, model.regions[start] = {count, static_cast<std::byte>(random())});
    } else if (action < 9 && !model.regions.empty()) {
      const auto region = any_region();
      arena.free(region->first * granule, region->second.count * granule);
      model.regions.erase(region);
    } else if (!model.regions.empty()) {
      const std::uint64_t largest = arena.largest_free_bytes();
      const auto region = any_region();
      const Model::Region what = region->second;
      const std::uint64_t start =
          arena.raise(region->first * granule, what.count * granule) / granule;
      ASSERT_GE(start, region->first);
      ASSERT_GE(arena.largest_free_bytes(), largest);
      model.regions.erase(region);
      ASSERT_TRUE(model.regions.emplace(start, what).second);
    }
    model.expect_same(arena);
  }
  for (const auto& [start, region] : model.regions)
    for (std::uint64_t byte = 0; byte < region.count * granule; ++byte)
      ASSERT_EQ(memory[start * granule + byte], region.value) << "region at " << start;
  for (const auto& [start, region] : model.regions)
    arena.free(start * granule, region.count * granule);
  EXPECT_EQ(arena.largest_free_bytes(), arena.bytes());
}

TEST(ArenaDeathTest, ARegionFreedTwiceStopsTheProcess) {
  Arena arena = arena_of(4);
  const std::uint64_t region = arena.allocate(granule).value();
  arena.free(region, granule);
  EXPECT_DEATH(arena.free(region, granule), "freed twice");
}

}  // namespace
}  // namespace ringkernel::test
