// What an idle slice does where it has a clock: it yields its core, and leaves when its time is up.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "backend/registry.hpp"
#include "support/one_core.hpp"
#include "support/programs.hpp"
#include "support/skip.hpp"
#include "unit/backend/executor_arena.hpp"

namespace ringkernel::backend {
namespace {

using namespace std::chrono_literals;
using ringkernel::testing::ExecutorArena;

/// Made by threads that are not the test's.
std::atomic<uint64_t> yields{0};

}  // namespace

/// Takes the place of the C library's: whether a yield lets anybody else run is the scheduler's
/// choice, whether there is one is the slice's.
extern "C" int sched_yield() noexcept {
  // relaxed: a count
  if (gettid() != getpid()) yields.fetch_add(1, std::memory_order_relaxed);
  return static_cast<int>(syscall(SYS_sched_yield));
}

namespace {

constexpr uint32_t never_by_polls = 0xffffffffu;
constexpr auto idle_patience = 30s;

class IdleSlice : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const Backend backend = *find_backend(GetParam());
    Result<OpenDevice> device = backend.open(0, {.struct_bytes = 0,
                                                 .executors_max = 1,
                                                 .arena_bytes = ExecutorArena::bytes,
                                                 .transfer = RK_TRANSFER_ZERO_COPY,
                                                 .work_groups = 1,
                                                 .test_anew = 0,
                                                 .driver_timeout_ns = 0,
                                                 .end_timeout_ns = 0});
    if (!device) RK_SKIP_WITHOUT(GetParam(), device.error().text());
    device_.emplace(std::move(*device));
    const rk_device_state state = device_->state().value();
    if (state.slices_have_clock == 0) RK_SKIP_UNSUPPORTED(state.self_test);
    arena_.emplace(state.arena, never_by_polls);
    executor_.emplace(
        device_->create_executor(testing::built_in("echo"), ExecutorArena::executor_offset)
            .value());
  }

  std::optional<OpenDevice> device_;
  std::optional<ExecutorArena> arena_;
  std::optional<OpenExecutor> executor_;
};

TEST_P(IdleSlice, LeavesWhenItsTimeIsUp) {
  constexpr auto idle_time = 20ms;
  arena_->set_idle_ns(idle_time / 1ns, 0);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(executor_->launch(1));
  EXPECT_TRUE(executor_->wait(idle_patience));
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
  EXPECT_TRUE(executor_->wait(idle_patience));
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
  EXPECT_TRUE(executor_->wait(idle_patience));
}

INSTANTIATE_TEST_SUITE_P(Backends, IdleSlice, ::testing::Values("native", "opencl"),
                         [](const auto& suite) { return std::string(suite.param); });

/// A slice of the native backend, in a thread of its own that nothing else lets yield.
class YieldingSlice : public ::testing::Test {
 protected:
  /// A slice parks after so many polls.
  explicit YieldingSlice(uint32_t idle_polls_max = never_by_polls)
      : arena_(device_.state()->arena, idle_polls_max) {}

  void TearDown() override { arena_.stop(); }

  /// How often a slice yields until it parks.
  uint64_t yields_of_slice(uint32_t slice) {
    const uint64_t before = yields;
    EXPECT_TRUE(executor_.launch(slice));
    EXPECT_TRUE(executor_.wait(idle_patience));
    return yields - before;
  }
  template <class Condition>
  static bool await(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + idle_patience;
    while (!condition() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    return condition();
  }
  /// Until the slice has looked at the host's words again.
  void await_look() {
    EXPECT_TRUE(await([this, before = arena_.polls()] { return arena_.polls() > before + 1024; }));
  }
  void start() {
    arena_.set_idle_ns(0, UINT64_MAX);
    ASSERT_TRUE(executor_.launch(1));
    await_look();
    ASSERT_EQ(yields, yields_before_);
  }
  void stop() {
    await_look();
    arena_.stop();
    EXPECT_TRUE(executor_.wait(idle_patience));
  }

  const testing::OnOneCore one_core_;  // the slice's too
  OpenDevice device_ = find_backend("native")
                           ->open(0, {.struct_bytes = 0,
                                      .executors_max = 1,
                                      .arena_bytes = ExecutorArena::bytes,
                                      .transfer = RK_TRANSFER_ZERO_COPY,
                                      .work_groups = 1,
                                      .test_anew = 0,
                                      .driver_timeout_ns = 0,
                                      .end_timeout_ns = 0})
                           .value();
  ExecutorArena arena_;
  OpenExecutor executor_ =
      device_.create_executor(testing::built_in("echo"), ExecutorArena::executor_offset).value();
  const uint64_t yields_before_ = yields;
};

class ParkingSlice : public YieldingSlice {
 protected:
  static constexpr uint32_t polls = 20'000;
  ParkingSlice() : YieldingSlice(polls) {}
};

TEST_F(ParkingSlice, YieldsAgainAndAgainAfterItsSpins) {
  arena_.set_idle_ns(0, 0);
  EXPECT_GT(yields_of_slice(1), polls / 20);
  arena_.set_idle_ns(0, UINT64_MAX);
  EXPECT_EQ(yields_of_slice(2), 0u);
}

TEST_F(ParkingSlice, YieldsIfItsCoreWasHandedOverBeforeItBegan) {
  arena_.set_idle_ns(0, UINT64_MAX);
  const auto here = static_cast<uint32_t>(sched_getcpu()) + 1;
  EXPECT_EQ(yields_of_slice(1), 0u);
  for (uint32_t slice = 2; slice <= 50; ++slice) {
    arena_.hand_over(here);
    EXPECT_EQ(yields_of_slice(slice), 1u);
  }
}

TEST_F(YieldingSlice, YieldsOnceWhenItsCoreIsHandedOver) {
  start();
  constexpr uint64_t times = 50;
  for (uint64_t i = 1; i <= times; ++i) {
    arena_.hand_over(arena_.core());
    ASSERT_TRUE(await([&] { return yields == yields_before_ + i; })) << i;
  }
  stop();
  EXPECT_EQ(yields, yields_before_ + times);
}

TEST_F(YieldingSlice, KeepsItsCoreWhenAnotherOneIsHandedOver) {
  start();
  for (int i = 0; i < 50; ++i) {
    arena_.hand_over(arena_.core() + 1);
    await_look();
  }
  stop();
  EXPECT_EQ(yields, yields_before_);
}

}  // namespace
}  // namespace ringkernel::backend
