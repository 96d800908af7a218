// The sending half of a channel: room, policies, priorities, waiting submissions.
#include <gmock/gmock.h>

#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::bridge::test {
namespace {

using ::testing::ElementsAre;

class ChannelSend : public SimulatedBridge {
 protected:
  /// A channel whose ring is full (0 and 1) and whose two places on the host are taken (2 and 3).
  std::shared_ptr<Channel> full_channel(Policy policy) {
    auto channel = make_channel({.queue_max = 2, .policy = policy});
    for (int i = 0; i < 4; ++i) ids.push_back(submit(*channel, i, envelope(large)).value());
    EXPECT_EQ(channel->queued(), 2u);
    return channel;
  }
  /// An admission that notes what it is told.
  Admission note() {
    return [this](Result<MessageId> result) { admitted.push_back(std::move(result)); };
  }

  std::vector<MessageId> ids;
  std::vector<Result<MessageId>> admitted;
  Recorder recorder;
};

TEST_F(ChannelSend, KeepsTheOrderThroughRingAndQueue) {
  const auto channel = full_channel(Policy::reject);
  settle(*channel);
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 2, 3));
}

TEST_F(ChannelSend, NothingOvertakesTheQueue) {
  const auto channel = full_channel(Policy::reject);
  device.work();  // the ring is free, the queue is not
  channel->try_drain();
  EXPECT_FALSE(submit(*channel, 4, envelope(64)).has_value());
  settle(*channel);
  EXPECT_TRUE(submit(*channel, 5, envelope(64)));
  settle(*channel);
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 2, 3, 5));
}

TEST_F(ChannelSend, RefusesWhatNeverFits) {
  const auto channel = make_channel();
  EXPECT_EQ(channel->payload_bytes_max(), large);
  EXPECT_EQ(submit(*channel, 0, envelope(large + 1)).error(), Errc::message_too_large);
  Envelope reply_too_large = envelope(64);
  reply_too_large.reply_bytes = large + 1;
  EXPECT_EQ(submit(*channel, 0, reply_too_large).error(), Errc::message_too_large);
  EXPECT_EQ(channel->counters().accepted, 0u);
  EXPECT_EQ(channel->in_flight(), 0u);
}

TEST_F(ChannelSend, BlockFindsNoRoomWhichIsNoError) {
  const auto channel = full_channel(Policy::block);
  const Submission submission =
      channel
          ->submit(envelope(large), Receiver::mailbox, nullptr, Executor::Wake::launch,
                   [](std::byte*) { ADD_FAILURE() << "there is nowhere to write"; })
          .value();
  EXPECT_EQ(submission.room, Room::none);
  EXPECT_EQ(channel->counters().accepted, 4u);
}

TEST_F(ChannelSend, WhoWaitsForRoomIsAcceptedWhenThereIsSome) {
  const auto channel = full_channel(Policy::block);
  const auto send = [&](int value) {
    Envelope waiting = envelope(large);
    Timeout timeout(0);
    const Result<MessageId> id = channel->submit_when_room(
        waiting, Receiver::mailbox, Executor::Wake::launch,
        [&](std::byte* bytes) { std::memset(bytes, value, large); }, timeout, Timeout(no_deadline));
    return std::pair(id, waiting.waits_since_ns);
  };
  const auto [refused, since_ns] = send(4);
  EXPECT_EQ(refused.error(), Errc::deadline_exceeded);
  EXPECT_EQ(since_ns, clock.now);
  device.work();  // so that the wait, which drains, finds room
  const auto [accepted, waited_since_ns] = send(5);
  EXPECT_TRUE(accepted);
  EXPECT_EQ(waited_since_ns, clock.now);
  settle(*channel);
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 2, 3, 5));
}

