// What a message holds is released exactly once, and not before the device is done with it.
#include <gmock/gmock.h>

#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::bridge::test {
namespace {

class CountedLease final : public Lease {
 public:
  void release() noexcept override { ++released; }
  int released = 0;
};

class ChannelLeases : public SimulatedBridge {
 protected:
  Envelope holding(std::uint32_t bytes, std::uint64_t deadline_ns = no_deadline) {
    Envelope result = envelope(bytes, deadline_ns);
    result.lease = &lease;
    return result;
  }
  /// A channel whose ring is full, so that the next message is queued on the host.
  std::shared_ptr<Channel> full_channel(Policy policy, std::uint32_t queue_max = 1) {
    auto channel = make_channel({.queue_max = queue_max, .policy = policy});
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(submit(*channel, i, envelope(large)));
    return channel;
  }

  CountedLease lease;
};

TEST_F(ChannelLeases, AreReleasedWithTheAnswer) {
  const auto channel = make_channel();
  ASSERT_TRUE(submit(*channel, 1, envelope(64)));
  ASSERT_TRUE(submit(*channel, 2, holding(64)));
  ASSERT_TRUE(submit(*channel, 3, envelope(64)));
  EXPECT_EQ(lease.released, 0);
  device.work();
  EXPECT_EQ(lease.released, 0);
  channel->try_drain();
  EXPECT_EQ(lease.released, 1);
}

TEST_F(ChannelLeases, AreReleasedBeforeTheOutcomeIsHandedOver) {
  class Witness final : public Completion {
   public:
    explicit Witness(const CountedLease& what) : lease(what) {}
    void complete(Outcome) noexcept override { released_before = lease.released; }
    const CountedLease& lease;
    int released_before = -1;
  };
  Witness witness(lease);
  const auto channel = make_channel();
  ASSERT_TRUE(submit(*channel, 1, holding(64), Receiver::completion, &witness));
  settle(*channel);
  EXPECT_EQ(witness.released_before, 1);
}

TEST_F(ChannelLeases, OutliveAMessageThatWasCancelledInTheRing) {
  const auto channel = make_channel();
  const MessageId id = submit(*channel, 1, holding(64)).value();
  ASSERT_TRUE(channel->cancel(id));
  channel->try_drain();
  EXPECT_EQ(lease.released, 0);
  settle(*channel);
  EXPECT_EQ(lease.released, 1);
  EXPECT_EQ(channel->counters().late, 1u);
}

TEST_F(ChannelLeases, OutliveAMessageThatExpiredInTheRing) {
  const auto channel = make_channel();
  ASSERT_TRUE(submit(*channel, 1, holding(64, clock.now + 10)));
  clock.now += 10;
  channel->do_housekeeping(clock.now);
  EXPECT_EQ(channel->counters().expired, 1u);
  EXPECT_EQ(lease.released, 0);
  settle(*channel);
  EXPECT_EQ(lease.released, 1);
}

TEST_F(ChannelLeases, StayWithTheSenderOfARefusedMessage) {
  const auto channel = full_channel(Policy::reject, 0);
  EXPECT_FALSE(submit(*channel, 2, holding(large)).has_value());
  settle(*channel);
  EXPECT_EQ(lease.released, 0);
}

TEST_F(ChannelLeases, OfAQueuedMessageGoThroughTheRing) {
  const auto channel = full_channel(Policy::reject);
  ASSERT_TRUE(submit(*channel, 2, holding(large)));
  device.work();
  channel->try_drain();
  channel->do_housekeeping(clock.now);  // moves it into the ring
  EXPECT_EQ(lease.released, 0);
  settle(*channel);
  EXPECT_EQ(lease.released, 1);
}

TEST_F(ChannelLeases, OfAMessageThatEndsInTheQueueAreReleased) {
  const auto cancelled = full_channel(Policy::reject);
  const MessageId id = submit(*cancelled, 2, holding(large)).value();
  ASSERT_TRUE(cancelled->cancel(id));
  settle(*cancelled);
  EXPECT_EQ(lease.released, 1);

  const auto expired = full_channel(Policy::reject);
  ASSERT_TRUE(submit(*expired, 2, holding(large, clock.now + 10)));
  clock.now += 10;
  settle(*expired);
  EXPECT_EQ(lease.released, 2);

  const auto dropped = full_channel(Policy::drop_oldest);
  ASSERT_TRUE(submit(*dropped, 2, holding(large)));
  ASSERT_TRUE(submit(*dropped, 3, envelope(large)));
  EXPECT_EQ(lease.released, 3);
}

TEST_F(ChannelLeases, OfAWaitingSubmissionAreReleasedHoweverItEnds) {
  const auto channel = full_channel(Policy::block, 1);
  ASSERT_TRUE(submit(*channel, 2, envelope(large)));
  const auto later = [&](std::uint64_t deadline_ns) {
    return channel->submit_later(holding(large, deadline_ns), Receiver::mailbox, nullptr,
                                 payload(3, large), [](Result<MessageId>) {});
  };
  ASSERT_TRUE(channel->withdraw(later(no_deadline)));
  EXPECT_EQ(lease.released, 1);
  (void)later(clock.now + 10);
  clock.now += 10;
  channel->do_housekeeping(clock.now);
  EXPECT_EQ(lease.released, 2);
  (void)later(no_deadline);
  channel->close(Error(Errc::kernel_terminated, "the test"));
  EXPECT_EQ(lease.released, 3);
  (void)later(no_deadline);
  EXPECT_EQ(lease.released, 4);
}

TEST_F(ChannelLeases, OfAnEndedKernelAreReleasedOnlyWhenTheDeviceObeys) {
  const Error reason(Errc::kernel_terminated, "the test");
  CountedLease in_ring;
  const auto other = make_channel();
  const auto channel = full_channel(Policy::reject);
  Envelope in_ring_envelope = envelope(64);
  in_ring_envelope.lease = &in_ring;
  ASSERT_TRUE(submit(*other, 1, in_ring_envelope));
  other->close(reason);
  ASSERT_TRUE(other->try_retire());
  other->fail_all(reason);
  EXPECT_TRUE(other->idle());
  EXPECT_EQ(in_ring.released, 0);
  other->release_leases();
  EXPECT_EQ(in_ring.released, 1);

  ASSERT_TRUE(submit(*channel, 2, holding(large)));  // queued: the device never sees it
  channel->close(reason);
  ASSERT_TRUE(channel->try_retire());
  EXPECT_EQ(lease.released, 1);
  channel->release_leases();
  EXPECT_EQ(lease.released, 1);
}

}  // namespace
}  // namespace ringkernel::bridge::test
