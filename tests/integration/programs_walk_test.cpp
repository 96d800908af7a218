// The walk through docs/PROGRAMS.md, of the very code that stands there.
#include "walk/service.hpp"

#include <gtest/gtest.h>

namespace ringkernel::test {
namespace {

TEST(ProgramsWalk, EndsWithWhatItSays) {
  const auto revenue = sell_one();
  ASSERT_TRUE(revenue) << revenue.error().text();
  EXPECT_EQ(*revenue, 10.0f);
}

}  // namespace
}  // namespace ringkernel::test
