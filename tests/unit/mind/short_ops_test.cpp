#include "mind/short_ops.hpp"

#include <gtest/gtest.h>

namespace ringkernel::mind {
namespace {

using namespace std::chrono_literals;

/// Ops until the next one is expected to be short.
std::uint32_t pause_of(ShortOps& ops) {
  std::uint32_t pause = 0;
  while (!ops.expects_one()) ++pause;
  return pause;
}

TEST(ShortOps, PauseAfterALongOneAndLongerAfterEachFurtherOne) {
  ShortOps ops;
  EXPECT_EQ(pause_of(ops), 0u);
  ops.note(ShortOps::most);
  EXPECT_EQ(pause_of(ops), 0u);
  for (std::uint32_t pause = ShortOps::pause_min; pause <= ShortOps::pause_max; pause *= 2) {
    ops.note(ShortOps::most + 1ns);
    EXPECT_EQ(pause_of(ops), pause);
  }
  ops.note(1s);
  EXPECT_EQ(pause_of(ops), ShortOps::pause_max);
  ops.note(1us);
  ops.note(1s);
  EXPECT_EQ(pause_of(ops), ShortOps::pause_min) << "a short one ends it";
}

}  // namespace
}  // namespace ringkernel::mind