TEST_F(ChannelSend, WhosePatienceIsOverIsToldOfAFullQueue) {
  const auto channel = full_channel(Policy::block);
  Envelope waiting = envelope(large);
  Timeout timeout(no_deadline);
  EXPECT_EQ(channel
                ->submit_when_room(
                    waiting, Receiver::mailbox, Executor::Wake::launch, [](std::byte*) {}, timeout,
                    Timeout(0))
                .error(),
            Errc::queue_full);
}

TEST_F(ChannelSend, RejectAnswersQueueFull) {
  const auto channel = full_channel(Policy::reject);
  EXPECT_EQ(submit(*channel, 4, envelope(large)).error(), Errc::queue_full);
  EXPECT_EQ(channel->counters().dropped, 0u);
}

TEST_F(ChannelSend, DropNewestRefusesAndCounts) {
  const auto channel = full_channel(Policy::drop_newest);
  EXPECT_EQ(submit(*channel, 4, envelope(large)).error(), Errc::message_dropped);
  EXPECT_EQ(channel->counters().dropped, 1u);
  EXPECT_EQ(channel->counters().failed, 0u);
}

TEST_F(ChannelSend, DropOldestTakesTheOldestOfTheLowestPriority) {
  const auto channel = make_channel({.queue_max = 4, .policy = Policy::drop_oldest});
  for (const auto& [value, priority] : {std::pair{0, 0}, {1, 0}, {2, 5}, {3, -1}, {4, -1}, {5, 0}})
    ids.push_back(submit(*channel, value, envelope(large, no_deadline, priority)).value());
  for (const int dropped : {3, 4, 5}) {
    ASSERT_TRUE(submit(*channel, 6, envelope(large, no_deadline, 9)));
    const Outcome outcome = next(*channel);
    EXPECT_EQ(outcome.id, ids[static_cast<std::size_t>(dropped)]);
    EXPECT_EQ(outcome.error, make_error_code(Errc::message_dropped));
  }
  EXPECT_EQ(channel->counters().dropped, 3u);
  settle(*channel);
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 6, 6, 6, 2));
}

TEST_F(ChannelSend, DropOldestSparesAHigherPriority) {
  const auto channel = make_channel({.queue_max = 2, .policy = Policy::drop_oldest});
  for (const auto& [value, priority] : {std::pair{0, 0}, {1, 0}, {2, 9}, {3, 9}})
    ASSERT_TRUE(submit(*channel, value, envelope(large, no_deadline, priority)));
  EXPECT_EQ(submit(*channel, 4, envelope(large, no_deadline, 8)).error(), Errc::message_dropped);
  EXPECT_EQ(channel->counters().dropped, 1u);
  EXPECT_TRUE(submit(*channel, 5, envelope(large, no_deadline, 9)));
  EXPECT_EQ(next(*channel).error, make_error_code(Errc::message_dropped));
  settle(*channel);
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 3, 5));
}

TEST_F(ChannelSend, DropOldestDropsNothingWithoutASlotForTheNewOne) {
  const auto channel =
      make_channel({.in_flight_max = 4, .queue_max = 2, .policy = Policy::drop_oldest});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(submit(*channel, i, envelope(large)));
  EXPECT_EQ(submit(*channel, 4, envelope(large)).error(), Errc::message_dropped);
  settle(*channel);
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 2, 3));
}

TEST_F(ChannelSend, AnExhaustedSlotTableFollowsThePolicy) {
  for (const auto& [policy, code] : {std::pair{Policy::block, Errc::busy},
                                     {Policy::reject, Errc::queue_full},
                                     {Policy::drop_oldest, Errc::message_dropped},
                                     {Policy::drop_newest, Errc::message_dropped}}) {
    const auto channel = make_channel({.in_flight_max = 2, .policy = policy});
    ASSERT_TRUE(submit(*channel, 0, envelope(64)));
    ASSERT_TRUE(submit(*channel, 1, envelope(64)));
    EXPECT_EQ(submit(*channel, 2, envelope(64)).error(), code);
    settle(*channel);  // answered, but nobody has taken the outcomes
    EXPECT_EQ(submit(*channel, 2, envelope(64)).error(), code);
    EXPECT_THAT(replies(*channel), ElementsAre(0, 1));
    EXPECT_TRUE(submit(*channel, 2, envelope(64)));
    channel->close(Error(Errc::kernel_terminated, ""));
    channel->fail_all(Error(Errc::kernel_terminated, ""));
  }
}

