// What needs the bridge thread, what became of messages, and who waits for room.
#include "bridge/channel/bridge_demand.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "bridge/channel/room_wait.hpp"
#include "bridge/counting.hpp"
#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::bridge::test {
namespace {

class BridgeDemandTest : public ::testing::Test {
 protected:
  ChannelCounts counts;
  CountedWakes wakes;
  BridgeDemand demand{counts, wakes};
};

TEST_F(BridgeDemandTest, ExistsForWhatOnlyTheBridgeDoes) {
  EXPECT_FALSE(demand.exists());
  for (auto* const count : {&demand.queued, &demand.sleepers, &demand.completions}) {
    *count = 1;
    EXPECT_TRUE(demand.exists());
    *count = 0;
  }
  EXPECT_FALSE(demand.exists());
}

TEST_F(BridgeDemandTest, DoesNotExistForACallThatSomebodyPollsFor) {
  demand.completions = 2;
  demand.assisted = 2;
  EXPECT_FALSE(demand.exists());
  demand.assisted = 1;
  EXPECT_TRUE(demand.exists());
}

TEST_F(BridgeDemandTest, ReceiversNeedItOnlyWhileSomethingIsUnderWay) {
  for (auto* const count : {&demand.receivers, &demand.room_waiters}) {
    *count = 1;
    EXPECT_FALSE(demand.exists());
    counts.accepted = 1;
    EXPECT_TRUE(demand.exists());
    counts.accepted = 0;
    *count = 0;
  }
}

TEST_F(BridgeDemandTest, OnlyAnEarlierDeadlineIsTheNextOne) {
  EXPECT_FALSE(demand.lower_deadline(no_deadline));
  EXPECT_TRUE(demand.lower_deadline(20));
  EXPECT_FALSE(demand.lower_deadline(20));
  EXPECT_FALSE(demand.lower_deadline(21));
  EXPECT_TRUE(demand.lower_deadline(19));
  EXPECT_EQ(demand.next_deadline_ns(), 19u);
  demand.forget_deadline();
  EXPECT_EQ(demand.next_deadline_ns(), no_deadline);
}

TEST_F(BridgeDemandTest, NudgesWhereItExistsOrADeadlineCameNearer) {
  demand.wake_if_needed(false);
  EXPECT_EQ(wakes.count, 0);
  demand.wake_if_needed(true);
  EXPECT_EQ(wakes.count, 1);
  demand.queued = 1;
  demand.wake_if_needed(false);
  EXPECT_EQ(wakes.count, 2);
}

TEST_F(BridgeDemandTest, CountsTellWhatIsUnansweredAndHowTheRestEnded) {
  counts.accepted = 10;
  counts.replied = 4;
  counts.faulted = 1;
  counts.ended = 2;
  counts.late = 3;
  EXPECT_EQ(counts.unanswered(), 3u);
  EXPECT_FALSE(counts.idle());
  const ChannelCounters metrics = counts.metrics();
  EXPECT_EQ(metrics.accepted, 10u);
  EXPECT_EQ(metrics.replied, 4u);
  EXPECT_EQ(metrics.failed, 3u);
  EXPECT_EQ(metrics.late, 3u);
  counts.replied = 7;
  EXPECT_TRUE(counts.idle());
}

TEST(RoomWaitTest, RoomIsMadeForThoseWhoWait) {
  std::atomic<std::uint64_t> waiters{0};
  RoomWait room(waiters);
  const std::uint64_t before = room.epoch();
  room.made();
  EXPECT_EQ(room.epoch(), before) << "nobody waited";
  const Counted waiting(waiters);
  EXPECT_FALSE(room.wait(before, std::chrono::nanoseconds(0)));
  room.made();
  EXPECT_TRUE(room.wait(before, {})) << "it was made since";
  const std::uint64_t now = room.epoch();
  std::thread waiter([&] { EXPECT_TRUE(room.wait(now, {})); });
  room.made();
  waiter.join();
}

}  // namespace
}  // namespace ringkernel::bridge::test
