// Where the time of a message goes, on a clock that only the test advances.
#include <gmock/gmock.h>

#include <map>

#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::bridge::test {
namespace {

/// Of a histogram: how often each duration was seen.
std::map<std::uint64_t, std::uint64_t> seen(const Histogram& histogram) {
  std::map<std::uint64_t, std::uint64_t> durations;
  histogram.visit([&](std::uint32_t bucket, std::uint64_t count) {
    durations[Histogram::longest_of(bucket)] = count;
  });
  return durations;
}

using Seen = std::map<std::uint64_t, std::uint64_t>;

class ChannelLatency : public SimulatedBridge {
 protected:
  std::shared_ptr<Channel> timed(std::uint32_t every = 1) {
    return make_channel({.queue_max = 8, .policy = Policy::block, .sample_every = every});
  }
  /// The record in the output ring of the channel made last that is drained next.
  rk_record_header& next_reply() {
    return *output_ring.record(output_ring.lines->consumer.position);
  }
  Recorder recorder;
};

/// How many of `messages` are picked within one tick of the coarse clock.
std::uint64_t picked(Sampler& sampler, std::uint64_t tick_ns, std::uint64_t messages) {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < messages; ++i) count += sampler.next(tick_ns) ? 1 : 0;
  return count;
}

TEST(Sampler, PicksOneInSoMany) {
  Sampler sampler(64);
  std::uint64_t count = 0;
  for (std::uint64_t tick = 1; tick <= 1000; ++tick) count += picked(sampler, tick, 640);
  EXPECT_GT(count, 9000u);
  EXPECT_LT(count, 11000u);
}

