// The OpenCL backend on the machine's first usable device. Skipped, with the reason, where none is.
#include <dirent.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/registry.hpp"
#include "support/programs.hpp"
#include "support/skip.hpp"
#include "unit/backend/executor_arena.hpp"

namespace ringkernel::backend {
namespace {

using namespace std::chrono_literals;
using ringkernel::testing::ExecutorArena;
using ::testing::HasSubstr;

constexpr uint32_t never_idle = 0xffffffffu;
constexpr auto device_patience = 60s;

class OpenClDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto answer = backend_.device_count();
    const uint32_t count = answer.has_value() ? *answer : 0;
    for (uint32_t number = 0; number < count && !number_; ++number)
      if (backend_.describe(number)->transfer == RK_TRANSFER_ZERO_COPY) number_ = number;
    if (!number_) RK_SKIP_WITHOUT("opencl", "no device with fine-grained shared memory");
  }

  Result<OpenDevice> open(uint64_t arena_bytes = ExecutorArena::bytes) {
    return backend_.open(*number_, {.struct_bytes = 0,
                                    .executors_max = 1,
                                    .arena_bytes = arena_bytes,
                                    .transfer = RK_TRANSFER_NONE,
                                    .work_groups = 1,
                                    .test_anew = 0,
                                    .driver_timeout_ns = 0,
                                    .end_timeout_ns = 0});
  }

  Backend backend_ = *find_backend("opencl");
  std::optional<uint32_t> number_;
};

std::size_t entries_of(const char* folder) {
  std::size_t count = 0;
  DIR* const directory = opendir(folder);
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

void await_running(const ExecutorArena& arena, uint32_t slice) {
  const auto deadline = std::chrono::steady_clock::now() + device_patience;
  while (arena.running_slice() != slice && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  ASSERT_EQ(arena.running_slice(), slice);
}

TEST_F(OpenClDevice, OpensWithAZeroedAlignedArenaAndASaneSelfTest) {
  constexpr uint64_t bytes = 3 * 4096 + 640;
  const auto device = open(bytes);
  ASSERT_TRUE(device.has_value()) << device.error().text();
  const auto state = device->state();
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->transfer, RK_TRANSFER_ZERO_COPY);
  EXPECT_EQ(state->arena_bytes, bytes);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(state->arena) % RK_LINE_BYTES, 0u);
  const auto* const arena = static_cast<const std::byte*>(state->arena);
  EXPECT_TRUE(std::all_of(arena, arena + bytes, [](std::byte b) { return b == std::byte{0}; }));
  // A poll takes at least a fraction of a nanosecond and less than a millisecond on any machine.
  EXPECT_GT(state->polls_per_ms, 1u);
  EXPECT_LT(state->polls_per_ms, 100'000'000u);
  EXPECT_THAT(state->self_test, HasSubstr("100 pings"));
}

TEST_F(OpenClDevice, ZeroesMemoryThatWasUsedBefore) {
  constexpr uint64_t bytes = 1 << 16;
  for (int round = 0; round < 4; ++round) {
    const auto device = open(bytes);
    ASSERT_TRUE(device.has_value()) << device.error().text();
    auto* const arena = static_cast<std::byte*>(device->state()->arena);
    ASSERT_TRUE(std::all_of(arena, arena + bytes, [](std::byte b) { return b == std::byte{0}; }));
    std::fill(arena, arena + bytes, std::byte{0xa5});
  }
}

TEST_F(OpenClDevice, RefusesAnArenaLargerThanTheDeviceAllocates) {
  const auto device = open(backend_.describe(*number_)->allocation_bytes_max + 1);
  ASSERT_FALSE(device.has_value());
  EXPECT_TRUE(device.error() == Errc::limit_exceeded);
}

TEST_F(OpenClDevice, SaysWhyAProgramDoesNotBuild) {
  auto device = open();
  ASSERT_TRUE(device.has_value()) << device.error().text();
  rk_program_source broken = testing::built_in("echo");
  broken.name = "broken";
  broken.device_text = "#line 7 \"broken.cl\"\nkernel void rk_executor( {}";
  const auto executor = device->create_executor(broken, 0);
  ASSERT_FALSE(executor.has_value());
  EXPECT_TRUE(executor.error() == Errc::build_failed);
  EXPECT_THAT(executor.error().detail, HasSubstr("program 'broken'"));
  EXPECT_THAT(executor.error().detail, HasSubstr("broken.cl:7"));
}

TEST_F(OpenClDevice, RunsASliceUntilItIsToldToStop) {
  auto device = open();
  ASSERT_TRUE(device.has_value()) << device.error().text();
  auto executor =
      device->create_executor(testing::built_in("echo"), ExecutorArena::executor_offset);
  ASSERT_TRUE(executor.has_value()) << executor.error().text();
  EXPECT_FALSE(executor->can_run());
  ExecutorArena arena(device->state()->arena, never_idle);
  ASSERT_TRUE(executor->launch(1).has_value());
  await_running(arena, 1);
  const auto waited = executor->wait(1ms);
  ASSERT_FALSE(waited.has_value());
  EXPECT_TRUE(waited.error() == Errc::execution_timeout);
  EXPECT_TRUE(executor->error().has_value());
  arena.stop();
  EXPECT_TRUE(executor->wait(device_patience).has_value());
  EXPECT_EQ(arena.parked_slice(), 1u);
  EXPECT_EQ(arena.end_reason(), RK_SLICE_STOP);
}

