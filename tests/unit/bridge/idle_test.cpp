#include "bridge/idle.hpp"

#include <gtest/gtest.h>

namespace ringkernel::bridge::test {
namespace {

TEST(IdleStrategy, SpinsThenYieldsThenSleepsLongerAndLonger) {
  IdleStrategy idle({.spins_max = 2, .yields_max = 3, .sleep_min_ns = 10, .sleep_max_ns = 50});
  for (int turn = 0; turn < 5; ++turn) EXPECT_EQ(idle.idle(), 0u) << turn;
  EXPECT_EQ(idle.idle(), 10u);
  EXPECT_EQ(idle.idle(), 20u);
  EXPECT_EQ(idle.idle(), 40u);
  EXPECT_EQ(idle.idle(), 50u);
  EXPECT_EQ(idle.idle(), 50u);
}

TEST(IdleStrategy, WorkBeginsItAnew) {
  IdleStrategy idle({.spins_max = 1, .yields_max = 0, .sleep_min_ns = 10, .sleep_max_ns = 50});
  EXPECT_EQ(idle.idle(), 0u);
  EXPECT_EQ(idle.idle(), 10u);
  EXPECT_EQ(idle.idle(), 20u);
  idle.reset();
  EXPECT_EQ(idle.idle(), 0u);
  EXPECT_EQ(idle.idle(), 10u);
}

}  // namespace
}  // namespace ringkernel::bridge::test