TEST_F(ChannelSend, PrioritiesOrderTheQueueOnly) {
  const auto channel = make_channel({.queue_max = 16, .policy = Policy::reject});
  for (const auto& [value, priority] : {std::pair{0, -9}, {1, -9}, {2, 0}, {3, 7}, {4, -1}, {5, 7}})
    ASSERT_TRUE(submit(*channel, value, envelope(large, no_deadline, priority)));
  settle(*channel);
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 3, 5, 2, 4));
}

TEST_F(ChannelSend, AMessageThatExpiresOnTheHostIsNeverExecuted) {
  const auto channel = make_channel({.queue_max = 4, .policy = Policy::reject});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(submit(*channel, i, envelope(large)));
  const MessageId id = submit(*channel, 2, envelope(large, clock.now + 100)).value();
  ASSERT_TRUE(submit(*channel, 3, envelope(large)));
  clock.now += 99;
  EXPECT_EQ(channel->do_housekeeping(clock.now), 0u);
  EXPECT_EQ(next(*channel).id, 0u);
  clock.now += 1;
  channel->do_housekeeping(clock.now);
  const Outcome expired = next(*channel);
  EXPECT_EQ(expired.id, id);
  EXPECT_EQ(expired.error, make_error_code(Errc::deadline_exceeded));
  settle(*channel);
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 3));
  EXPECT_EQ(executor.telemetry(channel->kernel()).messages_in, 3u);
  EXPECT_EQ(channel->counters().expired, 1u);
  EXPECT_EQ(channel->counters().late, 0u);
}

TEST_F(ChannelSend, AMessageWhoseTimeIsUpIsNotAccepted) {
  const auto channel = make_channel();
  EXPECT_EQ(submit(*channel, 0, envelope(64, clock.now)).error(), Errc::deadline_exceeded);
  EXPECT_TRUE(submit(*channel, 1, envelope(64, clock.now + 1)));
  settle(*channel);
  EXPECT_THAT(replies(*channel), ElementsAre(1));
  EXPECT_EQ(executor.telemetry(channel->kernel()).messages_in, 1u);
  EXPECT_EQ(channel->counters().accepted, 1u);
  EXPECT_EQ(channel->counters().expired, 1u);
}

TEST_F(ChannelSend, ACancelledMessageInTheQueueIsNeverExecuted) {
  const auto channel = full_channel(Policy::reject);
  EXPECT_TRUE(channel->cancel(ids[2]));
  EXPECT_FALSE(channel->cancel(ids[2]));
  EXPECT_EQ(next(*channel).error, boost::asio::error::operation_aborted);
  settle(*channel);
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 3));
  EXPECT_EQ(channel->counters().cancelled, 1u);
}

TEST_F(ChannelSend, WhoWaitsIsAdmittedInOrderAndNobodyOvertakes) {
  const auto channel = full_channel(Policy::block);
  for (const int value : {4, 5})
    (void)channel->submit_later(envelope(large), Receiver::mailbox, nullptr, payload(value, large),
                                note());
  device.work();
  channel->try_drain();
  EXPECT_EQ(submit(*channel, 6, envelope(64)).error(), Errc::busy);
  EXPECT_TRUE(admitted.empty());
  settle(*channel);
  ASSERT_EQ(admitted.size(), 2u);
  EXPECT_TRUE(admitted[0].has_value() && admitted[1].has_value());
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(channel->queued(), 0u);
}

