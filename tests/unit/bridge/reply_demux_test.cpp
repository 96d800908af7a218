// The receiving half by itself, behind a send queue: leading, following, settling, retiring.
#include "bridge/channel/reply_demux.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::bridge::test {
namespace {

using ::testing::ElementsAre;

/// Runs the device whenever a leader does housekeeping, and counts.
class WorkingHousekeeping final : public Housekeeping {
 public:
  explicit WorkingHousekeeping(SimulatedDevice& device) : device_(device) {}
  std::size_t do_housekeeping(std::uint64_t) noexcept override {
    ++count;
    return device_.work();
  }
  int count = 0;

 private:
  SimulatedDevice& device_;
};

class ReplyDemuxTest : public SimulatedBridge {
 protected:
  ReplyDemuxTest()
      : kernel_(make_channel()->kernel()),
        shared(executor, kernel_, {.in_flight_max = 8}, clock, wakes),
        send(shared, input_ring, output_ring),
        demux(shared, send, strategy, housekeeping, output_ring) {}

  MessageId put(int value, Receiver receiver, Completion* completion = nullptr,
                bool assisted = false) {
    Envelope message = envelope(64);
    message.assisted = assisted;
    SendQueue::Ended ended;
    return send
        .submit(message, receiver, completion, Executor::Wake::launch, ended,
                [&](std::byte* to) { std::memset(to, value, 64); })
        ->id;
  }
  static int value(const Outcome& outcome) {
    return outcome.payload.size() == 0 ? -1 : static_cast<int>(outcome.payload.data()[0]);
  }

 private:
  std::uint32_t kernel_;

