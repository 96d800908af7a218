// The duty cycle, turned by hand.
#include <gmock/gmock.h>

#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::bridge::test {
namespace {

using ::testing::ElementsAre;

class BridgeTest : public SimulatedBridge {
 protected:
  BridgeTest() : bridge(clock) { bridge.add(executor); }

  std::shared_ptr<Channel> served_channel(const ChannelLimits& limits = {}) {
    auto channel = make_channel(limits);
    bridge.add(channel);
    return channel;
  }

  Bridge bridge;
  Recorder recorder;
};

TEST_F(BridgeTest, AnIdleDutyCycleDoesNothing) {
  (void)served_channel();
  EXPECT_EQ(bridge.do_work(), 0u);
}

// A reply that nobody waits for is its receiver's business: a loop that took it would never come to
// rest beside a pipeline.
TEST_F(BridgeTest, DeliversWhatIsWaitedForAndLeavesTheRest) {
  const auto first = served_channel();
  const auto second = served_channel();
  ASSERT_TRUE(submit(*first, 1, envelope(64), Receiver::completion, &recorder));
  ASSERT_TRUE(submit(*second, 2, envelope(64)));
  device.work();
  EXPECT_EQ(bridge.do_work(), 1u);
  EXPECT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(bridge.do_work(), 0u);
  EXPECT_EQ(second->unanswered(), 1u);
  EXPECT_THAT(replies(*second), ElementsAre(2));
  EXPECT_EQ(bridge.do_work(), 0u);
}

// The doorbell that was passed over is not forgotten.
TEST_F(BridgeTest, DeliversWhatCameBeforeSomebodyWaitedForIt) {
  const auto channel = served_channel();
  ASSERT_TRUE(submit(*channel, 1, envelope(64)));
  device.work();
  EXPECT_EQ(bridge.do_work(), 0u);
  ASSERT_TRUE(submit(*channel, 2, envelope(64), Receiver::completion, &recorder));
  EXPECT_EQ(bridge.do_work(), 1u) << "the reply before it";
  device.work();
  EXPECT_EQ(bridge.do_work(), 1u);
  EXPECT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_THAT(replies(*channel), ElementsAre(1));
}

TEST_F(BridgeTest, MovesTheQueueAndWakesTheDevice) {
  const auto channel = served_channel({.queue_max = 8});
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(submit(*channel, i, envelope(large)));
  for (int turn = 0; turn < 2; ++turn) {  // two records fit the ring
    device.work();
    EXPECT_NE(bridge.do_work(), 0u);
  }
  EXPECT_EQ(channel->queued(), 0u);
  device.work();
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(BridgeTest, ExpiresDeadlines) {
  const auto channel = served_channel();
  ASSERT_TRUE(submit(*channel, 1, envelope(64, clock.now + 10), Receiver::completion, &recorder));
  bridge.do_work();
  EXPECT_TRUE(recorder.outcomes.empty());
  clock.now += 10;
  bridge.do_work();
  ASSERT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(recorder.outcomes[0].error, make_error_code(Errc::deadline_exceeded));
}

TEST_F(BridgeTest, ALostDeviceFailsEveryKernelOfTheExecutor) {
  const auto first = served_channel();
  const auto second = served_channel();
  Recorder other;
  ASSERT_TRUE(submit(*first, 1, envelope(64), Receiver::completion, &recorder));
  ASSERT_TRUE(submit(*second, 2, envelope(64), Receiver::completion, &other));
  device.lost = true;
  bridge.do_work();
  ASSERT_EQ(recorder.outcomes.size(), 1u);
  ASSERT_EQ(other.outcomes.size(), 1u);
  EXPECT_EQ(recorder.outcomes[0].error, make_error_code(Errc::device_error));
  EXPECT_EQ(other.outcomes[0].detail, "the device was lost");
}

TEST_F(BridgeTest, ServesNoChannelThatWasRemoved) {
  const auto channel = served_channel();
  ASSERT_TRUE(submit(*channel, 1, envelope(64), Receiver::completion, &recorder));
  device.work();
  bridge.remove(*channel);
  EXPECT_EQ(bridge.do_work(), 0u);
  EXPECT_TRUE(recorder.outcomes.empty());
  EXPECT_EQ(channel.use_count(), 1);
}

TEST_F(BridgeTest, RemovingTheFormerChannelOfAnIndexLeavesItsSuccessor) {
  const auto former = served_channel();
  bridge.remove(*former);
  executor.set_state(former->kernel(), RK_KERNEL_ABSENT);
  executor.wake(0, Executor::Wake::launch);
  device.work();
  executor.detach(former->kernel());
  const auto successor = served_channel();
  ASSERT_EQ(successor->kernel(), former->kernel());
  bridge.remove(*former);
  ASSERT_TRUE(submit(*successor, 1, envelope(64), Receiver::completion, &recorder));
  device.work();
  EXPECT_EQ(bridge.do_work(), 1u);
  EXPECT_EQ(recorder.outcomes.size(), 1u);
}

/// Is over at its third poll.
class ThirdTime final : public Watch {
 public:
  explicit ThirdTime(int& polls) : polls_(polls) {}
  bool poll(std::uint64_t) override { return ++polls_ == 3; }

 private:
  int& polls_;
};

TEST_F(BridgeTest, PollsAWatchUntilItIsOver) {
  int polls = 0;
  bridge.watch(std::make_unique<ThirdTime>(polls));
  EXPECT_EQ(bridge.do_work(), 0u);
  EXPECT_EQ(bridge.do_work(), 0u);
  EXPECT_EQ(bridge.do_work(), 1u);
  EXPECT_EQ(bridge.do_work(), 0u);
  EXPECT_EQ(polls, 3);
}

TEST_F(BridgeTest, AWatchIsPolledEvenWhenTheLoopHasEnded) {
  int polls = 2;
  bridge.stop();
  bridge.watch(std::make_unique<ThirdTime>(polls));
  EXPECT_EQ(polls, 3);
}

}  // namespace
}  // namespace ringkernel::bridge::test