TEST_F(ChannelSend, WhoWaitsIsAdmittedByPriority) {
  const auto channel = full_channel(Policy::block);
  for (const auto& [value, priority] : {std::pair{4, 0}, {5, 7}, {6, 0}, {7, 7}})
    (void)channel->submit_later(envelope(large, no_deadline, priority), Receiver::mailbox, nullptr,
                                payload(value, large), note());
  settle(*channel);
  EXPECT_EQ(admitted.size(), 4u);
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 2, 3, 5, 7, 4, 6));
}

TEST_F(ChannelSend, AWithdrawnSubmissionIsNotAdmitted) {
  const auto channel = full_channel(Policy::block);
  const std::uint64_t ticket =
      channel->submit_later(envelope(large), Receiver::mailbox, nullptr, payload(4, large), note());
  EXPECT_TRUE(channel->withdraw(ticket));
  EXPECT_FALSE(channel->withdraw(ticket));
  EXPECT_EQ(channel->counters().cancelled, 1u);
  settle(*channel);
  EXPECT_TRUE(admitted.empty());
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 2, 3));
}

TEST_F(ChannelSend, AnAdmittedSubmissionCannotBeWithdrawn) {
  const auto channel = full_channel(Policy::block);
  const std::uint64_t ticket =
      channel->submit_later(envelope(large), Receiver::mailbox, nullptr, payload(4, large), note());
  settle(*channel);
  EXPECT_FALSE(channel->withdraw(ticket));
  EXPECT_EQ(admitted.size(), 1u);
}

TEST_F(ChannelSend, WhoseTimeIsUpLeavesFromBehindThoseWhoWait) {
  const auto channel = full_channel(Policy::block);
  (void)channel->submit_later(envelope(large), Receiver::mailbox, nullptr, payload(4, large),
                              note());
  (void)channel->submit_later(envelope(large, clock.now + 10), Receiver::mailbox, nullptr,
                              payload(5, large), note());
  clock.now += 10;
  channel->do_housekeeping(clock.now);
  ASSERT_EQ(admitted.size(), 1u);
  EXPECT_EQ(admitted[0].error(), Errc::deadline_exceeded);
  settle(*channel);
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(channel->counters().accepted, 5u);
}

TEST_F(ChannelSend, CloseRefusesNewMessagesAndEndsThoseWhoWait) {
  const auto channel = full_channel(Policy::block);
  (void)channel->submit_later(envelope(large), Receiver::mailbox, nullptr, payload(4, large),
                              note());
  const Error reason(Errc::kernel_terminated, "'a'");
  channel->close(reason);
  channel->close(Error(Errc::runtime_closed, "too late"));
  ASSERT_EQ(admitted.size(), 1u);
  EXPECT_EQ(admitted[0].error(), Errc::kernel_terminated);
  EXPECT_EQ(submit(*channel, 5, envelope(64)).error(), Errc::kernel_terminated);
  EXPECT_EQ(channel->wait_for_room(no_deadline).error(), Errc::kernel_terminated);
  (void)channel->submit_later(envelope(64), Receiver::mailbox, nullptr, payload(6, 64), note());
  ASSERT_EQ(admitted.size(), 2u);
  EXPECT_EQ(admitted[1].error(), Errc::kernel_terminated);
  // What was accepted goes on.
  settle(*channel);
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1, 2, 3));
}

TEST_F(ChannelSend, WaitingForRoomEndsAtTheDeadline) {
  const auto channel = full_channel(Policy::block);
  EXPECT_EQ(channel->wait_for_room(clock.now).error(), Errc::deadline_exceeded);
  EXPECT_EQ(channel->counters().expired, 1u);
  device.work();
  EXPECT_TRUE(channel->wait_for_room(clock.now));
  EXPECT_TRUE(submit(*channel, 4, envelope(large)));
}

}  // namespace
}  // namespace ringkernel::bridge::test