 protected:
  ChannelShared shared;
  SendQueue send;
  WaitStrategy strategy{1000};
  WorkingHousekeeping housekeeping{device};
  ReplyDemux demux;
  Recorder recorder;
};

TEST_F(ReplyDemuxTest, ADrainGivesEachAnswerToItsReceiver) {
  const MessageId waiter = put(1, Receiver::waiter);
  const MessageId completed = put(2, Receiver::completion, &recorder);
  const MessageId plain = put(3, Receiver::mailbox);
  device.work();
  EXPECT_EQ(demux.try_drain(), 3u);
  EXPECT_EQ(demux.try_drain(), 0u);
  EXPECT_EQ(value(demux.wait(waiter, Timeout(0))), 1);
  ASSERT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(recorder.outcomes[0].id, completed);
  std::vector<MessageId> ids(4);
  ids.resize(shared.mailbox.take(ids).value());
  EXPECT_THAT(ids, ElementsAre(plain));
  EXPECT_EQ(value(demux.take(plain)), 3);
  EXPECT_EQ(shared.pending.in_use(), 0u);
  EXPECT_EQ(shared.counts.replied.load(), 3u);
}

TEST_F(ReplyDemuxTest, ALeaderDoesTheChoresThatBringItsAnswer) {
  const MessageId id = put(1, Receiver::waiter);
  EXPECT_EQ(value(demux.wait(id, Timeout(no_deadline))), 1);
  EXPECT_GE(housekeeping.count, 1);
}

TEST_F(ReplyDemuxTest, AFollowerIsWokenByWhoeverDelivers) {
  const MessageId id = put(1, Receiver::waiter);
  std::thread follower;
  demux.while_attached([&] {  // as a leader
    follower = std::thread([&] { EXPECT_EQ(value(demux.wait(id, Timeout(no_deadline))), 1); });
    while (shared.demand.sleepers.load() == 0) std::this_thread::yield();
    EXPECT_EQ(demux.try_drain(), std::nullopt);
  });
  device.work();
  while (demux.try_drain().value_or(0) == 0) {
  }
  follower.join();
  EXPECT_GE(wakes.count, 1) << "the bridge stays awake for it";
}

TEST_F(ReplyDemuxTest, AMessageEndsOnceAndItsReplyIsLate) {
  const MessageId id = put(1, Receiver::completion, &recorder);
  EXPECT_TRUE(demux.cancel(id));
  EXPECT_FALSE(demux.cancel(id));
  demux.end(id, make_error_code(Errc::message_dropped), "again");
  device.work();
  EXPECT_EQ(demux.try_drain(), 1u);
  ASSERT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(recorder.outcomes[0].error, boost::asio::error::operation_aborted);
  EXPECT_EQ(shared.counts.late.load(), 1u);
  EXPECT_EQ(shared.counts.cancelled.load(), 1u);
  EXPECT_EQ(shared.counts.dropped.load(), 0u);
}

TEST_F(ReplyDemuxTest, EndsWhatIsWantedInTheOrderOfAcceptance) {
  std::vector<MessageId> ids;
  for (int i = 0; i < 4; ++i)
    ids.push_back(put(i, i == 1 ? Receiver::waiter : Receiver::completion, &recorder));
  demux.end_armed([](const Slot& slot) { return slot.receiver.load() == Receiver::completion; },
                  make_error_code(Errc::kernel_terminated), "the test");
  ASSERT_EQ(recorder.outcomes.size(), 3u);
  EXPECT_EQ(recorder.outcomes[0].id, ids[0]);
  EXPECT_EQ(recorder.outcomes[1].id, ids[2]);
  EXPECT_EQ(recorder.outcomes[2].id, ids[3]);
  EXPECT_TRUE(shared.pending.armed(ids[1]));
}

TEST_F(ReplyDemuxTest, AssistanceLeavesALongOpToTheBridge) {
  const MessageId id = put(1, Receiver::completion, &recorder, true);
  EXPECT_FALSE(shared.demand.exists());
  clock.step_ns = 1000;
  demux.assist(id, clock.now);
  EXPECT_TRUE(shared.demand.exists());
  EXPECT_FALSE(strategy.assist_pays()) << "it was in vain";
}

TEST_F(ReplyDemuxTest, AssistanceTakesAnAnswerThatIsThere) {
  const MessageId id = put(1, Receiver::completion, &recorder, true);
  device.work();
  demux.assist(id, clock.now);
  EXPECT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(shared.demand.assisted.load(), 0u);
  EXPECT_EQ(shared.demand.completions.load(), 0u);
  EXPECT_TRUE(strategy.assist_pays());
}

TEST_F(ReplyDemuxTest, ARetiredOneTouchesItsRingNoMore) {
  const MessageId id = put(1, Receiver::waiter);
  device.work();
  EXPECT_TRUE(demux.try_retire()) << "with a last drain";
  EXPECT_TRUE(shared.pending.done(id));
  EXPECT_FALSE(demux.while_attached([] { ADD_FAILURE(); }));
  (void)put(2, Receiver::mailbox);
  device.work();
  EXPECT_EQ(demux.try_drain(), 0u);
}

TEST_F(ReplyDemuxTest, IsNotRetiredWhileSomebodyIsAtTheRing) {
  demux.while_attached([&] { EXPECT_FALSE(demux.try_retire()); });
  EXPECT_TRUE(demux.try_retire());
}

TEST_F(ReplyDemuxTest, ALeaderLeavesToWhoEndsTheKernel) {
  device.refuses_launches = true;
  WaitStrategy endless(no_deadline);
  ReplyDemux ending(shared, send, endless, housekeeping, output_ring);
  const MessageId id = put(1, Receiver::waiter);
  std::thread leader([&] {
    EXPECT_EQ(ending.wait(id, Timeout(no_deadline)).error,
              make_error_code(Errc::kernel_terminated));
  });
  ending.note_ending();
  while (shared.demand.sleepers.load() == 0) std::this_thread::yield();
  ending.end(id, make_error_code(Errc::kernel_terminated), "the test");
  leader.join();
}

}  // namespace
}  // namespace ringkernel::bridge::test
