#include "runtime/kernel_metrics.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <optional>

#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::detail {
namespace {

class MetricsSourceTest : public bridge::test::SimulatedBridge {
 protected:
  MetricsSourceTest() {
    behaviour.name = "Book";
    behaviour.methods.emplace_back();
    behaviour.methods[0].name = "Submit";
    behaviour.methods[0].id = 7;
    program.begin({program::Definition::built_in("echo"), 3, &behaviour});
    channel = make_channel({.sample_every = 1});
    rings_.input_offset = rings_offset;
    rings_.output_offset = rings_offset + align_up<std::uint64_t>(ring_bytes(ring_capacity), 128);
    rings_.input_capacity = rings_.output_capacity = ring_capacity;
  }

  void open() {
    source.emplace("a", MetricsSource::Sources{.channel = channel,
                                               .executor = executor,
                                               .copy_agent = nullptr,
                                               .kernel = channel->kernel(),
                                               .arena = arena(),
                                               .rings = rings_,
                                               .program = program,
                                               .clock = clock});
  }
  /// They stay in the mailbox.
  void exchange_messages(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(submit(*channel, i, envelope(64)));
      settle(*channel);
    }
  }
  KernelMetrics metrics() { return source->metrics(KernelStatus::active); }

  program::Behaviour behaviour;
  KernelProgram program{"trading"};
  std::shared_ptr<bridge::Channel> channel;
  std::optional<MetricsSource> source;

 private:
  bridge::KernelRings rings_;
};

TEST_F(MetricsSourceTest, CountsWhatWasSentAndAnswered) {
  open();
  exchange_messages(3);
  const KernelMetrics now = metrics();
  EXPECT_EQ(now.id, "a");
  EXPECT_EQ(now.program, "trading");
  EXPECT_EQ(now.behaviour, "Book");
  EXPECT_EQ(now.program_version, 3u);
  EXPECT_EQ(now.status, KernelStatus::active);
  EXPECT_EQ(now.accepted, 3u);
  EXPECT_EQ(now.replied, 3u);
  EXPECT_EQ(now.messages_in, 3u);
  EXPECT_EQ(now.messages_out, 3u);
  EXPECT_GE(now.bytes_in, 3u * 64) << "with what records have beside their payload";
  EXPECT_EQ(now.unreceived, 3u);
  EXPECT_GT(now.slices, 0u);
  EXPECT_EQ(now.input_ring_bytes, ring_capacity);
  EXPECT_GT(now.input_ring_position, 0u);
}

TEST_F(MetricsSourceTest, LeavesOutWhatWasCountedForThoseBefore) {
  exchange_messages(5);
  open();
  EXPECT_EQ(metrics().messages_in, 0u);
  EXPECT_EQ(metrics().slices, 0u);
  exchange_messages(2);
  EXPECT_EQ(metrics().messages_in, 2u);
}

TEST_F(MetricsSourceTest, CountsMethodsThatWereCalledByTheirNames) {
  open();
  source->count_methods(&behaviour);
  EXPECT_TRUE(metrics().methods.empty());
  bridge::Envelope message = envelope(64);
  message.selector = 7;
  ASSERT_TRUE(submit(*channel, 1, message));
  settle(*channel);
  const KernelMetrics now = metrics();
  ASSERT_EQ(now.methods.size(), 1u);
  EXPECT_EQ(now.methods[0].name, "Submit");
  EXPECT_EQ(now.methods[0].answered, 1u);
}

TEST_F(MetricsSourceTest, KnowsTheCallThatWaitsLongest) {
  open();
  clock.now = 1000;
  const MessageId first = submit(*channel, 1, envelope(64)).value();
  clock.now = 1500;
  ASSERT_TRUE(submit(*channel, 2, envelope(64)));
  clock.now = 2000;
  const std::vector<CallInFlight> calls = source->calls(1);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].message, first);
  EXPECT_EQ(calls[0].age_ns, 1000u);
  EXPECT_EQ(metrics().oldest_call_age_ns, 1000u);
  EXPECT_EQ(metrics().in_flight, 2u);
}

TEST_F(MetricsSourceTest, ActivityChangesWithTheFiguresOnly) {
  open();
  const auto before = source->activity(KernelStatus::active);
  EXPECT_EQ(source->activity(KernelStatus::active), before);
  EXPECT_NE(source->activity(KernelStatus::deactivated), before);
  exchange_messages(1);
  const auto after = source->activity(KernelStatus::active);
  EXPECT_NE(after, before);
  EXPECT_EQ(after.unanswered, 0u);
  EXPECT_EQ(after.slices, metrics().slices);
  EXPECT_EQ(after.version, 3u);
}

TEST_F(MetricsSourceTest, WhatIsFrozenStays) {
  open();
  exchange_messages(2);
  source->freeze();
  exchange_messages(2);
  const KernelMetrics last = metrics();
  EXPECT_EQ(last.messages_in, 2u);
  EXPECT_EQ(last.accepted, 2u);
  EXPECT_EQ(last.in_flight, 0u);
  EXPECT_EQ(last.unreceived, 0u);
  EXPECT_EQ(last.input_ring_bytes, 0u) << "its rings are others'";
  EXPECT_EQ(source->metrics(KernelStatus::terminated).status, KernelStatus::terminated);
}

TEST_F(MetricsSourceTest, CopiesTheLatencies) {
  open();
  exchange_messages(2);
  EXPECT_EQ(replies(*channel).size(), 2u);
  EXPECT_EQ(metrics().latency.count, 2u);
  const auto latency = std::make_unique<Histogram>();
  source->copy_latency(*latency);
  std::uint64_t count = 0;
  latency->visit([&](std::uint32_t, std::uint64_t of_bucket) { count += of_bucket; });
  EXPECT_EQ(count, 2u);
}

}  // namespace
}  // namespace ringkernel::detail
