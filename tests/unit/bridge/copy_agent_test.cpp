// A copy agent between a host's arena and a device with memory of its own, on one thread: the
// device's copies and slices take place when the test says so.
#include <gmock/gmock.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "bridge/dma/copy_agent.hpp"
#include "support/skip.hpp"
#include "unit/bridge/separate_device.hpp"
#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::bridge::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Strategy {
  const char* name;
  bool sliced;
};

class CopyAgentTest : public ::testing::TestWithParam<Strategy> {
 protected:
  static constexpr std::uint32_t capacity = 64;
  static constexpr std::uint32_t ring_capacity = 4096;
  static constexpr std::uint64_t arena_bytes = 2 * 1024 * 1024;
  static constexpr std::uint64_t staging = 512 * 1024;
  static constexpr std::uint64_t rings = 1024 * 1024;

  explicit CopyAgentTest(std::uint32_t work_groups = 1)
      : host_(make_memory()),
        far_(make_memory()),
        device(far_.get(), arena_bytes, work_groups),
        copy_agent(host_.get(), 0, staging,
                   CopyAgentLimits{.sliced = GetParam().sliced, .idle_polls_max = 1}, device,
                   clock),
        executor(host_.get(), 0, limits_of(work_groups), copy_agent) {
    executor.open(1);
    std::memcpy(far_.get(), host_.get(), Executor::region_bytes(limits_of(work_groups)));
    copy_agent.open();
    clock.step_ns = 1000;
  }

  static ExecutorLimits limits_of(std::uint32_t work_groups) {
    return {.kernel_capacity = capacity, .work_groups = work_groups, .before_copy_agent = true};
  }

  static std::unique_ptr<std::byte, decltype(&std::free)> make_memory() {
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(4096, arena_bytes));
    std::memset(memory, 0, arena_bytes);
    return {memory, &std::free};
  }

  std::shared_ptr<Channel> make_channel(const ChannelLimits& limits = {}) {
    const std::uint64_t input = rings + rings_++ * 8192;
    const std::uint64_t output = rings + rings_++ * 8192;
    // What an earlier owner left on the device is not what the host sees.
    std::memset(far_.get() + input, 0x77, ring_bytes(ring_capacity));
    std::memset(far_.get() + output, 0x77, ring_bytes(ring_capacity));
    const std::uint32_t kernel =
        executor.attach({input, output, ring_capacity, ring_capacity}).value();
    auto channel = std::make_shared<Channel>(
        executor, kernel, RingView::at(host_.get(), input, ring_capacity),
        RingView::at(host_.get(), output, ring_capacity), limits, clock, wakes);
    const std::uint32_t epoch = channel->set_state(RK_KERNEL_RUNNING);
    copy_agent.work();
    EXPECT_TRUE(executor.obeys(kernel, epoch));
    return channel;
  }

  static Result<MessageId> submit(Channel& channel, int value, std::uint32_t bytes,
                                  Executor::Wake how = Executor::Wake::launch) {
    const Envelope envelope{.payload_bytes = bytes, .reply_bytes = bytes};
    RK_TRY(submission,
           channel.submit(envelope, Receiver::mailbox, nullptr, how,
                          [&](std::byte* payload) { std::memset(payload, value, bytes); }));
    if (submission.room == Room::none) return Error(Errc::busy, "no room");
    return submission.id;
  }
  /// The values of the replies that are there.
  static std::vector<int> replies(Channel& channel) {
    std::vector<int> values;
    for (;;) {
      const Outcome outcome = channel.receive(Timeout(0));
      if (outcome.id == 0 || outcome.error) return values;
      const auto bytes = std::span(outcome.payload.data(), outcome.payload.size());
      EXPECT_THAT(bytes, Each(bytes[0]));
      values.push_back(static_cast<int>(bytes[0]));
    }
  }

 private:
  std::unique_ptr<std::byte, decltype(&std::free)> host_;
  std::unique_ptr<std::byte, decltype(&std::free)> far_;
  std::uint64_t rings_ = 0;

 protected:
  ManualClock clock;
  CountedWakes wakes;
  SeparateDevice device;
  SteppedMover copy_agent;
  Executor executor;
};

