#include "runtime/arena.hpp"

#include <gmock/gmock.h>

#include <random>
#include <utility>
#include <vector>

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t granule = Arena::granule_bytes;

// The allocator never touches the memory itself.
Arena arena_of(std::uint64_t granules) { return {nullptr, granules * granule}; }

TEST(Arena, GivesAlignedRegionsThatDoNotOverlap) {
  Arena arena = arena_of(10);
  const std::uint64_t first = arena.allocate(1).value();
  const std::uint64_t second = arena.allocate(granule + 1).value();
  const std::uint64_t third = arena.allocate(granule).value();
  EXPECT_EQ(first, 0u);
  EXPECT_EQ(second, granule);
  EXPECT_EQ(third, 3 * granule);
  EXPECT_EQ(arena.free_bytes(), 6 * granule);
}

TEST(Arena, LeavesOutABrokenGranuleAtTheEnd) {
  Arena arena(nullptr, 3 * granule - 1);
  EXPECT_EQ(arena.bytes(), 2 * granule);
  EXPECT_TRUE(arena.allocate(2 * granule));
}

TEST(Arena, AnswersE6004WithWhatIsFree) {
  Arena arena = arena_of(4);
  ASSERT_TRUE(arena.allocate(granule));
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
  const std::uint64_t left = arena.allocate(granule).value();
  const std::uint64_t middle = arena.allocate(granule).value();
  const std::uint64_t right = arena.allocate(granule).value();
  EXPECT_EQ(arena.largest_free_bytes(), 0u);
  arena.free(left, granule);
  arena.free(right, granule);
  EXPECT_EQ(arena.largest_free_bytes(), granule);
  EXPECT_TRUE(arena.allocate(2 * granule).has_error());
  arena.free(middle, granule);
  EXPECT_EQ(arena.largest_free_bytes(), 3 * granule);
}

TEST(Arena, TakesTheSmallestRegionThatFits) {
  Arena arena = arena_of(10);
  const std::uint64_t large = arena.allocate(5 * granule).value();
  ASSERT_TRUE(arena.allocate(granule));
  const std::uint64_t small = arena.allocate(2 * granule).value();
  ASSERT_TRUE(arena.allocate(granule));
  arena.free(large, 5 * granule);
  arena.free(small, 2 * granule);
  EXPECT_EQ(arena.allocate(2 * granule).value(), small);
}

TEST(Arena, AnyOrderOfFreesGivesEverythingBack) {
  std::mt19937 random(1);
  Arena arena = arena_of(1000);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> regions;
  for (int step = 0; step < 5000; ++step) {
    const std::uint64_t bytes = 1 + random() % (20 * granule);
    if (random() % 2 == 0) {
      if (const auto offset = arena.allocate(bytes)) regions.emplace_back(*offset, bytes);
    } else if (!regions.empty()) {
      std::swap(regions[random() % regions.size()], regions.back());
      arena.free(regions.back().first, regions.back().second);
      regions.pop_back();
    }
  }
  for (const auto& [offset, bytes] : regions) arena.free(offset, bytes);
  EXPECT_EQ(arena.free_bytes(), arena.bytes());
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
