#include "ring/geometry.hpp"

#include <gtest/gtest.h>

#include "ringkernel/limits.hpp"

namespace ringkernel {
namespace {

constexpr std::uint64_t arena_bytes = 1 << 20;

TEST(RingGeometry, CountsBothLinesAndTheData) { EXPECT_EQ(ring_bytes(4096), 256U + 4096U); }

TEST(RingGeometry, RoundsRecordsUpToTheirAlignment) {
  EXPECT_EQ(record_bytes(0), 64U);
  EXPECT_EQ(record_bytes(1), 128U);
  EXPECT_EQ(record_bytes(64), 128U);
  EXPECT_EQ(record_bytes(65), 192U);
  EXPECT_EQ(record_bytes(0xffffffffU), (std::uint64_t{1} << 32) + 64) << "no 32-bit overflow";
}

TEST(RingGeometry, AcceptsPowersOfTwoWithinTheLimits) {
  EXPECT_TRUE(RingView::validate(0, ring_bytes_min, arena_bytes).has_value());
  EXPECT_TRUE(RingView::validate(128, 65536, arena_bytes).has_value());
  EXPECT_TRUE(RingView::validate(0, ring_bytes_max, ring_bytes(ring_bytes_max)).has_value());
}

TEST(RingGeometry, RefusesOtherCapacities) {
  const std::uint64_t refused[] = {0,
                                   1,
                                   2048,
                                   4095,
                                   4097,
                                   12288,
                                   std::uint64_t{1} << 31,
                                   std::uint64_t{1} << 63,
                                   ~std::uint64_t{0}};
  for (const std::uint64_t capacity : refused) {
    const auto result = RingView::validate(0, capacity, ~std::uint64_t{0});
    ASSERT_FALSE(result.has_value()) << capacity;
    EXPECT_TRUE(result.error() == Errc::invalid_argument) << capacity;
    EXPECT_NE(result.error().detail.find(std::to_string(capacity)), std::string::npos);
  }
}

TEST(RingGeometry, RefusesOffsetsThatSplitALine) {
  for (const std::uint64_t offset : {1U, 64U, 127U, 129U}) {
    const auto result = RingView::validate(offset, 4096, arena_bytes);
    ASSERT_FALSE(result.has_value()) << offset;
    EXPECT_TRUE(result.error() == Errc::invalid_argument) << offset;
  }
}

TEST(RingGeometry, AcceptsARingThatEndsWithTheArenaAndNothingBeyond) {
  const std::uint64_t bytes = ring_bytes(4096);
  EXPECT_TRUE(RingView::validate(1280, 4096, 1280 + bytes).has_value());
  for (const auto& [offset, arena] :
       {std::pair{std::uint64_t{1280}, 1280 + bytes - 1}, std::pair{std::uint64_t{0}, bytes - 1},
        std::pair{std::uint64_t{1} << 40, bytes}, std::pair{~std::uint64_t{127}, bytes}}) {
    const auto result = RingView::validate(offset, 4096, arena);
    ASSERT_FALSE(result.has_value()) << offset;
    EXPECT_TRUE(result.error() == Errc::out_of_bounds) << offset;
  }
}

TEST(RingGeometry, PlacesTheDataBehindTheLines) {
  alignas(RK_LINE_BYTES) static std::byte arena[8192];
  const RingView ring = RingView::at(arena, 128, 4096);
  EXPECT_EQ(reinterpret_cast<std::byte*>(ring.lines), arena + 128);
  EXPECT_EQ(ring.data, arena + 128 + 256);
  EXPECT_EQ(ring.capacity, 4096U);
  EXPECT_EQ(reinterpret_cast<std::byte*>(ring.record(4096 + 192)), ring.data + 192);
}

TEST(RingGeometry, FitsRecordsUpToHalfTheCapacity) {
  const RingView ring{.lines = nullptr, .data = nullptr, .capacity = 4096};
  EXPECT_TRUE(ring.fits(0));
  EXPECT_TRUE(ring.fits(2048 - 64));
  EXPECT_FALSE(ring.fits(2048 - 63));
  EXPECT_FALSE(ring.fits(0xffffffffU));
  EXPECT_FALSE(ring.fits(~std::uint64_t{0})) << "no 64-bit overflow";
}

}  // namespace
}  // namespace ringkernel
