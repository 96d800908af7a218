// The counter of ticks beside the clock that it is to follow.
#include "bridge/tick_clock.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace ringkernel::bridge {
namespace {

constexpr const char* nowhere = "/nonexistent/clock";

/// A file that says which clock the system counts by.
std::string source_named(const std::string& name) {
  std::string path = ::testing::TempDir() + "clock_source_" + name;
  std::ofstream(path) << name << '\n';
  return path;
}

bool is_running(const TickClock& clock) {
  return clock.ns_of_ticks(std::uint64_t{1} << 62) != 0;  // 0: nobody knows
}

class RunningTickClock : public ::testing::Test {
 protected:
  void SetUp() override {
    clock.start(source_named("tsc").c_str());
    if (!is_running(clock)) GTEST_SKIP() << "no counter of ticks on this processor";
  }
  TickClock clock;
};

TEST_F(RunningTickClock, StaysBesideTheSystemsClock) {
  constexpr std::uint64_t off_max_ns = 20'000;  // of 10 ms, the first rate included
  const std::uint64_t end_ns = clock.now_ns() + 10'000'000;
  std::uint64_t looks = 0;
  while (clock.now_ns() < end_ns) {
    const std::uint64_t before_ns = clock.now_ns();
    const std::uint64_t sample_ns = clock.sample_ns();
    const std::uint64_t after_ns = clock.now_ns();
    EXPECT_GE(sample_ns + off_max_ns, before_ns);
    EXPECT_LE(sample_ns, after_ns + off_max_ns);
    if (++looks % 100 == 0) clock.refresh();
  }
  EXPECT_GT(looks, 100u);
}

TEST_F(RunningTickClock, KnowsWhenADeviceReadItsTicks) {
#if defined(__x86_64__)
  constexpr std::uint64_t off_max_ns = 20'000;
  const std::uint64_t before_ns = clock.now_ns();
  const std::uint64_t ticks = __builtin_ia32_rdtsc();
  const std::uint64_t after_ns = clock.now_ns();
  EXPECT_GE(clock.ns_of_ticks(ticks) + off_max_ns, before_ns);
  EXPECT_LE(clock.ns_of_ticks(ticks), after_ns + off_max_ns);
#endif
  for (const std::uint64_t nonsense : {std::uint64_t{1}, ~std::uint64_t{0}})
    (void)clock.ns_of_ticks(nonsense);  // whatever it is, undefined it is not
}

TEST_F(RunningTickClock, GivesUpWhenTheRateChanges) {
  const std::uint64_t now_ns = clock.now_ns();
  clock.observe({.ticks = 1, .ns = now_ns});  // as after a rest, or on another machine
  EXPECT_FALSE(is_running(clock));
  const std::uint64_t before_ns = clock.now_ns();
  EXPECT_GE(clock.sample_ns(), before_ns) << "it is the system's clock from then on";
  clock.refresh();
  EXPECT_FALSE(is_running(clock)) << "for good";
}

TEST(TickClock, IsTheSystemsClockWithoutACounter) {
  for (const std::string& source : {std::string(nowhere), source_named("kvm-clock")}) {
    TickClock clock;
    clock.start(source.c_str());
    clock.refresh();
    EXPECT_FALSE(is_running(clock)) << source;
    const std::uint64_t before_ns = clock.now_ns();
    const std::uint64_t sample_ns = clock.sample_ns();
    EXPECT_LE(before_ns, sample_ns);
    EXPECT_LE(sample_ns, clock.now_ns());
  }
}

}  // namespace
}  // namespace ringkernel::bridge
