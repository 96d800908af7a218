// The host's end of an executor: slices are launched when they are needed, and only then.
#include <gmock/gmock.h>
#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <thread>

#include "support/one_core.hpp"
#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::bridge::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class ExecutorTest : public SimulatedBridge {};

TEST_F(ExecutorTest, GivesIndicesUntilItsLimitAndAgainAfterDetach) {
  for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(executor.attach({}).value(), i);
  const auto full = executor.attach({});
  ASSERT_TRUE(full.has_error());
  EXPECT_EQ(full.error(), Errc::limit_exceeded);
  EXPECT_THAT(full.error().detail, ::testing::HasSubstr("16"));
  executor.detach(7);
  EXPECT_EQ(executor.attach({}).value(), 7u);
}

TEST_F(ExecutorTest, LaunchesOneSliceForManyRings) {
  for (int i = 0; i < 3; ++i) executor.wake(0, Executor::Wake::launch);
  EXPECT_THAT(device.launched, ElementsAre(1));
  EXPECT_FALSE(executor.parked(0));
  device.work();
  EXPECT_TRUE(executor.parked(0));
  executor.wake(0, Executor::Wake::launch);
  EXPECT_THAT(device.launched, ElementsAre(2));
  EXPECT_EQ(executor.slices_launched(), 2u);
}

TEST_F(ExecutorTest, ARefusedLaunchIsItsFailure) {
  device.refuses_launches = true;
  executor.wake(0, Executor::Wake::launch);
  EXPECT_TRUE(executor.failed());
  EXPECT_EQ(executor.failure(), Errc::device_error);
  EXPECT_EQ(executor.failure().detail, "the launch was refused");
}

TEST_F(ExecutorTest, TheFirstFailureStays) {
  device.refuses_launches = true;
  executor.wake(0, Executor::Wake::launch);
  device.lost = true;
  executor.check();
  EXPECT_EQ(executor.failure().detail, "the launch was refused");
}

TEST_F(ExecutorTest, CheckAsksTheDevice) {
  executor.check();
  EXPECT_FALSE(executor.failed());
  device.lost = true;
  executor.check();
  EXPECT_EQ(executor.failure().detail, "the device was lost");
}

TEST_F(ExecutorTest, LaunchesNothingAfterStop) {
  EXPECT_TRUE(executor.stop(0));
  executor.wake(0, Executor::Wake::launch);
  executor.wake(0, Executor::Wake::run_on_caller);
  EXPECT_TRUE(device.launched.empty());
  EXPECT_TRUE(executor.stop(0));
}

TEST_F(ExecutorTest, StopEndsASliceThatHasWork) {
  const auto channel = make_channel();
  ASSERT_TRUE(submit(*channel, 1, envelope(64)));
  EXPECT_TRUE(executor.stop(0));
  EXPECT_TRUE(executor.parked(0));
  EXPECT_FALSE(executor.left_work(0));
}

TEST_F(ExecutorTest, ObeysWhenASliceHasSeenTheState) {
  const auto channel = make_channel({}, false);
  const std::uint32_t epoch = channel->set_state(RK_KERNEL_RUNNING);
  EXPECT_FALSE(executor.obeys(channel->kernel(), epoch));
  device.work();
  EXPECT_TRUE(executor.obeys(channel->kernel(), epoch));
}

TEST_F(ExecutorTest, RunsTheSliceOfACallerOnItsThread) {
  const auto channel = make_channel();
  device.runs_callers = true;
  const auto id =
      submit(*channel, 5, envelope(64), Receiver::waiter, nullptr, Executor::Wake::run_on_caller);
  EXPECT_TRUE(device.launched.empty());
  EXPECT_EQ(channel->wait(id.value(), Timeout(no_deadline)).payload.data()[0], std::byte{5});
}

TEST_F(ExecutorTest, LaunchesWhereTheDeviceCannotRunOnTheCaller) {
  const auto channel = make_channel();
  ASSERT_TRUE(
      submit(*channel, 5, envelope(64), Receiver::mailbox, nullptr, Executor::Wake::run_on_caller));
  EXPECT_EQ(device.launched.size(), 1u);
  device.work();
  EXPECT_THAT(replies(*channel), ElementsAre(5));
}