INSTANTIATE_TEST_SUITE_P(Strategies, CopyAgentTest,
                         ::testing::Values(Strategy{"dma", false}, Strategy{"sliced", true}),
                         [](const auto& which) { return which.param.name; });

class CopyAgentPoolTest : public CopyAgentTest {
 protected:
  CopyAgentPoolTest() : CopyAgentTest(2) {}
};

INSTANTIATE_TEST_SUITE_P(Strategies, CopyAgentPoolTest,
                         ::testing::Values(Strategy{"dma", false}, Strategy{"sliced", true}),
                         [](const auto& which) { return which.param.name; });

/// The work-group of the second kernel has parked in a slice that goes on, because that of the
/// first one is at work. It comes back with the next slice, for which the other one has to leave.
TEST_P(CopyAgentPoolTest, AParkedWorkGroupIsBroughtBackBesideOneAtWork) {
  if (GetParam().sliced) RK_SKIP_UNSUPPORTED("each work-group ends by itself");
  (void)make_channel();
  auto channel = make_channel();
  device.first_is_at_work = true;
  const std::size_t before = device.slices.size();
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(submit(*channel, i, 100, Executor::Wake::run_on_caller));
    ASSERT_THAT(replies(*channel), ElementsAre(i));
  }
  EXPECT_EQ(device.slices.size(), before + 5);
}

TEST_P(CopyAgentPoolTest, AWorkGroupThatIsStillAtWorkMakesNobodyLeave) {
  if (GetParam().sliced) RK_SKIP_UNSUPPORTED("each work-group ends by itself");
  auto slow = make_channel();
  auto quick = make_channel();
  device.first_is_at_work = true;
  ASSERT_TRUE(submit(*quick, 1, 100));
  copy_agent.work();
  ASSERT_THAT(replies(*quick), ElementsAre(1));
  const std::uint32_t last = device.slices.back();
  // The caller's session gives up after a while, and leaves it to the copy agent's thread.
  ASSERT_TRUE(submit(*slow, 2, 100, Executor::Wake::run_on_caller));
  EXPECT_THAT(replies(*slow), ElementsAre());
  EXPECT_NE(device.at<rk_executor_host_line>(0).yield_slice, last);
  EXPECT_EQ(device.slices.back(), last);
}

/// More kernels than are asked directly: those that nobody asks must not be forgotten.
TEST_P(CopyAgentPoolTest, ManyKernelsOfAParkedWorkGroupAreServedBesideOneAtWork) {
  if (GetParam().sliced) RK_SKIP_UNSUPPORTED("each work-group ends by itself");
  std::vector<std::shared_ptr<Channel>> channels;
  for (int i = 0; i < 60; ++i) channels.push_back(make_channel());
  device.first_is_at_work = true;
  for (int round = 1; round <= 3; ++round) {
    for (std::size_t i = 1; i < channels.size(); i += 2)
      ASSERT_TRUE(submit(*channels[i], round, 100));
    copy_agent.work();
    for (std::size_t i = 1; i < channels.size(); i += 2)
      ASSERT_THAT(replies(*channels[i]), ElementsAre(round)) << i;
  }
}

