#include "backend/opencl/copy_bell.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace ringkernel::opencl {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(CopyBell, ARingEndsTheSleep) {
  CopyBell bell;
  std::thread sleeper([&] { bell.wait(0, 1h); });
  bell.ring();
  sleeper.join();
  EXPECT_EQ(bell.rings(), 1u);
}

TEST(CopyBell, ARingBetweenTheCountAndTheSleepIsNotMissed) {
  CopyBell bell;
  const std::uint64_t heard = bell.rings();
  bell.ring();
  bell.wait(heard, 1h);
}

TEST(CopyBell, WhomNobodyRingsForWakesInTime) {
  CopyBell bell;
  const auto begin = Clock::now();
  bell.wait(0, 5ms);
  EXPECT_GE(Clock::now() - begin, 5ms);
}

TEST(CopyBell, AfterARestTimeIsWatchedAgain) {
  CopyBell bell;
  CopyBell clock;
  for (int round = 0; round < 3; ++round) {
    bell.wait(0, CopyBell::watch_period);
    // Meanwhile nobody sleeps at the bell for so long that its thread goes to sleep as well.
    clock.wait(0, 5 * CopyBell::watch_period);
  }
  EXPECT_EQ(bell.rings(), 0u);
}

TEST(CopyBell, EachOfManySleepersHearsEachRing) {
  constexpr std::uint64_t rounds = 2000;
  constexpr std::size_t sleepers = 4;
  CopyBell there;
  CopyBell back;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < sleepers; ++i)
    threads.emplace_back([&] {
      for (std::uint64_t round = 0; round < rounds; ++round) {
        while (there.rings() == round) there.wait(round, 1h);
        back.ring();
      }
    });
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    there.ring();
    for (std::uint64_t heard = back.rings(); heard < round * sleepers; heard = back.rings())
      back.wait(heard, 1h);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(back.rings(), rounds * sleepers);
}

}  // namespace
}  // namespace ringkernel::opencl
