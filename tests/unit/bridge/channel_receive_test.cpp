// The receiving half of a channel: demultiplexing, waiting, the mailbox, and how messages end.
#include <gmock/gmock.h>

#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::bridge::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

const Error terminated(Errc::kernel_terminated, "'a'");

class ChannelReceive : public SimulatedBridge {
 protected:
  Recorder recorder;
};

TEST_F(ChannelReceive, EachReceiverGetsItsOwnOutcome) {
  const auto channel = make_channel();
  const MessageId waiter = submit(*channel, 1, envelope(64), Receiver::waiter).value();
  const MessageId completion =
      submit(*channel, 2, envelope(64), Receiver::completion, &recorder).value();
  const MessageId mailbox = submit(*channel, 3, envelope(64)).value();
  settle(*channel);
  const Outcome waited = channel->wait(waiter, Timeout(no_deadline));
  EXPECT_EQ(waited.id, waiter);
  EXPECT_EQ(waited.payload.data()[0], std::byte{1});
  ASSERT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(recorder.outcomes[0].id, completion);
  EXPECT_EQ(recorder.outcomes[0].payload.data()[0], std::byte{2});
  const Outcome received = next(*channel);
  EXPECT_EQ(received.id, mailbox);
  EXPECT_EQ(received.payload.data()[63], std::byte{3});
  EXPECT_EQ(channel->in_flight(), 0u);
  EXPECT_TRUE(channel->idle());
  EXPECT_EQ(channel->counters().replied, 3u);
}

/// A place for replies of eight bytes that begin with `prefix`.
struct Place {
  explicit Place(std::byte prefix_byte) : prefix(prefix_byte) {}
  std::byte prefix;
  std::array<std::byte, 7> data{};
  std::array<ReplyPlace::Part, 2> parts{ReplyPlace::Part{4, data.data(), 3},
                                        ReplyPlace::Part{0, data.data() + 3, 4}};
  ReplyPlace place{{&prefix, 1}, 8, parts};

  /// Of a message of so many bytes whose reply belongs here.
  Envelope envelope(std::uint32_t bytes) {
    return {.payload_bytes = bytes, .reply_bytes = bytes, .reply_place = &place};
  }
};

TEST_F(ChannelReceive, AWaiterHasItsReplyInItsPlace) {
  const auto channel = make_channel();
  Place place(std::byte{5});
  const MessageId id = submit(*channel, 5, place.envelope(8), Receiver::waiter).value();
  settle(*channel);
  const Outcome outcome = channel->wait(id, Timeout(no_deadline));
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.payload.size(), 0u);
  EXPECT_TRUE(place.place.is_taken);
  EXPECT_THAT(place.data, Each(std::byte{5}));
}

TEST_F(ChannelReceive, AnotherReplyThanTheExpectedOneIsAPayload) {
  const auto channel = make_channel();
  Place place(std::byte{5});
  const MessageId first = submit(*channel, 6, place.envelope(8), Receiver::waiter).value();
  settle(*channel);
  EXPECT_EQ(channel->wait(first, Timeout(no_deadline)).payload.size(), 8u);
  const MessageId second = submit(*channel, 5, place.envelope(16), Receiver::waiter).value();
  settle(*channel);
  EXPECT_EQ(channel->wait(second, Timeout(no_deadline)).payload.size(), 16u);
  EXPECT_FALSE(place.place.is_taken);
  EXPECT_THAT(place.data, Each(std::byte{0}));
}

TEST_F(ChannelReceive, ALateReplyIsWrittenNowhere) {
  const auto channel = make_channel();
  Place place(std::byte{5});
  const MessageId id = submit(*channel, 5, place.envelope(8), Receiver::waiter).value();
  EXPECT_EQ(channel->wait(id, Timeout(0)).error, make_error_code(Errc::deadline_exceeded));
  // Whoever has the slot next is not asked for the place of the one before.
  const MessageId next_id = submit(*channel, 5, envelope(8), Receiver::waiter).value();
  settle(*channel);
  EXPECT_EQ(channel->counters().late, 1u);
  EXPECT_EQ(channel->wait(next_id, Timeout(no_deadline)).payload.size(), 8u);
  EXPECT_FALSE(place.place.is_taken);
  EXPECT_THAT(place.data, Each(std::byte{0}));
}

