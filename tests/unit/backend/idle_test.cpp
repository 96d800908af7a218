// What an idle slice does where it has a clock: it yields its core, and leaves when its time is up.
#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "backend/registry.hpp"
#include "support/one_core.hpp"
#include "unit/backend/executor_arena.hpp"

namespace ringkernel::backend {
namespace {

using namespace std::chrono_literals;
using ringkernel::testing::ExecutorArena;

constexpr uint32_t never_by_polls = 0xffffffffu;
constexpr auto long_wait = 60s;

class IdleSlice : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const Backend backend = *find_backend(GetParam());
    Result<Device> device = backend.open(0, {.struct_bytes = 0,
                                             .executors_max = 1,
                                             .arena_bytes = ExecutorArena::bytes,
                                             .transfer = RK_TRANSFER_ZERO_COPY,
                                             .work_groups = 1,
                                             .test_anew = 0});
    if (!device) GTEST_SKIP() << device.error().text();
    device_.emplace(std::move(*device));
    const rk_device_state state = device_->state().value();
    if (state.slices_have_clock == 0) GTEST_SKIP() << state.self_test;
    arena_.emplace(state.arena, never_by_polls);
    executor_.emplace(device_->create_executor("echo", ExecutorArena::executor_offset).value());
  }

  std::optional<Device> device_;
  std::optional<ExecutorArena> arena_;
  std::optional<Executor> executor_;
};

TEST_P(IdleSlice, LeavesWhenItsTimeIsUp) {
  constexpr auto idle_time = 20ms;
  arena_->set_idle_ns(idle_time / 1ns, 0);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(executor_->launch(1));
  EXPECT_TRUE(executor_->wait(long_wait));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, idle_time);
  arena_->stop();  // for one that does not know the time
  EXPECT_EQ(arena_->parked_slice(), 1u);
  EXPECT_EQ(arena_->end_reason(), RK_SLICE_IDLE);
}

TEST_P(IdleSlice, StaysWithoutALimit) {
  arena_->set_idle_ns(0, 0);
  ASSERT_TRUE(executor_->launch(1));
  while (arena_->polls() < 10'000) std::this_thread::yield();
  EXPECT_EQ(arena_->parked_slice(), 0u);
  arena_->stop();
  EXPECT_TRUE(executor_->wait(long_wait));
  EXPECT_EQ(arena_->end_reason(), RK_SLICE_STOP);
}

TEST_P(IdleSlice, SaysOnWhichCoreItRuns) {
  arena_->set_idle_ns(0, 0);
  ASSERT_TRUE(executor_->launch(1));
  while (arena_->polls() == 0) std::this_thread::yield();
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  ASSERT_GT(arena_->core(), 0u);
  EXPECT_TRUE(CPU_ISSET(arena_->core() - 1, &allowed)) << arena_->core();
  arena_->stop();
  EXPECT_TRUE(executor_->wait(long_wait));
}

INSTANTIATE_TEST_SUITE_P(Backends, IdleSlice, ::testing::Values("native", "opencl"),
                         [](const auto& suite) { return std::string(suite.param); });

enum class Turn : uint8_t { yield, hand_over, hand_another_core_over };

Device open_native() {
  return find_backend("native")
      ->open(0, {.struct_bytes = 0,
                 .executors_max = 1,
                 .arena_bytes = ExecutorArena::bytes,
                 .transfer = RK_TRANSFER_ZERO_COPY,
                 .work_groups = 1,
                 .test_anew = 0})
      .value();
}

/// How many polls a slice on the core of this thread makes each time that the thread yields.
double polls_a_turn(uint64_t spin_ns, Turn turn = Turn::yield) {
  const testing::OnOneCore one_core;
  Device device = open_native();
  ExecutorArena arena(device.state()->arena, never_by_polls);
  arena.set_idle_ns(0, spin_ns);
  Executor executor = device.create_executor("echo", ExecutorArena::executor_offset).value();
  EXPECT_TRUE(executor.launch(1));
  while (arena.polls() == 0) sched_yield();
  constexpr int turns = 50;
  const uint64_t before = arena.polls();
  for (int i = 0; i < turns; ++i) {
    if (turn != Turn::yield) arena.hand_over(arena.core() + (turn == Turn::hand_over ? 0 : 1));
    sched_yield();
  }
  EXPECT_EQ(arena.core(), static_cast<uint32_t>(sched_getcpu()) + 1);
  const auto polls = static_cast<double>(arena.polls() - before);
  arena.stop();
  EXPECT_TRUE(executor.wait(long_wait));
  return polls / turns;
}

TEST(IdleSliceOnASharedCore, GivesItAwayAfterItsSpins) {
  // One that spins keeps the core until the scheduler takes it away.
  EXPECT_LT(polls_a_turn(0) * 20, polls_a_turn(UINT64_MAX));
}

TEST(IdleSliceOnASharedCore, GivesItBackToWhomItHasItFrom) {
  EXPECT_LT(polls_a_turn(UINT64_MAX, Turn::hand_over) * 20, polls_a_turn(UINT64_MAX));
}

TEST(IdleSliceOnASharedCore, KeepsItWhenAnotherOneIsHandedOver) {
  EXPECT_LT(polls_a_turn(UINT64_MAX, Turn::hand_over) * 20,
            polls_a_turn(UINT64_MAX, Turn::hand_another_core_over));
}

/// How many of 50 slices, which would park after a few microseconds, have begun and not parked when
/// the thread that launched them and yielded has its core again.
int slices_seen_running(bool hand_over) {
  const testing::OnOneCore one_core;
  Device device = open_native();
  ExecutorArena arena(device.state()->arena, never_by_polls);
  arena.set_idle_ns(1, UINT64_MAX);
  Executor executor = device.create_executor("echo", ExecutorArena::executor_offset).value();
  int seen = 0;
  for (uint32_t slice = 1; slice <= 50; ++slice) {
    if (hand_over) arena.hand_over(static_cast<uint32_t>(sched_getcpu()) + 1);
    EXPECT_TRUE(executor.launch(slice));
    while (arena.running_slice() != slice) sched_yield();
    seen += arena.parked_slice() != slice ? 1 : 0;
    EXPECT_TRUE(executor.wait(long_wait));
  }
  return seen;
}

TEST(IdleSliceOnASharedCore, GivesItBackIfItWasHandedOverBeforeTheSliceBegan) {
  // A slice's yield may come to nothing, since the scheduler chooses who is next.
  int surplus = 0;
  for (int round = 0; round < 20 && surplus <= 25; ++round)
    surplus += slices_seen_running(true) - slices_seen_running(false);
  EXPECT_GT(surplus, 25);
}

}  // namespace
}  // namespace ringkernel::backend
