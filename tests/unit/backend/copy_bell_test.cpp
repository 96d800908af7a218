#include "backend/opencl/copy_bell.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace ringkernel::opencl {
namespace {

TEST(CopyBell, ARingBetweenTheCountAndTheSleepIsNotMissed) {
  CopyBell bell;
  const std::uint64_t heard = bell.rings();
  bell.ring();
  bell.wait(heard);
  EXPECT_EQ(bell.rings(), heard + 1);
}

/// Each wait ends, also behind a rest in which nobody slept and the bell's thread did.
TEST(CopyBell, WhomNobodyRingsForWakesByHimself) {
  CopyBell bell;
  CopyBell other;
  for (int round = 0; round < 5; ++round) {
    bell.wait(0);
    for (int rest = 0; rest < 5; ++rest) other.wait(0);
  }
  EXPECT_EQ(bell.rings(), 0u);
}

/// None of them is helped by the watch.
TEST(CopyBell, EachOfManySleepersHearsEachRing) {
  constexpr std::uint64_t rounds = 2000;
  constexpr std::size_t sleepers = 4;
  CopyBell there(std::chrono::hours(1));
  CopyBell back(std::chrono::hours(1));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < sleepers; ++i)
    threads.emplace_back([&] {
      for (std::uint64_t round = 0; round < rounds; ++round) {
        while (there.rings() == round) there.wait(round);
        back.ring();
      }
    });
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    there.ring();
    for (std::uint64_t heard = back.rings(); heard < round * sleepers; heard = back.rings())
      back.wait(heard);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(back.rings(), rounds * sleepers);
}

}  // namespace
}  // namespace ringkernel::opencl