TEST_F(ChannelReceive, AWaiterWhoseTimeIsUpGivesUp) {
  const auto channel = make_channel();
  const MessageId id = submit(*channel, 1, envelope(64), Receiver::waiter).value();
  const Outcome outcome = channel->wait(id, Timeout(0));
  EXPECT_EQ(outcome.id, id);
  EXPECT_EQ(outcome.error, make_error_code(Errc::deadline_exceeded));
  settle(*channel);
  EXPECT_EQ(channel->counters().expired, 1u);
  EXPECT_EQ(channel->counters().late, 1u);
  EXPECT_EQ(channel->in_flight(), 0u);
}

TEST_F(ChannelReceive, AMessageInFlightExpiresAndItsReplyIsLate) {
  const auto channel = make_channel();
  ASSERT_TRUE(submit(*channel, 1, envelope(64, clock.now + 5), Receiver::completion, &recorder));
  EXPECT_EQ(channel->next_deadline_ns(), clock.now + 5);
  clock.now += 5;
  channel->do_housekeeping(clock.now);
  ASSERT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(recorder.outcomes[0].error, make_error_code(Errc::deadline_exceeded));
  EXPECT_EQ(channel->next_deadline_ns(), no_deadline);
  settle(*channel);
  EXPECT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(channel->counters().late, 1u);
}

TEST_F(ChannelReceive, TheEarliestOfManyDeadlinesIsKnown) {
  const auto channel = make_channel();
  for (const std::uint64_t after : {30u, 10u, 20u})
    ASSERT_TRUE(submit(*channel, 1, envelope(64, clock.now + after)));
  const std::uint64_t start = clock.now;
  for (const std::uint64_t after : {10u, 20u, 30u}) {
    EXPECT_EQ(channel->next_deadline_ns(), start + after);
    clock.now = start + after;
    channel->do_housekeeping(clock.now);
    EXPECT_NE(next(*channel).id, 0u);
  }
  EXPECT_EQ(channel->next_deadline_ns(), no_deadline);
}

// The slot of a message that was given up is in use again when its reply comes.
TEST_F(ChannelReceive, ALateReplyDoesNotReachTheSlotsNextMessage) {
  const auto channel = make_channel({.in_flight_max = 1});
  const MessageId old = submit(*channel, 1, envelope(64), Receiver::completion, &recorder).value();
  EXPECT_TRUE(channel->cancel(old));
  Recorder second;
  ASSERT_TRUE(submit(*channel, 2, envelope(64), Receiver::completion, &second));
  settle(*channel);
  EXPECT_EQ(recorder.outcomes[0].error, boost::asio::error::operation_aborted);
  ASSERT_EQ(second.outcomes.size(), 1u);
  EXPECT_EQ(second.outcomes[0].payload.data()[0], std::byte{2});
  EXPECT_EQ(channel->counters().late, 1u);
  EXPECT_FALSE(channel->cancel(old));
}

TEST_F(ChannelReceive, ADeviceFaultIsTheMessagesOutcome) {
  const auto channel = make_channel();
  Envelope unequal = envelope(64);
  unequal.reply_bytes = 128;  // the program echo refuses that
  const MessageId id = submit(*channel, 1, unequal).value();
  settle(*channel);
  const Outcome outcome = next(*channel);
  EXPECT_EQ(outcome.id, id);
  EXPECT_EQ(outcome.error, make_error_code(Errc::reply_too_small));
  EXPECT_EQ(outcome.fault_detail, 64u);
  EXPECT_EQ(channel->counters().failed, 1u);
}

TEST_F(ChannelReceive, AWaitingReceiverIsServedBeforeTheMailbox) {
  const auto channel = make_channel();
  (void)channel->receive_later(&recorder, no_deadline);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(submit(*channel, i, envelope(64)));
  settle(*channel);
  ASSERT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(recorder.outcomes[0].payload.data()[0], std::byte{0});
  EXPECT_THAT(replies(*channel), ElementsAre(1));
}

TEST_F(ChannelReceive, AReceiverFindsWhatCameBefore) {
  const auto channel = make_channel();
  ASSERT_TRUE(submit(*channel, 7, envelope(64)));
  device.work();
  (void)channel->receive_later(&recorder, no_deadline);
  ASSERT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(recorder.outcomes[0].payload.data()[0], std::byte{7});
}

