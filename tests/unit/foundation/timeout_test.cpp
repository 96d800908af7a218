#include "foundation/timeout.hpp"

#include <gtest/gtest.h>

namespace ringkernel {
namespace {

using std::chrono::nanoseconds;

TEST(Timeout, IsWhatTheCallerSaidWithinBounds) {
  EXPECT_EQ(bounded_ns(nanoseconds(0)), 0u);
  EXPECT_EQ(bounded_ns(nanoseconds(1)), 1u);
  EXPECT_EQ(bounded_ns(std::chrono::hours(24 * 365 * 100)), 3'153'600'000'000'000'000u);
  EXPECT_EQ(bounded_ns(nanoseconds(-1)), 0u);
  EXPECT_EQ(bounded_ns(nanoseconds::min()), 0u);
}

TEST(Timeout, CanBeAddedToAClock) {
  const std::uint64_t longest = bounded_ns(nanoseconds::max());
  const std::uint64_t century = bounded_ns(std::chrono::hours(24 * 365 * 100));
  EXPECT_GT(longest, century);
  EXPECT_LT(longest + century, static_cast<std::uint64_t>(nanoseconds::max().count()));
}

}  // namespace
}  // namespace ringkernel