// A caller that runs a slice does not serve everybody else for ever: the rest is the next slice's.
TEST_F(ExecutorTest, ACallersSliceLeavesTheRestToTheNextOne) {
  std::vector<std::shared_ptr<Channel>> channels;
  for (int i = 0; i < 4; ++i) channels.push_back(make_channel({}, false));
  for (const auto& channel : channels)
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(submit(*channel, i, envelope(1)));
  device.work();  // absent kernels: nothing is taken
  // Running, but nobody is woken: the caller's slice finds 120 records.
  for (const auto& channel : channels) executor.set_state(channel->kernel(), RK_KERNEL_RUNNING);
  device.runs_callers = true;
  executor.wake(0, Executor::Wake::run_on_caller);
  EXPECT_EQ(device.launched.size(), 1u);
  std::uint64_t taken = 0;
  for (const auto& channel : channels) taken += executor.telemetry(channel->kernel()).messages_in;
  EXPECT_GE(taken, RK_EAGER_RECORDS_MAX);
  EXPECT_LT(taken, 120u);
  device.work();
  for (const auto& channel : channels) EXPECT_EQ(replies(*channel).size(), 30u);
}

TEST_F(ExecutorTest, PollsTheOutputsThatWereRung) {
  const auto first = make_channel();
  const auto second = make_channel();
  ASSERT_TRUE(submit(*second, 1, envelope(64)));
  device.work();
  std::vector<std::uint32_t> rung;
  const auto refuse = [&](std::uint32_t kernel) {
    rung.push_back(kernel);
    return false;
  };
  EXPECT_EQ(executor.poll_outputs(refuse), 1u);
  EXPECT_EQ(executor.poll_outputs([&](std::uint32_t kernel) { return !refuse(kernel); }), 1u);
  EXPECT_EQ(executor.poll_outputs(refuse), 0u);
  EXPECT_THAT(rung, ElementsAre(second->kernel(), second->kernel()));
}

TEST_F(ExecutorTest, CountsWhatTheDeviceCounts) {
  const auto channel = make_channel();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(submit(*channel, i, envelope(64)));
  device.work();
  const rk_telemetry_block counted = executor.telemetry(channel->kernel());
  EXPECT_EQ(counted.messages_in, 3u);
  EXPECT_EQ(counted.messages_out, 3u);
  EXPECT_EQ(counted.bytes_in, 3u * 128);
}

TEST_F(ExecutorTest, KnowsWhetherASliceNeedsTheCoreOfThisThread) {
  const testing::OnOneCore one_core;
  const auto here = static_cast<std::uint32_t>(sched_getcpu()) + 1;
  EXPECT_FALSE(executor.tells_core(0)) << "none has run";
  EXPECT_FALSE(executor.needs_core(0));
  executor.wake(0, Executor::Wake::launch);
  EXPECT_TRUE(executor.needs_core(0)) << "it has not begun, and may be put here";
  device_line().running_slice = 1;
  EXPECT_FALSE(executor.needs_core(0)) << "nobody knows where it runs";
  device_line().core = here;
  EXPECT_TRUE(executor.tells_core(0));
  EXPECT_TRUE(executor.needs_core(0));
  device_line().core = here + 1;
  EXPECT_FALSE(executor.needs_core(0));
  device.work();
  EXPECT_EQ(device_line().core, here) << "it says so itself";
  EXPECT_FALSE(executor.needs_core(0)) << "it has parked";
}

TEST_F(ExecutorTest, WhoeverWaitsForASliceThatHasNotBegunHandsItsCoreOver) {
  const auto channel = make_channel();
  const auto handover = [this] { return std::atomic_ref(host_line().handover).load(); };
  for (const bool tells : {true, false}) {
    device_line().core = tells ? 1 : 0;
    const std::uint32_t before = handover();
    const auto id = submit(*channel, 1, envelope(64), Receiver::waiter);
    ASSERT_TRUE(executor.starting(0));
    bool changed = false;
    std::thread slice([&] {
      const auto end = std::chrono::steady_clock::now() + (tells ? 20s : 20ms);
      while (!changed && std::chrono::steady_clock::now() < end) {
        changed = handover() != before;
        std::this_thread::yield();
      }
      device.work();
    });
    EXPECT_FALSE(channel->wait(*id, Timeout(no_deadline)).error);
    slice.join();
    EXPECT_EQ(changed, tells) << "only a slice that says where it runs gives a core back";
  }
}

TEST_F(ExecutorTest, ADoorbellThatWrapsIsStillRung) {
  const auto channel = make_channel();
  input_doorbell(channel->kernel()) = ~std::uint32_t{0} - 1;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(submit(*channel, i, envelope(64)));
    EXPECT_NE(input_doorbell(channel->kernel()), 0u);  // 0 would say "never rung"
    EXPECT_EQ(device.work(), 1u);
    EXPECT_THAT(replies(*channel), ElementsAre(i));
  }
}