TEST_F(ChannelReceive, AWaitingReceiverExpires) {
  const auto channel = make_channel();
  const std::uint64_t ticket = channel->receive_later(&recorder, clock.now + 10);
  EXPECT_EQ(channel->next_deadline_ns(), clock.now + 10);
  EXPECT_EQ(wakes.count, 1);  // the bridge has to know of the deadline
  clock.now += 10;
  channel->do_housekeeping(clock.now);
  ASSERT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(recorder.outcomes[0].id, 0u);
  EXPECT_EQ(recorder.outcomes[0].error, make_error_code(Errc::deadline_exceeded));
  EXPECT_FALSE(channel->stop_receiving(ticket));
}

TEST_F(ChannelReceive, AReceiverThatStoppedTakesNothing) {
  const auto channel = make_channel();
  const std::uint64_t ticket = channel->receive_later(&recorder, no_deadline);
  EXPECT_TRUE(channel->stop_receiving(ticket));
  EXPECT_FALSE(channel->stop_receiving(ticket));
  ASSERT_TRUE(submit(*channel, 1, envelope(64)));
  settle(*channel);
  EXPECT_TRUE(recorder.outcomes.empty());
  EXPECT_THAT(replies(*channel), ElementsAre(1));
}

TEST_F(ChannelReceive, FailAllEndsWhatHasNoOutcomeAndKeepsWhatHas) {
  const auto channel = make_channel();
  ASSERT_TRUE(submit(*channel, 1, envelope(64)));
  settle(*channel);
  const MessageId id = submit(*channel, 2, envelope(64)).value();
  ASSERT_TRUE(submit(*channel, 3, envelope(64), Receiver::completion, &recorder));
  Recorder receiver;
  channel->close(terminated);
  channel->fail_all(terminated);
  EXPECT_EQ(next(*channel).payload.data()[0], std::byte{1});
  const Outcome failed = next(*channel);
  EXPECT_EQ(failed.id, id);
  EXPECT_EQ(failed.error, terminated.code);
  EXPECT_EQ(failed.detail, "'a'");
  const Outcome nothing_more = next(*channel);
  EXPECT_EQ(nothing_more.id, 0u);
  EXPECT_EQ(nothing_more.error, terminated.code);
  ASSERT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(recorder.outcomes[0].error, terminated.code);
  (void)channel->receive_later(&receiver, no_deadline);
  ASSERT_EQ(receiver.outcomes.size(), 1u);
  EXPECT_EQ(receiver.outcomes[0].error, terminated.code);
  EXPECT_TRUE(channel->idle());
}

/// Slots that came back are given out again the other way round.
TEST_F(ChannelReceive, MessagesThatEndTogetherEndInTheirOrder) {
  constexpr int messages = 8;
  const auto channel = make_channel({}, false);
  const std::uint64_t deadline_ns = clock.now + 10;
  const auto send = [&](std::uint64_t until_ns) {
    std::vector<MessageId> ids;
    for (int i = 0; i < messages; ++i)
      ids.push_back(submit(*channel, i, envelope(64, until_ns)).value());
    return ids;
  };
  const auto ended = [&] {
    std::vector<MessageId> ids;
    for (int i = 0; i < messages; ++i) ids.push_back(next(*channel).id);
    return ids;
  };
  for (int round = 0; round < 2; ++round) {
    const std::vector<MessageId> sent = send(deadline_ns + clock.now);
    clock.now += deadline_ns;
    channel->do_housekeeping(clock.now);
    EXPECT_EQ(ended(), sent) << "expired, round " << round;
  }
  const std::vector<MessageId> sent = send(no_deadline);
  channel->close(terminated);
  channel->fail_all(terminated);
  EXPECT_EQ(ended(), sent) << "failed";
}

TEST_F(ChannelReceive, FailAllEndsWaitingReceivers) {
  const auto channel = make_channel();
  (void)channel->receive_later(&recorder, no_deadline);
  channel->fail_all(terminated);
  ASSERT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(recorder.outcomes[0].error, terminated.code);
}