TEST_F(OpenClDevice, RunsSlicesInTheOrderOfTheirLaunch) {
  auto device = open();
  ASSERT_TRUE(device.has_value()) << device.error().text();
  auto executor =
      device->create_executor(testing::built_in("echo"), ExecutorArena::executor_offset);
  ASSERT_TRUE(executor.has_value()) << executor.error().text();
  ExecutorArena arena(device->state()->arena, 1);
  for (uint32_t slice = 1; slice <= 100; ++slice) ASSERT_TRUE(executor->launch(slice).has_value());
  ASSERT_TRUE(executor->wait(device_patience).has_value());
  EXPECT_EQ(arena.running_slice(), 100u);
  EXPECT_EQ(arena.parked_slice(), 100u);
  EXPECT_EQ(arena.end_reason(), RK_SLICE_IDLE);
}

/// The warm-up slice of `create_executor` must not touch the arena: one launch is one slice.
TEST_F(OpenClDevice, LeavesTheArenaAloneUntilTheFirstLaunch) {
  auto device = open();
  ASSERT_TRUE(device.has_value()) << device.error().text();
  ExecutorArena arena(device->state()->arena, 1);
  auto executor =
      device->create_executor(testing::built_in("echo"), ExecutorArena::executor_offset);
  ASSERT_TRUE(executor.has_value()) << executor.error().text();
  ASSERT_TRUE(executor->launch(1).has_value());
  ASSERT_TRUE(executor->wait(device_patience).has_value());
  EXPECT_EQ(arena.slices(), 1u);
}

TEST_F(OpenClDevice, DestroyingAnExecutorWaitsForTheSliceThatWasToldToStop) {
  auto device = open();
  ASSERT_TRUE(device.has_value()) << device.error().text();
  ExecutorArena arena(device->state()->arena, never_idle);
  {
    auto executor =
        device->create_executor(testing::built_in("echo"), ExecutorArena::executor_offset);
    ASSERT_TRUE(executor.has_value()) << executor.error().text();
    ASSERT_TRUE(executor->launch(1).has_value());
    await_running(arena, 1);
    arena.stop();
  }
  EXPECT_EQ(arena.parked_slice(), 1u);
}

/// Two runtimes in one process: each has its own arena, and both slices run at the same time.
TEST_F(OpenClDevice, OpensTwiceInOneProcessWithIndependentArenas) {
  auto first = open();
  auto second = open();
  ASSERT_TRUE(first.has_value()) << first.error().text();
  ASSERT_TRUE(second.has_value()) << second.error().text();
  ASSERT_NE(first->state()->arena, second->state()->arena);
  auto one = first->create_executor(testing::built_in("echo"), ExecutorArena::executor_offset);
  auto two = second->create_executor(testing::built_in("echo"), ExecutorArena::executor_offset);
  ASSERT_TRUE(one.has_value()) << one.error().text();
  ASSERT_TRUE(two.has_value()) << two.error().text();
  ExecutorArena first_arena(first->state()->arena, never_idle);
  ExecutorArena second_arena(second->state()->arena, never_idle);
  ASSERT_TRUE(one->launch(1).has_value());
  ASSERT_TRUE(two->launch(2).has_value());
  await_running(first_arena, 1);
  await_running(second_arena, 2);
  first_arena.stop();
  EXPECT_TRUE(one->wait(device_patience).has_value());
  EXPECT_EQ(second_arena.parked_slice(), 0u);
  second_arena.stop();
  EXPECT_TRUE(two->wait(device_patience).has_value());
}

TEST_F(OpenClDevice, LeavesNoThreadAndNoDescriptorBehind) {
  const auto cycle = [this] {
    auto device = open();
    ASSERT_TRUE(device.has_value()) << device.error().text();
    auto executor =
        device->create_executor(testing::built_in("echo"), ExecutorArena::executor_offset);
    ASSERT_TRUE(executor.has_value()) << executor.error().text();
    ExecutorArena arena(device->state()->arena, 1);
    ASSERT_TRUE(executor->launch(1).has_value());
    ASSERT_TRUE(executor->wait(device_patience).has_value());
  };
  cycle();  // the driver starts its workers and opens its files once
  const std::size_t threads = entries_of("/proc/self/task");
  const std::size_t descriptors = entries_of("/proc/self/fd");
  for (int round = 0; round < 20; ++round) cycle();
  EXPECT_EQ(entries_of("/proc/self/fd"), descriptors);
  // A thread that has been joined is listed until the system has put it away.
  const auto deadline = std::chrono::steady_clock::now() + device_patience;
  while (entries_of("/proc/self/task") > threads && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_LE(entries_of("/proc/self/task"), threads);
}

TEST_F(OpenClDevice, TakesLaunchesFromSeveralThreads) {
  auto device = open();
  ASSERT_TRUE(device.has_value()) << device.error().text();
  auto executor =
      device->create_executor(testing::built_in("echo"), ExecutorArena::executor_offset);
  ASSERT_TRUE(executor.has_value()) << executor.error().text();
  ExecutorArena arena(device->state()->arena, 1);
  constexpr uint32_t launches = 50;
  const auto launch = [&] {
    for (uint32_t turn = 0; turn < launches; ++turn) {
      ASSERT_TRUE(executor->launch(1).has_value());
      ASSERT_TRUE(executor->error().has_value());
    }
  };
  std::thread other(launch);
  launch();
  other.join();
  ASSERT_TRUE(executor->wait(device_patience).has_value());
  EXPECT_EQ(arena.slices(), 2 * launches);
}

}  // namespace
}  // namespace ringkernel::backend