TEST(Sampler, PicksFewOfDenseTraffic_AndSoManyAgainBehindIt) {
  Sampler sampler(64);
  for (std::uint64_t tick = 1; tick <= 5; ++tick) picked(sampler, tick, 100'000);
  for (std::uint64_t tick = 6; tick <= 50; ++tick) {
    const std::uint64_t count = picked(sampler, tick, 100'000);  // 1562 without that
    EXPECT_LE(count, 2 * Sampler::tick_samples_max) << tick;
    EXPECT_GE(count, Sampler::tick_samples_max / 8) << tick;
  }
  for (std::uint64_t tick = 51; tick <= 1000; ++tick) picked(sampler, tick, 640);
  std::uint64_t count = 0;
  for (std::uint64_t tick = 1001; tick <= 2000; ++tick) count += picked(sampler, tick, 640);
  EXPECT_GT(count, 9000u);
}

TEST(Sampler, ForgetsDenseTrafficAfterARest) {
  Sampler sampler(64);
  for (std::uint64_t tick = 1; tick <= 5; ++tick) picked(sampler, tick, 1'000'000);
  EXPECT_EQ(picked(sampler, 5 + Sampler::rest_ns, 1), 1u);
  EXPECT_GT(picked(sampler, 6 + Sampler::rest_ns, 640), 0u);
}

TEST(Sampler, PicksEachIfEachIsWanted_AndNoneIfNone) {
  Sampler each(1);
  EXPECT_EQ(picked(each, 1, 100'000), 100'000u);
  Sampler none(0);
  EXPECT_EQ(picked(none, 1, 100'000), 0u);
}

#if defined(__x86_64__)
constexpr bool native_has_ticks = true;
#else
constexpr bool native_has_ticks = false;
#endif

TEST_F(ChannelLatency, HasTheTimesOfEachHop) {
  const auto channel = timed();
  ASSERT_TRUE(submit(*channel, 1, envelope(64)));
  clock.now += 100;
  device.work();
  channel->try_drain();
  clock.now += 20;
  ASSERT_NE(next(*channel).id, 0u);
  EXPECT_EQ(seen(channel->latencies()->host_queue), (Seen{{0, 1}}));
  EXPECT_EQ(seen(channel->latencies()->device), (Seen{{100, 1}}));
  EXPECT_EQ(seen(channel->latencies()->delivery), (Seen{{20, 1}}));
  EXPECT_EQ(seen(channel->latencies()->total), (Seen{{120, 1}}));
}

TEST_F(ChannelLatency, CountsTheWaitForRoom) {
  const auto channel = timed();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(submit(*channel, i, envelope(large)));
  ASSERT_EQ(channel->queued(), 1u);
  clock.now += 30;
  device.work();
  channel->try_drain();
  channel->do_housekeeping(clock.now);  // the third enters the ring
  clock.now += 7;
  settle(*channel);
  EXPECT_EQ(replies(*channel).size(), 3u);
  EXPECT_EQ(seen(channel->latencies()->host_queue), (Seen{{0, 2}, {30, 1}}));
  EXPECT_EQ(seen(channel->latencies()->device), (Seen{{30, 2}, {7, 1}}));
  EXPECT_EQ(seen(channel->latencies()->total), (Seen{{37, 3}}));
}

TEST_F(ChannelLatency, CountsTheWaitForAPlace) {
  const auto channel = make_channel({.in_flight_max = 1, .sample_every = 1});
  ASSERT_TRUE(submit(*channel, 1, envelope(64)));
  (void)channel->submit_later(envelope(64), Receiver::completion, &recorder, payload(2, 64),
                              [](const Result<MessageId>&) {});
  clock.now += 50;
  settle(*channel);
  ASSERT_EQ(replies(*channel).size(), 1u);  // gives its place to the other
  settle(*channel);
  ASSERT_EQ(recorder.outcomes.size(), 1u);
  EXPECT_EQ(seen(channel->latencies()->host_queue), (Seen{{0, 1}, {50, 1}}));
}

TEST_F(ChannelLatency, CountsTheWaitOfASenderThatWasTurnedAway) {
  const auto channel = timed();
  Envelope patient = envelope(64);
  patient.waits_since_ns = clock.now;
  clock.now += 40;
  ASSERT_TRUE(submit(*channel, 1, patient));
  clock.now += 3;
  settle(*channel);
  ASSERT_NE(next(*channel).id, 0u);
  EXPECT_EQ(seen(channel->latencies()->host_queue), (Seen{{40, 1}}));
  EXPECT_EQ(seen(channel->latencies()->device), (Seen{{3, 1}}));
  EXPECT_EQ(seen(channel->latencies()->total), (Seen{{43, 1}}));
}

TEST_F(ChannelLatency, HasTheExecutorsShareWhereItsClockIsKnown) {
  const auto channel = timed();
  clock.knows_ticks = true;
  ASSERT_TRUE(submit(*channel, 1, envelope(64)));
  const std::uint64_t entered_ns = clock.now;
  clock.now += 100;
  device.work();
  rk_record_header& reply = next_reply();
  EXPECT_EQ(reply.flags, 1u) << "the program's version";
  reply.taken_ticks = entered_ns + 30;
  reply.done_ticks = entered_ns + 85;
  channel->try_drain();
  ASSERT_NE(next(*channel).id, 0u);
  EXPECT_EQ(seen(channel->latencies()->device), (Seen{{100, 1}}));
  EXPECT_EQ(seen(channel->latencies()->to_device), (Seen{{30, 1}}));
  EXPECT_EQ(seen(channel->latencies()->executor), (Seen{{55, 1}}));
  EXPECT_EQ(seen(channel->latencies()->to_host), (Seen{{15, 1}}));
}

TEST_F(ChannelLatency, HasNoSharesWithoutAClock) {
  for (const bool knows_ticks : {false, true}) {
    const auto channel = timed();
    clock.knows_ticks = knows_ticks;
    ASSERT_TRUE(submit(*channel, 1, envelope(64)));
    device.work();
    rk_record_header& reply = next_reply();
    if (knows_ticks) reply.taken_ticks = reply.done_ticks = 0;  // the device has none
    channel->try_drain();
    ASSERT_NE(next(*channel).id, 0u);
    EXPECT_EQ(seen(channel->latencies()->device).size(), 1u);
    EXPECT_TRUE(seen(channel->latencies()->executor).empty());
  }
}

/// The device looks at its clock for messages whose times are taken, and for no others.
TEST_F(ChannelLatency, AsksTheDeviceOfMessagesThatAreTimed) {
  for (const std::uint32_t every : {0u, 1u}) {
    const auto channel = timed(every);
    ASSERT_TRUE(submit(*channel, 1, envelope(64)));
    device.work();
    EXPECT_EQ(next_reply().taken_ticks != 0, every == 1 && native_has_ticks);
    channel->try_drain();
    ASSERT_NE(next(*channel).id, 0u);
  }
}

TEST_F(ChannelLatency, IsNotSpoiledByADevice) {
  const auto channel = timed();
  clock.knows_ticks = true;
  using Ticks = std::pair<std::uint64_t, std::uint64_t>;
  const std::uint64_t last = ~std::uint64_t{0};
  for (const auto& [taken, done] :
       {Ticks(last, last), Ticks(last, last - 1), Ticks(1, 1), Ticks(last, 1)}) {
    ASSERT_TRUE(submit(*channel, 1, envelope(64)));
    clock.now += 60;
    device.work();
    rk_record_header& reply = next_reply();
    reply.taken_ticks = taken;
    reply.done_ticks = done;
    channel->try_drain();
    ASSERT_NE(next(*channel).id, 0u);
  }
  const Latencies& latencies = *channel->latencies();
  EXPECT_EQ(latencies.total.sum_ns(), 240u);
  EXPECT_EQ(latencies.host_queue.sum_ns() + latencies.device.sum_ns(), 240u);
  EXPECT_EQ(latencies.to_device.sum_ns() + latencies.executor.sum_ns() + latencies.to_host.sum_ns(),
            240u);
}

TEST_F(ChannelLatency, IsOfMessagesThatTheDeviceAnswered) {
  const auto channel = timed();
  const MessageId id = submit(*channel, 1, envelope(64), Receiver::completion, &recorder).value();
  EXPECT_TRUE(channel->cancel(id));
  settle(*channel);
  EXPECT_EQ(channel->counters().late, 1u);
  EXPECT_TRUE(seen(channel->latencies()->total).empty());
  EXPECT_TRUE(seen(channel->latencies()->device).empty());
}

TEST_F(ChannelLatency, IsASampleOfAboutTheSizeAskedFor) {
  const auto channel = timed(8);
  constexpr std::uint64_t messages = 8'000;
  for (std::uint64_t i = 0; i < messages; ++i) {
    ++clock.now;  // sparse traffic
    ASSERT_TRUE(submit(*channel, 1, envelope(64)));
    settle(*channel);
    ASSERT_NE(next(*channel).id, 0u);
  }
  const std::uint64_t sampled = seen(channel->latencies()->total)[0];
  EXPECT_GT(sampled, messages / 8 * 9 / 10);
  EXPECT_LT(sampled, messages / 8 * 11 / 10);
}

TEST_F(ChannelLatency, BatchesAreSampledToo) {
  const auto channel = timed();
  const Envelope each = envelope(64);
  const auto describe = [&](std::size_t) -> Result<const Envelope*> { return &each; };
  ASSERT_EQ(channel->submit_batch(5, describe, [](std::size_t, std::byte*) {}).value(), 5u);
  clock.now += 9;
  settle(*channel);
  EXPECT_EQ(replies(*channel).size(), 5u);
  EXPECT_EQ(seen(channel->latencies()->total), (Seen{{9, 5}}));
}

TEST_F(ChannelLatency, NamesTheMessagesThatWaitLongest) {
  const auto channel = timed();
  std::vector<MessageId> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(submit(*channel, i, envelope(64)).value());
    clock.now += 10;
  }
  const auto longest = channel->longest_in_flight(3);
  ASSERT_EQ(longest.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(longest[i].id, ids[i]);
    EXPECT_EQ(clock.now - longest[i].accepted_ns, 50 - 10 * i);
  }
  settle(*channel);
  EXPECT_TRUE(channel->longest_in_flight(3).empty()) << "they have their outcomes";
}

TEST_F(ChannelLatency, WhoDoesNotAskForItDoesNotLookAtTheClock) {
  const auto channel = make_channel();
  EXPECT_EQ(channel->latencies(), nullptr);
  clock.step_ns = 1;
  const std::uint64_t before_ns = clock.now;
  ASSERT_TRUE(submit(*channel, 1, envelope(64)));
  device.work();
  channel->try_drain();
  EXPECT_EQ(clock.now, before_ns);
  EXPECT_TRUE(channel->longest_in_flight(3).empty());
}

}  // namespace
}  // namespace ringkernel::bridge::test