TEST_F(ChannelReceive, RetiringDeliversTheRepliesThatWereMade) {
  const auto channel = make_channel({.queue_max = 8});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(submit(*channel, i, envelope(large)));
  device.work();  // 0 and 1 are answered, 2 and 3 wait on the host
  channel->close(terminated);
  EXPECT_TRUE(channel->try_retire());
  channel->fail_all(terminated);
  EXPECT_EQ(channel->queued(), 0u);
  EXPECT_THAT(replies(*channel), ElementsAre(0, 1));
  EXPECT_EQ(channel->counters().replied, 2u);
  EXPECT_EQ(channel->counters().failed, 2u);
  EXPECT_EQ(channel->try_drain(), 0u);
}

TEST_F(ChannelReceive, ARefusedLaunchFailsEveryMessageWithThatError) {
  const auto channel = make_channel();
  device.refuses_launches = true;
  const MessageId waiter = submit(*channel, 1, envelope(64), Receiver::waiter).value();
  channel->do_housekeeping(clock.now);
  const Outcome outcome = channel->wait(waiter, Timeout(no_deadline));
  EXPECT_EQ(outcome.error, make_error_code(Errc::device_error));
  EXPECT_EQ(outcome.detail, "the launch was refused");
  EXPECT_EQ(submit(*channel, 2, envelope(64)).error(), Errc::device_error);
  EXPECT_EQ(next(*channel).error, make_error_code(Errc::device_error));
}

// The device wrote nonsense: the channel says so, and does not read it.
TEST_F(ChannelReceive, ARecordThatMakesNoSenseFailsTheKernel) {
  const auto channel = make_channel();
  ASSERT_TRUE(submit(*channel, 1, envelope(64), Receiver::completion, &recorder));
  device.work();
  output_ring.record(0)->length = 0x7fffffc0;
  channel->try_drain();
  channel->do_housekeeping(clock.now);
  ASSERT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(recorder.outcomes[0].error, make_error_code(Errc::bad_record));
  EXPECT_EQ(submit(*channel, 2, envelope(64)).error(), Errc::bad_record);
  EXPECT_TRUE(channel->try_retire());
}

TEST_F(ChannelReceive, AReplyThatNobodyAskedForIsCounted) {
  const auto channel = make_channel();
  ASSERT_TRUE(submit(*channel, 1, envelope(64)));
  device.work();
  output_ring.record(0)->correlation_id ^= 0x10000;
  settle(*channel);
  EXPECT_EQ(channel->counters().late, 1u);
  EXPECT_EQ(next(*channel).id, 0u);
  EXPECT_EQ(channel->in_flight(), 1u);
}

TEST_F(ChannelReceive, AFaultyInputRingFailsTheKernel) {
  const auto channel = make_channel({}, false);
  ASSERT_TRUE(submit(*channel, 1, envelope(64), Receiver::completion, &recorder));
  // The input ring lies before the output ring.
  auto* const record = reinterpret_cast<rk_record_header*>(
      reinterpret_cast<std::byte*>(output_ring.lines) - ring_capacity);
  record->length = 8;
  channel->set_state(RK_KERNEL_RUNNING);
  device.work();
  channel->do_housekeeping(clock.now);
  ASSERT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(recorder.outcomes[0].error, make_error_code(Errc::bad_record));
}

TEST_F(ChannelReceive, NeedsTheBridgeOnlyForThoseWhoCannotHelpThemselves) {
  const auto channel = make_channel({.queue_max = 8});
  EXPECT_FALSE(channel->needs_bridge());
  const std::uint64_t idle_receiver = channel->receive_later(&recorder, no_deadline);
  EXPECT_FALSE(channel->needs_bridge()) << "a receiver, but no message under way";
  ASSERT_TRUE(submit(*channel, 1, envelope(64)));
  EXPECT_TRUE(channel->needs_bridge()) << "a receiver and a message";
  EXPECT_TRUE(channel->stop_receiving(idle_receiver));
  EXPECT_FALSE(channel->needs_bridge()) << "a message that nobody waits for";
  settle(*channel);
  ASSERT_TRUE(submit(*channel, 2, envelope(64), Receiver::waiter));
  EXPECT_FALSE(channel->needs_bridge()) << "a waiter that has not fallen asleep";
  ASSERT_TRUE(submit(*channel, 3, envelope(64), Receiver::completion, &recorder));
  EXPECT_TRUE(channel->needs_bridge()) << "a completion";
  settle(*channel);
  EXPECT_FALSE(channel->needs_bridge());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(submit(*channel, i, envelope(large)));
  EXPECT_TRUE(channel->needs_bridge()) << "a message queued on the host";
}

