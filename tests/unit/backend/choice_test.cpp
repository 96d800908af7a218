// What is remembered of a self-test, and for how long.
#include <gtest/gtest.h>

#include "backend/opencl/self_test/choice.hpp"

namespace ringkernel::opencl {
namespace {

constexpr int64_t now_s = 1'800'000'000;
constexpr int64_t day_s = int64_t{24} * 60 * 60;

Choice choice(int64_t tested_s, std::string steps_down) {
  Choice made;
  made.transfer = RK_TRANSFER_DMA;
  made.figures = {.polls_per_ms = 123, .ping_p50_ns = 456};
  made.has_host_threads = true;
  made.tested_s = tested_s;
  made.steps_down = std::move(steps_down);
  return made;
}

TEST(RememberedChoice, ComesBackAsItWas) {
  const std::string steps = "zero_copy: it was\nof no use\n";
  const auto back = from_record(to_record(choice(now_s - 1, steps)), now_s);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->transfer, RK_TRANSFER_DMA);
  EXPECT_EQ(back->figures.polls_per_ms, 123u);
  EXPECT_EQ(back->figures.ping_p50_ns, 456u);
  EXPECT_TRUE(back->has_host_threads);
  EXPECT_TRUE(back->is_remembered);
  EXPECT_EQ(back->steps_down, steps);
}

TEST(RememberedChoice, OneThatSteppedDownIsBelievedForADay) {
  EXPECT_TRUE(from_record(to_record(choice(now_s - day_s + 1, "zero_copy: no\n")), now_s));
  EXPECT_FALSE(from_record(to_record(choice(now_s - day_s, "zero_copy: no\n")), now_s));
  EXPECT_FALSE(from_record(to_record(choice(now_s + 1, "zero_copy: no\n")), now_s)) << "future";
  EXPECT_TRUE(from_record(to_record(choice(now_s - 100 * day_s, "")), now_s));
}

TEST(RememberedChoice, IsNothingElse) {
  const std::string good = to_record(choice(now_s, ""));
  ASSERT_TRUE(from_record(good, now_s));
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(from_record(std::string_view(good).substr(0, length), now_s)) << length;
  EXPECT_FALSE(from_record("choice 0 1 1 1 1\n", now_s)) << "no strategy";
  EXPECT_FALSE(from_record("choice 4 1 1 1 1\n", now_s)) << "an unknown one";
  EXPECT_FALSE(from_record("choice 1 1 x 1 1\n", now_s));
  EXPECT_FALSE(from_record("chance 1 1 1 1 1\n", now_s));
}

}  // namespace
}  // namespace ringkernel::opencl
