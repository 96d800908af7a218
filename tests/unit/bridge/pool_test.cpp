// An executor with several work-groups: who serves whom, and who is asked to leave for whom.
#include <gmock/gmock.h>

#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::bridge::test {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr std::uint32_t kernels = 48;  // three lines of doorbells

class PoolOf : public SimulatedBridge, public ::testing::WithParamInterface<std::uint32_t> {
 protected:
  PoolOf() : SimulatedBridge({.kernel_capacity = kernels, .work_groups = GetParam()}) {}
};

// The numbers divide a line of doorbells, or do not, or are larger.
INSTANTIATE_TEST_SUITE_P(WorkGroups, PoolOf, ::testing::Values(1, 2, 3, 4, 5, 7, 16, 17, 64));

TEST_P(PoolOf, EachWorkGroupVisitsTheKernelsOfItsIndexModuloTheirNumber) {
  std::vector<std::uint32_t> epochs;
  for (std::uint32_t kernel = 0; kernel < kernels; ++kernel) {
    ASSERT_EQ(executor.attach({}).value(), kernel);
    epochs.push_back(executor.set_state(kernel, RK_KERNEL_PAUSED));
  }
  executor.wake(0, Executor::Wake::launch);
  for (std::uint32_t group = 0; group < GetParam(); ++group) {
    device.run_group(group);
    for (std::uint32_t kernel = 0; kernel < kernels; ++kernel)
      EXPECT_EQ(executor.obeys(kernel, epochs[kernel]), kernel % GetParam() <= group)
          << "kernel " << kernel << " when work-group " << group << " has returned";
  }
  EXPECT_TRUE(device.launched.empty());
}

/// Two work-groups with a ring kernel each.
class Pool : public SimulatedBridge {
 protected:
  Pool() : SimulatedBridge({.kernel_capacity = 16, .work_groups = 2}) {}

  void send(Channel& channel, int messages = 1) {
    for (int i = 0; i < messages; ++i) ASSERT_TRUE(submit(channel, i, envelope(64)));
  }

  const std::shared_ptr<Channel> first = make_channel();
  const std::shared_ptr<Channel> second = make_channel();
};

TEST_F(Pool, AParkedWorkGroupIsBroughtBackByTheNextSliceWhichTheOtherOneMakesWayFor) {
  send(*first);
  ASSERT_THAT(device.launched, SizeIs(1));
  const std::uint32_t slice = device.launched.front();
  device.run_group(1);
  EXPECT_TRUE(executor.parked(1));
  EXPECT_FALSE(executor.parked(0));
  EXPECT_NE(host_line().yield_slice, slice);

  send(*second, 2);
  EXPECT_THAT(device.launched, ElementsAre(slice, slice + 1)) << "one slice for both messages";
  EXPECT_EQ(host_line().yield_slice, slice);
  EXPECT_TRUE(executor.starting(1));

  device.run_group(0);
  EXPECT_THAT(device.launched, ElementsAre(slice + 1));
  EXPECT_EQ(device_line(0).end_reason, RK_SLICE_BUDGET);
  EXPECT_FALSE(executor.left_work(0)) << "the next slice is launched already";
  EXPECT_EQ(device.work(), 1u);
  EXPECT_THAT(replies(*first), ElementsAre(0));
  EXPECT_THAT(replies(*second), ElementsAre(0, 1));
}

TEST_F(Pool, WhoIsRungWhileItRunsLaunchesNothingAndAsksNobody) {
  send(*first);
  const std::uint32_t slice = device.launched.front();
  send(*second);
  EXPECT_THAT(device.launched, SizeIs(1));
  EXPECT_NE(host_line().yield_slice, slice);
  EXPECT_EQ(device.work(), 1u);
  EXPECT_THAT(replies(*second), ElementsAre(0));
}

TEST_F(Pool, AWorkGroupThatMakesWayDoesOnePassAndTheNextSliceTheRest) {
  send(*first, 20);
  device.run_group(1);
  send(*second);
  device.run_group(0);
  EXPECT_EQ(executor.telemetry(first->kernel()).messages_in, ExecutorLimits().drain_records_max);
  EXPECT_EQ(device.work(), 1u);
  EXPECT_THAT(replies(*first), SizeIs(20));
  EXPECT_THAT(replies(*second), SizeIs(1));
}

// What is sent behind a slice that was asked to leave waits for the one that is launched.
TEST_F(Pool, NoMessageIsLostBetweenTheSliceThatLeavesAndTheNextOne) {
  send(*first);
  device.run_group(1);
  send(*second);
  device.run_group(0);
  send(*first);
  send(*second);
  EXPECT_THAT(device.launched, SizeIs(1));
  device.run_group(0);
  EXPECT_THAT(replies(*first), ElementsAre(0, 0));
  device.run_group(1);
  EXPECT_THAT(replies(*second), ElementsAre(0, 0));
  EXPECT_TRUE(device.launched.empty());
}

TEST_F(Pool, WorkThatIsLeftForAnotherProgramIsThatOfOneWorkGroup) {
  send(*first, 20);
  device.run_group(1);
  host_line().leave_slice = device.launched.front();
  device.run_group(0);
  EXPECT_TRUE(executor.left_work(0));
  EXPECT_FALSE(executor.left_work(1));
  executor.go_on(1);
  EXPECT_TRUE(device.launched.empty());
  executor.go_on(0);
  EXPECT_EQ(device.work(), 1u);
  EXPECT_THAT(replies(*first), SizeIs(20));
}

TEST_F(Pool, StopEndsEveryWorkGroup) {
  send(*first);
  send(*second);
  EXPECT_TRUE(executor.stop(0));
  for (std::uint32_t kernel : {0u, 1u}) {
    EXPECT_TRUE(executor.parked(kernel));
    EXPECT_EQ(device_line(kernel).end_reason, RK_SLICE_STOP);
  }
}

TEST_F(Pool, EachWorkGroupCountsForItself) {
  send(*first, 3);
  send(*second, 5);
  device.work();
  EXPECT_EQ(device_line(0).records, 3u);
  EXPECT_EQ(device_line(1).records, 5u);
}

TEST_F(Pool, AWorkGroupThatTheExecutorDoesNotHaveTouchesNothing) {
  const std::vector<std::byte> before(arena(), arena() + arena_bytes);
  alignas(64) rk_u8 local[RK_SLICE_BYTES] = {};
  native::find_program(RK_PROGRAM_ECHO)(reinterpret_cast<rk_u8*>(arena()), arena_bytes, 0, 9, 2,
                                        nullptr, local, nullptr);
  EXPECT_EQ(std::vector<std::byte>(arena(), arena() + arena_bytes), before);
}

}  // namespace
}  // namespace ringkernel::bridge::test