/// As `envelope`, of a sender that is about to assist.
Envelope assisted(std::uint32_t bytes) {
  return {.payload_bytes = bytes, .reply_bytes = bytes, .assisted = true};
}

TEST_F(ChannelReceive, WhoAssistsFindsTheReplyWithoutTheBridge) {
  const auto channel = make_channel();
  const MessageId id = submit(*channel, 1, assisted(64), Receiver::completion, &recorder).value();
  EXPECT_FALSE(channel->needs_bridge());
  device.work();
  channel->assist(id, clock.now_ns());
  EXPECT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_FALSE(channel->needs_bridge());
  EXPECT_TRUE(channel->assist_pays());
  EXPECT_EQ(wakes.count, 0);
}

TEST_F(ChannelReceive, WhoAssistedInVainLeavesTheMessageToTheBridge) {
  const auto channel = make_channel();
  clock.step_ns = 1000;
  const MessageId id = submit(*channel, 1, assisted(64), Receiver::completion, &recorder).value();
  channel->assist(id, clock.now_ns());
  EXPECT_TRUE(channel->needs_bridge());
  EXPECT_EQ(wakes.count, 1);
  EXPECT_FALSE(channel->assist_pays());
  device.work();
  channel->try_drain();
  EXPECT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_FALSE(channel->needs_bridge());
}

// Another thread is at the rings at that moment. Where senders run their slices themselves, the
// next one may.
TEST_F(ChannelReceive, ALookInVainMakesNoPauseWhereSendersRunTheirSlices) {
  device.runs_callers = true;
  const auto channel = make_channel();
  clock.step_ns = 1000;
  const MessageId id = submit(*channel, 1, assisted(64), Receiver::completion, &recorder).value();
  channel->assist(id, clock.now_ns());
  EXPECT_TRUE(channel->needs_bridge());
  EXPECT_TRUE(channel->assist_pays());
}

// The op ran on the sender's thread, and took too long for one that did not ask to wait.
TEST_F(ChannelReceive, AnOpThatKeptItsSenderWaitingIsLeftToOthersNextTime) {
  const auto channel = make_channel();
  const std::uint64_t submitted_ns = clock.now_ns();
  const MessageId id = submit(*channel, 1, assisted(64), Receiver::completion, &recorder).value();
  device.work();
  clock.now += 1'000'000;
  channel->assist(id, submitted_ns);
  EXPECT_EQ(recorder.outcomes.size(), 1u);
  int left_alone = 0;
  while (!channel->assist_pays()) ++left_alone;
  EXPECT_EQ(left_alone, 16);
}

TEST_F(ChannelReceive, AfterEachFailureInARowTheNextTryIsTwiceAsFarAway) {
  const auto channel = make_channel();
  clock.step_ns = 1000;
  for (const int expected : {16, 32, 64}) {
    const MessageId id = submit(*channel, 1, assisted(64), Receiver::completion, &recorder).value();
    channel->assist(id, clock.now_ns());
    int left_alone = 0;
    while (!channel->assist_pays()) ++left_alone;
    EXPECT_EQ(left_alone, expected);
  }
  const MessageId id = submit(*channel, 1, assisted(64), Receiver::completion, &recorder).value();
  device.work();
  channel->assist(id, clock.now_ns());
  EXPECT_TRUE(channel->assist_pays());
}

// Whatever ends an assisted message first, none stays counted as assisted: that would hide the
// next message from the bridge.
TEST_F(ChannelReceive, AnAssistedMessageThatEndsBeforeIsNotCountedAnyMore) {
  const auto channel = make_channel({.in_flight_max = 1});
  const MessageId id = submit(*channel, 1, assisted(64), Receiver::completion, &recorder).value();
  EXPECT_TRUE(channel->cancel(id));
  channel->assist(id, clock.now_ns());
  settle(*channel);
  ASSERT_TRUE(submit(*channel, 2, envelope(64), Receiver::completion, &recorder));
  EXPECT_TRUE(channel->needs_bridge());
}

}  // namespace
}  // namespace ringkernel::bridge::test