/// A slice may visit an index that was in use before between any two words that are copied: it must
/// find the rings when it finds the state that lets it use them, and the state with its epoch.
TEST_P(CopyAgentTest, ANewKernelsRingsStateAndEpochComeOneAfterTheOther) {
  (void)make_channel();
  const auto& host = device.at<rk_executor_host_line>(0);
  const std::uint64_t line = host.kernel_host_lines;
  const auto& kernel = device.at<rk_kernel_host_line>(line);
  // The number of the last copy that wrote the bytes, and how many it wrote.
  const auto written = [&](std::uint64_t offset, std::uint64_t bytes) {
    std::pair<std::size_t, std::uint64_t> last{0, 0};
    for (std::size_t i = 0; i < device.log.size(); ++i) {
      const rk_copy& copy = device.log[i];
      const bool covers = copy.offset <= offset && offset + bytes <= copy.offset + copy.bytes;
      if (copy.direction == RK_COPY_TO_DEVICE && covers) last = {i + 1, copy.bytes};
    }
    return last;
  };
  constexpr std::uint64_t fields = RK_OFFSETOF(rk_kernel_host_line, input_capacity);
  const auto [rings_at, rings_bytes] =
      written(line + fields, RK_OFFSETOF(rk_kernel_host_line, reserved) - fields);
  const auto [state_at, state_bytes] =
      written(line + RK_OFFSETOF(rk_kernel_host_line, state), sizeof(rk_u32));
  const auto [epoch_at, epoch_bytes] =
      written(line + RK_OFFSETOF(rk_kernel_host_line, state_epoch), sizeof(rk_u32));
  EXPECT_EQ(state_bytes, sizeof(rk_u32)) << "alone";
  EXPECT_EQ(epoch_bytes, sizeof(rk_u32)) << "alone";
  EXPECT_GT(written(kernel.input_ring, sizeof(rk_ring)).first, 0u);
  EXPECT_LT(written(kernel.input_ring, sizeof(rk_ring)).first, rings_at);
  EXPECT_LT(written(kernel.output_ring, sizeof(rk_ring)).first, rings_at);
  EXPECT_LT(rings_at, state_at);
  EXPECT_LT(state_at, epoch_at);
}

TEST_P(CopyAgentTest, BringsRequestsThereAndRepliesBack) {
  auto channel = make_channel();
  for (int i = 1; i <= 100; ++i) {
    ASSERT_TRUE(submit(*channel, i, 100));
    copy_agent.work();
    EXPECT_THAT(replies(*channel), ElementsAre(i));
  }
  EXPECT_TRUE(executor.parked(0));
}

TEST_P(CopyAgentTest, ACallersSessionEndsWithItsReply) {
  auto channel = make_channel();
  ASSERT_TRUE(submit(*channel, 7, 64, Executor::Wake::run_on_caller));
  EXPECT_THAT(copy_agent.launched, ElementsAre());
  EXPECT_THAT(replies(*channel), ElementsAre(7));
}

/// Records of half a ring: each one waits for the space of the one before, in both rings.
TEST_P(CopyAgentTest, GoesOnWhenTheHostMakesRoom) {
  auto channel = make_channel({.policy = Policy::reject});
  constexpr std::uint32_t half = ring_capacity / 2 - sizeof(rk_record_header);
  std::vector<int> received;
  for (int next = 1; received.size() < 40;) {
    while (next <= 40 && submit(*channel, next, half)) ++next;
    copy_agent.work();
    for (const int value : replies(*channel)) received.push_back(value);
    (void)channel->do_housekeeping(clock.now);
  }
  std::vector<int> all(40);
  std::iota(all.begin(), all.end(), 1);
  EXPECT_EQ(received, all);
}

