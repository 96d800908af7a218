// Slices one after the other, on the worker's thread or on the caller's.
#include "foundation/slice_worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>
#include <vector>

namespace ringkernel {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t long_wait_ns = 60s / 1ns;

TEST(SliceWorker, RunsOnTheThreadOfTheCaller) {
  std::thread::id ran_on;
  std::uint32_t number = 0;
  SliceWorker worker([&](std::uint32_t slice) {
    ran_on = std::this_thread::get_id();
    number = slice;
  });
  ASSERT_TRUE(worker.run(7));
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  EXPECT_EQ(number, 7u);
}

TEST(SliceWorker, RunsOnItsOwnThreadInTheOrderOfTheLaunches) {
  std::vector<std::uint32_t> slices;
  std::thread::id ran_on;
  SliceWorker worker([&](std::uint32_t slice) {
    ran_on = std::this_thread::get_id();
    slices.push_back(slice);
  });
  for (const std::uint32_t slice : {1u, 2u, 3u}) worker.launch(slice);
  ASSERT_TRUE(worker.wait(long_wait_ns));
  EXPECT_EQ(slices, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_NE(ran_on, std::this_thread::get_id());
  EXPECT_TRUE(worker.run(4));
  EXPECT_EQ(slices.back(), 4u);
}

/// A worker whose slices last until they are let go.
struct Held {
  std::counting_semaphore<> begun{0};
  std::counting_semaphore<> go{0};
  std::atomic<int> ended{0};
  SliceWorker worker{[this](std::uint32_t) {
    begun.release();
    go.acquire();
    ended.fetch_add(1);
  }};
};

TEST(SliceWorker, WaitsForTheSliceThatRunsAndForNoOther) {
  bool is_seen = false;
  for (int round = 0; round < 50 && !is_seen; ++round) {
    Held held;
    EXPECT_TRUE(held.worker.wait_for_current(0)) << "none runs";
    held.worker.launch(1);
    held.worker.launch(2);
    held.begun.acquire();
    EXPECT_FALSE(held.worker.wait_for_current(1'000'000));
    std::jthread letting_go([&] { held.go.release(); });
    // If the first was over before the wait began, it waits for the second, which is held.
    const bool is_over = held.worker.wait_for_current(100'000'000);
    is_seen = is_over && held.ended == 1;
    held.go.release();
  }
  EXPECT_TRUE(is_seen);
}

TEST(SliceWorker, RefusesToRunBesideASliceAndBeforeOneThatWaits) {
  Held held;
  std::jthread caller([&] { EXPECT_TRUE(held.worker.run(1)); });
  held.begun.acquire();
  EXPECT_FALSE(held.worker.run(2));
  held.worker.launch(2);
  held.go.release();
  held.begun.acquire();  // the launched one, on the worker's thread
  EXPECT_FALSE(held.worker.run(3));
  held.go.release();
  EXPECT_TRUE(held.worker.wait(long_wait_ns));
  EXPECT_EQ(held.ended, 2);
}

TEST(SliceWorker, WaitsForASliceOfAnotherThread) {
  Held held;
  std::jthread caller([&] { EXPECT_TRUE(held.worker.run(1)); });
  held.begun.acquire();
  EXPECT_FALSE(held.worker.wait(1'000'000));
  std::jthread waiter([&] {
    EXPECT_TRUE(held.worker.wait(long_wait_ns));
    EXPECT_EQ(held.ended, 1);
  });
  held.go.release();
}

TEST(SliceWorker, ItsDestructorWaitsForWhatWasLaunched) {
  int ran = 0;
  {
    SliceWorker worker([&](std::uint32_t) { ++ran; });
    for (std::uint32_t slice = 1; slice <= 100; ++slice) worker.launch(slice);
  }
  EXPECT_EQ(ran, 100);
}

TEST(SliceWorker, NeverRunsTwoAtOnceAndForgetsNone) {
  constexpr std::uint32_t turns = 20'000;
  constexpr int runners = 3;
  std::uint64_t ran = 0;  // plain: slices are ordered, or ThreadSanitizer says so
  SliceWorker worker([&](std::uint32_t) { ++ran; });
  {
    std::vector<std::jthread> threads;
    threads.reserve(runners + 1);
    for (int i = 0; i < runners; ++i)
      threads.emplace_back([&] {
        for (std::uint32_t turn = 0; turn < turns; ++turn)
          while (!worker.run(turn)) std::this_thread::yield();
      });
    threads.emplace_back([&] {
      for (std::uint32_t turn = 0; turn < turns; ++turn) {
        worker.launch(turn);
        if (turn % 16 == 0) {
          ASSERT_TRUE(worker.wait(long_wait_ns));
        }
      }
    });
  }
  ASSERT_TRUE(worker.wait(long_wait_ns));
  EXPECT_EQ(ran, std::uint64_t{turns} * (runners + 1));
}

}  // namespace
}  // namespace ringkernel
