// The counter of ticks beside the clock that it is to follow.
#include "bridge/tick_clock.hpp"
#include "support/skip.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <thread>

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
    if (!is_running(clock)) RK_SKIP_UNSUPPORTED("no counter of ticks on this processor");
  }
  TickClock clock;
};

TEST_F(RunningTickClock, StaysBesideTheSystemsClock) {
  constexpr std::uint64_t off_max_ns = 10'000;  // for looks that were interrupted; 100 as a rule
  const std::uint64_t end_ns = clock.now_ns() + 150'000'000;  // several looks
  std::uint64_t samples = 0;
  while (clock.now_ns() < end_ns) {
    const std::uint64_t before_ns = clock.now_ns();
    const std::uint64_t sample_ns = clock.sample_ns();
    const std::uint64_t after_ns = clock.now_ns();
    ASSERT_GE(sample_ns + off_max_ns, before_ns) << samples;
    ASSERT_LE(sample_ns, after_ns + off_max_ns) << samples;
    ++samples;
  }
  EXPECT_GT(samples, 100u);
}

TEST_F(RunningTickClock, IsReadByAllWhileOneLooks) {
  const std::uint64_t end_ns = clock.now_ns() + 30'000'000;
  const auto read = [&] {
    for (std::uint64_t sample_ns = 0; sample_ns < end_ns;) {
      sample_ns = clock.sample_ns();
      EXPECT_LT(sample_ns, end_ns + 3'600'000'000'000) << "base and rate of different looks";
    }
  };
  std::thread other(read);
  read();
  other.join();
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

/// A clock of which all looks are made here.
class ObservedTickClock : public ::testing::Test {
 protected:
  void pass(std::uint64_t ticks, std::uint64_t ns) {
    now_.ticks += ticks;
    now_.ns += ns;
    clock_.observe(now_);
  }
  void pass_at(std::uint64_t ns_per_billion_ticks) { pass(250'000'000, ns_per_billion_ticks / 4); }

  TickClock clock_;
  TickClock::Moment now_{1'000'000'000'000, 5'000'000'000};
};

TEST_F(ObservedTickClock, TakesARateOnWhichTwoLooksAgree) {
  pass(0, 0);
  EXPECT_FALSE(is_running(clock_));
  pass_at(400'000'000);
  EXPECT_FALSE(is_running(clock_)) << "one rate may be any";
  pass_at(400'200'000);
  ASSERT_TRUE(is_running(clock_)) << "a clock that is being adjusted";
  EXPECT_EQ(clock_.ns_of_ticks(now_.ticks), now_.ns);
  EXPECT_NEAR(static_cast<double>(clock_.ns_of_ticks(now_.ticks + 1'000'000) - now_.ns), 400'200, 1)
      << "the last rate, and not that of all times";
}

TEST_F(ObservedTickClock, KnowsNothingWhileTheRateJumps) {
  for (int i = 0; i < 3; ++i) pass_at(400'000'000);
  ASSERT_TRUE(is_running(clock_));
  pass_at(408'000'000);
  EXPECT_FALSE(is_running(clock_));
  pass_at(408'000'000);
  EXPECT_TRUE(is_running(clock_)) << "this is the rate by now";
  pass(1'000'000'000'000, 1'000);  // a rest, in which only the counter goes on
  EXPECT_FALSE(is_running(clock_));
}

TEST_F(ObservedTickClock, HasNoRateOfACounterThatGoesBackOrStands) {
  for (int i = 0; i < 3; ++i) pass_at(400'000'000);
  for (const std::uint64_t ticks : {~std::uint64_t{1'000'000}, std::uint64_t{0}}) {
    for (int i = 0; i < 3; ++i) {
      pass(ticks, 1'000'000);
      EXPECT_FALSE(is_running(clock_)) << ticks;
    }
  }
}

TEST(TickClock, IsTheSystemsClockWithoutACounter) {
  for (const std::string& source : {std::string(nowhere), source_named("kvm-clock")}) {
    TickClock clock;
    clock.start(source.c_str());
    EXPECT_FALSE(is_running(clock)) << source;
    const std::uint64_t before_ns = clock.now_ns();
    const std::uint64_t sample_ns = clock.sample_ns();
    EXPECT_LE(before_ns, sample_ns);
    EXPECT_LE(sample_ns, clock.now_ns());
  }
}

}  // namespace
}  // namespace ringkernel::bridge