/// The replies fill the output ring, nobody takes them: the device waits, and nobody polls it.
TEST_P(CopyAgentTest, ParksWhileTheDeviceWaitsForRoom) {
  auto channel = make_channel();
  int next = 1;
  for (; next <= 8; ++next) ASSERT_TRUE(submit(*channel, next, 1000));
  for (int turn = 0; turn < 4; ++turn) {
    copy_agent.work();
    (void)channel->do_housekeeping(clock.now);
  }
  EXPECT_TRUE(executor.parked(0));
  EXPECT_TRUE(executor.backpressured(channel->kernel()));
  const std::uint64_t copied = device.copied;
  copy_agent.work();
  EXPECT_EQ(device.copied, copied);
  std::vector<int> received;
  while (received.size() < 8) {
    const std::vector<int> some = replies(*channel);
    ASSERT_FALSE(some.empty()) << "the space that was given back was not heard of";
    received.insert(received.end(), some.begin(), some.end());
    (void)channel->do_housekeeping(clock.now);
    copy_agent.work();
  }
  EXPECT_THAT(received, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_FALSE(executor.backpressured(channel->kernel()));
}

/// More kernels than are asked one by one: their output doorbells say who has answered.
/// More than are asked one by one, and none of them has a reply that would ring.
TEST_P(CopyAgentTest, SeesThatManyStatesAreObeyed) {
  constexpr std::uint32_t count = 20;
  std::vector<std::shared_ptr<Channel>> channels;
  for (std::uint32_t i = 0; i < count; ++i) channels.push_back(make_channel());
  for (const std::uint32_t state : {RK_KERNEL_PAUSED, RK_KERNEL_ABSENT}) {
    std::vector<std::uint32_t> epochs;
    for (const auto& channel : channels) epochs.push_back(channel->set_state(state));
    copy_agent.work();
    for (std::uint32_t i = 0; i < count; ++i) EXPECT_TRUE(executor.obeys(i, epochs[i])) << i;
    EXPECT_TRUE(executor.parked(0));
  }
}

TEST_P(CopyAgentTest, ServesManyKernelsAtOnce) {
  std::vector<std::shared_ptr<Channel>> channels;
  for (std::uint32_t i = 0; i < capacity; ++i) channels.push_back(make_channel());
  for (int round = 1; round <= 3; ++round) {
    for (auto& channel : channels) ASSERT_TRUE(submit(*channel, round, 64));
    copy_agent.work();
    for (auto& channel : channels) EXPECT_THAT(replies(*channel), ElementsAre(round));
  }
}

TEST_P(CopyAgentTest, SendsManyRecordsWithOneCopy) {
  auto channel = make_channel();
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(submit(*channel, i, 64));
  const std::uint64_t before = device.copied;
  copy_agent.work();
  EXPECT_EQ(replies(*channel).size(), 16u);
  // Records, position, doorbell; position, replies, released space; no more than twice.
  EXPECT_LE(device.copied - before, 14u);
}

TEST_P(CopyAgentTest, BetweenSlicesAShortMessageTakesOneCopyEachWay) {
  auto channel = make_channel();
  std::uint64_t copies = 0;
  std::uint64_t with_both = 0;
  constexpr int messages = 1000;  // one in 36 wraps
  for (int i = 0; i < messages; ++i) {
    const std::uint64_t before = device.copied;
    device.log.clear();
    ASSERT_TRUE(submit(*channel, i % 100, 64));
    copy_agent.work();
    ASSERT_THAT(replies(*channel), ElementsAre(i % 100));
    copies += device.copied - before;
    with_both += static_cast<std::uint64_t>(std::ranges::count_if(
        device.log, [](const rk_copy& copy) { return copy.second_offset != 0; }));
  }
  // Beside a slice the position comes behind the records, and then the doorbell.
  if (GetParam().sliced)
    EXPECT_NEAR(static_cast<double>(copies), 2.0 * messages, 0.2 * messages);
  else
    EXPECT_EQ(with_both, 0u);
}

TEST_P(CopyAgentTest, GoesOnWhereItHadNoMemory) {
  std::vector<std::shared_ptr<Channel>> channels;
  for (std::uint32_t i = 0; i < 3; ++i) channels.push_back(make_channel());
  for (const int every : {3, 4, 5, 7}) {
    device.no_memory_every = every;
    for (int round = 1; round <= 50; ++round) {
      for (auto& channel : channels) {
        ASSERT_TRUE(submit(*channel, round, 64));
        ASSERT_TRUE(submit(*channel, round + 100, 64));
      }
      copy_agent.work();
      for (auto& channel : channels)
        ASSERT_THAT(replies(*channel), ElementsAre(round, round + 100)) << every;
    }
  }
  EXPECT_FALSE(executor.failed());
  EXPECT_TRUE(executor.stop(1'000'000'000));
}

TEST_P(CopyAgentTest, AFailedCopyIsTheExecutorsFailure) {
  auto channel = make_channel();
  device.fails_at = device.starts + 1;
  ASSERT_TRUE(submit(*channel, 1, 64));
  copy_agent.work();
  executor.check();
  ASSERT_TRUE(executor.failed());
  EXPECT_THAT(executor.failure().detail, HasSubstr("the copy was refused"));
  (void)channel->do_housekeeping(clock.now);
  EXPECT_EQ(submit(*channel, 2, 64).error(), Errc::device_error);
}

/// A device that claims to have published what is no record: the ring is given up, not followed.
TEST_P(CopyAgentTest, DoesNotFollowAHostileOutputRing) {
  auto channel = make_channel();
  ASSERT_TRUE(submit(*channel, 1, 64));
  device.before_fetch = [&] {
    device.at<rk_u64>(rings + 8192 + RK_OFFSETOF(rk_ring, producer.position)) = ~0ull - 63;
  };
  copy_agent.work();
  (void)channel->try_drain();
  (void)channel->do_housekeeping(clock.now);
  const auto refused = submit(*channel, 2, 64);
  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error(), Errc::bad_record);
}

/// A caller does not wait for a device that does not answer: the copy agent's own thread does.
TEST_P(CopyAgentTest, ACallerLeavesADeviceThatTakesLong) {
  auto channel = make_channel();
  device.is_stuck = true;
  clock.step_ns = 50'000;
  ASSERT_TRUE(submit(*channel, 1, 64, Executor::Wake::run_on_caller));
  ASSERT_EQ(copy_agent.launched.size(), 1u) << "the next session is somebody else's";
  device.is_stuck = false;
  copy_agent.work();
  EXPECT_THAT(replies(*channel), ElementsAre(1));
}

/// Another program has to leave first.
TEST_P(CopyAgentTest, TriesAgainWhatTheDeviceCannotLaunchYet) {
  auto channel = make_channel();
  device.is_busy = true;
  ASSERT_TRUE(submit(*channel, 1, 64));
  copy_agent.work();
  EXPECT_THAT(replies(*channel), ElementsAre(1));
}

TEST_P(CopyAgentTest, CopiesAreCountedForTheKernelThatNeedsThem) {
  auto resting = make_channel();
  auto busy = make_channel();
  const rk_executor_host_line& far = device.at<rk_executor_host_line>(0);
  const auto is_of_busy = [&](const rk_copy& copy) {
    const std::uint64_t line =
        far.kernel_device_lines + busy->kernel() * sizeof(rk_kernel_device_line);
    return copy.offset >= rings || copy.offset == line;  // not a doorbell, not the executor's
  };
  const CopyCounts rest = copy_agent.copies(resting->kernel());
  const CopyCounts before = copy_agent.copies(busy->kernel());
  EXPECT_GT(rest.copies, 0u) << "its rings and its state";
  device.log.clear();
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(submit(*busy, i, 64));
  copy_agent.work();
  EXPECT_EQ(replies(*busy).size(), 16u);
  const CopyCounts after = copy_agent.copies(busy->kernel());
  std::uint64_t copies = 0;
  std::uint64_t bytes = 0;
  for (const rk_copy& copy : device.log) {
    if (!is_of_busy(copy)) continue;
    ++copies;
    bytes += copy.second_offset != 0 ? 2 * copy.bytes : copy.bytes;
  }
  EXPECT_EQ(after.copies - before.copies, copies);
  EXPECT_EQ(after.bytes - before.bytes, bytes);
  EXPECT_LT(copies, device.log.size());
  EXPECT_EQ(copy_agent.copies(resting->kernel()).copies, rest.copies);
}

TEST_P(CopyAgentTest, CountsAreTheDevices) {
  auto channel = make_channel();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(submit(*channel, i, 64));
  copy_agent.work();
  const rk_telemetry_block counts = executor.telemetry(channel->kernel());
  EXPECT_EQ(counts.messages_in, 3u);
  EXPECT_EQ(counts.messages_out, 3u);
  EXPECT_EQ(counts.bytes_in, 3 * 128u);
}

TEST_P(CopyAgentTest, StopReachesTheDevice) {
  (void)make_channel();
  ASSERT_TRUE(executor.stop(1'000'000'000));
  EXPECT_EQ(device.at<rk_executor_host_line>(0).stop, 1u);
}

TEST_P(CopyAgentTest, AnIndexIsUsedAgainWithOtherRings) {
  for (int round = 1; round <= 5; ++round) {
    auto channel = make_channel();
    ASSERT_TRUE(submit(*channel, round, 500));
    copy_agent.work();
    EXPECT_THAT(replies(*channel), ElementsAre(round));
    const std::uint32_t epoch = channel->set_state(RK_KERNEL_ABSENT);
    executor.wake(0, Executor::Wake::launch);
    copy_agent.work();
    ASSERT_TRUE(executor.obeys(channel->kernel(), epoch));
    executor.detach(channel->kernel());
  }
}

}  // namespace
}  // namespace ringkernel::bridge::test
