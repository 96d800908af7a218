// The walk through docs/PROGRAMS.md, of the very code that stands there.
#include "walk/service.hpp"

#include <gtest/gtest.h>

#include "support/environment.hpp"
#include "support/registry.hpp"

namespace ringkernel::test {
namespace {

TEST(ProgramsWalk, EndsWithWhatItSays) {
  const testing::Variable backend("RINGKERNEL_BACKEND", host_backend());
  const auto revenue = sell_one();
  ASSERT_TRUE(revenue) << revenue.error().text();
  EXPECT_EQ(*revenue, 10.0f);
}

}  // namespace
}  // namespace ringkernel::test