TEST_F(ExecutorTest, SliceNumbersMayWrap) {
  const auto channel = make_channel();
  device_line().parked_slice = ~std::uint32_t{0} - 1;  // an executor that has run for very long
  Executor old(arena(), 0, {.kernel_capacity = 16}, device);
  std::vector<std::uint32_t> numbers;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(submit(*channel, i, envelope(1)));
    old.wake(0, Executor::Wake::launch);
    ASSERT_EQ(device.launched.size(), 1u);
    numbers.push_back(device.launched.front());
    EXPECT_EQ(device.work(), 1u);
    EXPECT_TRUE(old.parked(0));
    EXPECT_THAT(replies(*channel), ElementsAre(i));
  }
  EXPECT_THAT(numbers, ElementsAre(~std::uint32_t{0}, 0u, 1u));
}

class BudgetedExecutor : public SimulatedBridge {
 protected:
  BudgetedExecutor() : SimulatedBridge({.kernel_capacity = 16, .slice_records_max = 16}) {}
};

TEST_F(BudgetedExecutor, ASliceThatUsedUpItsBudgetIsFollowedByTheNext) {
  const auto channel = make_channel();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(submit(*channel, i, envelope(64)));
  EXPECT_EQ(device.work(), 1u);
  EXPECT_TRUE(executor.left_work(0));
  EXPECT_EQ(executor.telemetry(channel->kernel()).messages_in, 16u);
  channel->do_housekeeping(clock.now);
  EXPECT_EQ(device.work(), 1u);
  EXPECT_FALSE(executor.left_work(0));
  EXPECT_EQ(replies(*channel).size(), 20u);
}

/// One slice on a thread of its own, resident until `stop` or, once it may, idle.
class ResidentSlice : public SimulatedBridge {
 protected:
  ResidentSlice() : channel(make_channel()) {
    executor.set_idle_polls_max(~std::uint32_t{0});
    EXPECT_TRUE(submit(*channel, 1, envelope(64)));
    thread = std::thread([this] { device.work(); });
    EXPECT_TRUE(comes_true([this] { return channel->try_drain().value_or(0) == 1; }));
  }
  ~ResidentSlice() override {
    // Not Executor::stop, which would run the device on this thread.
    std::atomic_ref(host_line().stop).store(1);
    thread.join();
  }

  /// A record that no doorbell tells of.
  void publish_silently(MessageId id) const {
    Producer producer(input_ring);
    rk_record_header* header = producer.try_claim(64);
    *header = {};
    header->kind = RK_RECORD_REQUEST;
    header->correlation_id = id;
    header->payload_bytes = 64;
    header->reply_bytes = 64;
    producer.commit();
    producer.publish();
  }
  template <class Condition>
  static bool comes_true(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  std::shared_ptr<Channel> channel;
  std::thread thread;
};

TEST_F(ResidentSlice, SeesTheNextRecordOfTheRingItDrainedLastWithoutTheDoorbell) {
  publish_silently(0xdead0000);
  EXPECT_TRUE(comes_true([this] { return channel->try_drain().value_or(0) == 1; }));
  EXPECT_EQ(channel->counters().late, 1u);  // nobody asked for it, but it was answered
}

/// Without it each would spin for as long as the scheduler lets it.
TEST_F(ResidentSlice, IsGivenTheCoreOfAThreadThatWaitsForIt) {
  const testing::OnOneCore one_core;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(pthread_setaffinity_np(thread.native_handle(), sizeof one, &one), 0);
  (void)replies(*channel);  // whoever has one to take waits for nothing
  const auto handover = [this] { return std::atomic_ref(host_line().handover).load(); };
  for (const Receiver receiver : {Receiver::waiter, Receiver::mailbox}) {
    const std::uint32_t before = handover();
    EXPECT_TRUE(comes_true([&] {
      const auto id = submit(*channel, 1, envelope(64), receiver);
      const Outcome outcome = receiver == Receiver::waiter
                                  ? channel->wait(*id, Timeout(no_deadline))
                                  : channel->receive(Timeout(no_deadline));
      return !outcome.error && handover() != before;
    }));
  }
  const std::uint32_t before = handover();
  const auto id = submit(*channel, 1, envelope(64), Receiver::waiter);
  (void)channel->wait(*id, Timeout(0));
  EXPECT_EQ(handover(), before) << "whose time is up waits for nobody";
}

TEST_F(ResidentSlice, LetsGoOfTheRingOfAKernelThatIsGone) {
  const std::uint32_t epoch = channel->set_state(RK_KERNEL_ABSENT);
  ASSERT_TRUE(comes_true([&] { return executor.obeys(channel->kernel(), epoch); }));
  publish_silently(0xdead0000);  // what was a ring may hold anything now
  executor.set_idle_polls_max(1000);
  EXPECT_TRUE(comes_true([this] { return executor.parked(0); }));
  EXPECT_EQ(executor.telemetry(channel->kernel()).messages_in, 1u);
}

}  // namespace
}  // namespace ringkernel::bridge::test
