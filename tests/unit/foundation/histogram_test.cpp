// A histogram's buckets hold what falls between their bounds, and its counts add up.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "foundation/histogram.hpp"

namespace ringkernel {
namespace {

std::uint64_t counts_of(const Histogram& histogram) {
  std::uint64_t all = 0;
  histogram.visit([&](std::uint32_t, std::uint64_t count) { all += count; });
  return all;
}

TEST(Histogram, BucketsFollowEachOtherWithoutAGap) {
  for (std::uint32_t bucket = 0; bucket + 1 < Histogram::buckets; ++bucket) {
    const std::uint64_t longest = Histogram::longest_of(bucket);
    ASSERT_EQ(Histogram::bucket_of(longest), bucket);
    ASSERT_EQ(Histogram::bucket_of(longest + 1), bucket + 1);
  }
}

TEST(Histogram, KnowsADurationToLessThanAHundredth) {
  for (std::uint32_t bucket = 1; bucket < Histogram::buckets; ++bucket) {
    const double shortest = static_cast<double>(Histogram::longest_of(bucket - 1) + 1);
    const double longest = static_cast<double>(Histogram::longest_of(bucket));
    ASSERT_LT(longest - shortest, shortest / 100) << bucket;
  }
  EXPECT_EQ(Histogram::longest_of(255), 255u) << "exact where it is short";
  constexpr std::uint64_t hour_ns = 3'600'000'000'000;
  EXPECT_LT(Histogram::bucket_of(hour_ns), Histogram::buckets - 1);
  EXPECT_EQ(Histogram::bucket_of(2 * hour_ns), Histogram::buckets - 1);
}

TEST(Histogram, LosesNothingOfSeveralThreads) {
  const auto histogram = std::make_unique<Histogram>();
  constexpr std::uint64_t rounds = 20'000;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (std::uint64_t i = 0; i < rounds; ++i) histogram->record(i);
      });
    const auto copy = std::make_unique<Histogram>();
    std::uint64_t seen = 0;
    for (int look = 0; look < 100; ++look) {
      copy->assign(*histogram);
      EXPECT_GE(counts_of(*copy), seen);
      seen = counts_of(*copy);
    }
  }
  EXPECT_EQ(counts_of(*histogram), 4 * rounds);
  EXPECT_EQ(histogram->sum_ns(), 4 * (rounds * (rounds - 1) / 2));
}

TEST(Histogram, RecordsAloneAsItDoesBesideOthers) {
  const auto alone = std::make_unique<Histogram>();
  const auto beside = std::make_unique<Histogram>();
  for (std::uint64_t ns = 0; ns < std::uint64_t{1} << 43; ns = ns * 3 / 2 + 1) {
    alone->record_alone(ns);
    beside->record(ns);
  }
  EXPECT_EQ(std::memcmp(alone.get(), beside.get(), sizeof(Histogram)), 0);
  EXPECT_GT(counts_of(*alone), 50u);
}

TEST(Histogram, IsAssignedAndCleared) {
  const auto one = std::make_unique<Histogram>();
  const auto other = std::make_unique<Histogram>();
  one->record(7);
  one->record(1'000'000);
  other->record(3);  // goes with the assignment
  other->assign(*one);
  EXPECT_EQ(counts_of(*other), 2u);
  EXPECT_EQ(other->count(7), 1u);
  EXPECT_EQ(other->count(3), 0u);
  EXPECT_EQ(other->sum_ns(), 1'000'007u);
  other->clear();
  EXPECT_EQ(counts_of(*other), 0u);
  EXPECT_EQ(other->sum_ns(), 0u);
  EXPECT_EQ(counts_of(*one), 2u);
}

}  // namespace
}  // namespace ringkernel
