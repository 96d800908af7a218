// A lifecycle over a device that works when the test says so.
#include "runtime/lifecycle.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

/// Each look at it lets the device work, if it is to.
class WorkingClock final : public bridge::Clock {
 public:
  explicit WorkingClock(bridge::test::SimulatedDevice& device) : device_(device) {}
  [[nodiscard]] std::uint64_t now_ns() const noexcept override {
    if (works) device_.work();
    return now += 1000;
  }
  mutable std::uint64_t now = 1000;
  bool works = false;

 private:
  bridge::test::SimulatedDevice& device_;
};

class LifecycleTest : public bridge::test::SimulatedBridge, protected LifecycleHost {
 protected:
  static constexpr std::chrono::milliseconds timeout{1};

  LifecycleTest() {
    channel = make_channel({}, false);
    lifecycle.place(executor, channel->kernel(), channel);
    lifecycle.launched();
  }

  // As of a LifecycleHost.
  std::shared_ptr<void> keep_alive() override { return std::make_shared<int>(); }
  void changed(KernelStatus status) noexcept override { told.push_back(status); }
  void stopped(bool released, const Result<void>& result) override {
    if (std::exchange(has_no_memory, false)) throw std::bad_alloc();
    stops.push_back(std::string(released ? "released" : "kept") + (result ? "" : ", late"));
  }
  void ended() noexcept override { ++ends; }
  std::string why_late() override { return ": the driver sleeps"; }

  void activate() {
    ASSERT_TRUE(lifecycle.activate());
    device.work();
  }
  /// A change that is polled here; `result` is how it ended.
  void begin(std::unique_ptr<bridge::Watch> watch) { watches.push(std::move(watch)); }
  bool poll() {
    watches.poll(time.now);
    return watches.empty();
  }
  [[nodiscard]] Done note() {
    return [this](Result<void> result) { results.push_back(std::move(result)); };
  }
  [[nodiscard]] rk_u32 run_state() const {
    return reinterpret_cast<const rk_kernel_host_line*>(arena() + host_line().kernel_host_lines)
        ->state;
  }

  WorkingClock time{device};
  const std::string id = "a";
  Lifecycle lifecycle{id, *this, time, timeout};
  std::shared_ptr<bridge::Channel> channel;
  bridge::WatchList watches;
  std::vector<KernelStatus> told;
  std::vector<std::string> stops;
  std::vector<Result<void>> results;
  bool has_no_memory = false;
  int ends = 0;
};

TEST_F(LifecycleTest, BecomesActiveAndRestsAgainWhenTheDeviceObeys) {
  activate();
  EXPECT_TRUE(lifecycle.is_active());
  begin(lifecycle.start_deactivate(note()).value());
  EXPECT_FALSE(poll()) << "the device has not seen it";
  EXPECT_EQ(lifecycle.status(), KernelStatus::active);
  device.work();
  EXPECT_TRUE(poll());
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(results[0]);
  EXPECT_FALSE(lifecycle.is_active());
  EXPECT_THAT(told,
              ElementsAre(KernelStatus::launched, KernelStatus::active, KernelStatus::deactivated));
  EXPECT_TRUE(lifecycle.activate());
}

TEST_F(LifecycleTest, RefusesWhatItsStatusDoesNotAllow) {
  EXPECT_EQ(lifecycle.start_deactivate(note()).error(), Errc::invalid_state);
  activate();
  const Result<void> again = lifecycle.activate();
  EXPECT_EQ(again.error(), Errc::invalid_state);
  EXPECT_THAT(again.error().detail, HasSubstr("kernel 'a': active -> active"));
  begin(lifecycle.start_deactivate(note()).value());
  EXPECT_THAT(lifecycle.start_deactivate(note()).error().detail,
              EndsWith("while it is being deactivated"));
}

TEST_F(LifecycleTest, StaysActiveWhereTheDeviceDoesNotLetGo) {
  activate();
  begin(lifecycle.start_deactivate(note()).value());
  time.now += 10'000'000;
  EXPECT_TRUE(poll());
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].error(), Errc::execution_timeout);
  EXPECT_EQ(lifecycle.status(), KernelStatus::active);
  EXPECT_EQ(run_state(), RK_KERNEL_RUNNING);
}

TEST_F(LifecycleTest, DeactivatesOnTheCallersThread) {
  activate();
  time.works = true;
  EXPECT_TRUE(lifecycle.deactivate());
  EXPECT_EQ(lifecycle.status(), KernelStatus::deactivated);
}

TEST_F(LifecycleTest, TerminatesOnceForAllWhoWait) {
  activate();
  const Error reason = lifecycle.terminated_reason();
  begin(lifecycle.start_terminate({}, reason, note()));
  EXPECT_EQ(lifecycle.start_terminate({}, reason, note()), nullptr) << "under way";
  EXPECT_FALSE(poll());
  device.work();
  EXPECT_TRUE(poll());
  EXPECT_THAT(stops, ElementsAre("released"));
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(results.size(), 2u);
  EXPECT_EQ(lifecycle.status(), KernelStatus::terminated);
  EXPECT_EQ(lifecycle.start_terminate({}, reason, note()), nullptr) << "over";
  EXPECT_EQ(results.size(), 3u);
  EXPECT_TRUE(lifecycle.terminate({}, reason));
  EXPECT_EQ(lifecycle.activate().error(), Errc::invalid_state);
}

TEST_F(LifecycleTest, WhatTheDeviceNeverKnewEndsAtOnceAndItsMessagesWithTheReason) {
  ASSERT_TRUE(submit(*channel, 1, envelope(8)));
  EXPECT_TRUE(lifecycle.terminate({}, lifecycle.terminated_reason()));
  EXPECT_THAT(stops, ElementsAre("released"));
  const bridge::Outcome outcome = next(*channel);
  EXPECT_EQ(Error(outcome.error), Errc::kernel_terminated);
}

TEST_F(LifecycleTest, ALateTerminationIsOverAndTheDeviceMayLetGoLater) {
  activate();
  begin(lifecycle.start_terminate({}, lifecycle.terminated_reason(), note()));
  time.now += 10'000'000;
  EXPECT_TRUE(poll());
  EXPECT_THAT(stops, ElementsAre("kept, late"));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].error(), Errc::execution_timeout);
  EXPECT_THAT(results[0].error().detail, HasSubstr("the device: the driver sleeps; its rings"));
  EXPECT_FALSE(lifecycle.is_released());
  device.work();
  EXPECT_TRUE(lifecycle.is_released());
}

TEST_F(LifecycleTest, ADrainingTerminationAnswersWhatWasAccepted) {
  activate();
  ASSERT_TRUE(submit(*channel, 5, envelope(8)));
  begin(lifecycle.start_terminate({.drain = true, .timeout = {}}, lifecycle.terminated_reason(),
                                  note()));
  EXPECT_FALSE(poll());
  EXPECT_EQ(run_state(), RK_KERNEL_RUNNING);
  device.work();
  EXPECT_FALSE(poll()) << "it has the answer, and now has to stop";
  device.work();
  while (!poll()) device.work();
  EXPECT_THAT(replies(*channel), ElementsAre(5));
}

TEST_F(LifecycleTest, AnEndThatFindsNoMemoryIsTriedAgain) {
  has_no_memory = true;
  begin(lifecycle.start_terminate({}, lifecycle.terminated_reason(), nullptr));
  EXPECT_FALSE(poll());
  EXPECT_NE(lifecycle.status(), KernelStatus::terminated);
  EXPECT_TRUE(poll());
  EXPECT_EQ(lifecycle.status(), KernelStatus::terminated);
}

TEST_F(LifecycleTest, RepliesCanBeWaitedForOnceItWasActive) {
  EXPECT_EQ(lifecycle.check_replies().error(), Errc::invalid_state);
  activate();
  EXPECT_TRUE(lifecycle.check_replies());
  time.works = true;
  ASSERT_TRUE(lifecycle.deactivate());
  EXPECT_TRUE(lifecycle.check_replies());
}

TEST_F(LifecycleTest, ExplainsAWaitInVainByTheStatus) {
  const Error late(Errc::deadline_exceeded, "late");
  EXPECT_THAT(lifecycle.explained(late).detail, HasSubstr("late; kernel 'a' is launched"));
  EXPECT_EQ(lifecycle.explained(Error(Errc::busy, "busy")).detail, "busy");
  activate();
  EXPECT_EQ(lifecycle.explained(late).detail, "late");
}

TEST_F(LifecycleTest, MemoryIsLeftAloneAtRestOnly) {
  int uses = 0;
  const auto use = [&]() -> Result<void> {
    ++uses;
    return {};
  };
  using Rest = Lifecycle::Rest;
  EXPECT_TRUE(lifecycle.at_rest(Rest::launched, use));
  EXPECT_TRUE(lifecycle.at_rest(Rest::launched_or_deactivated, use));
  activate();
  EXPECT_EQ(lifecycle.at_rest(Rest::launched, use).error(), Errc::invalid_state);
  EXPECT_EQ(lifecycle.at_rest(Rest::launched_or_deactivated, use).error(), Errc::invalid_state);
  time.works = true;
  ASSERT_TRUE(lifecycle.deactivate());
  EXPECT_EQ(lifecycle.at_rest(Rest::launched, use).error(), Errc::invalid_state);
  EXPECT_EQ(uses, 2);
  EXPECT_TRUE(lifecycle.at_rest(Rest::launched_or_deactivated, use));
}

TEST_F(LifecycleTest, PausesAnActiveKernelForACopy) {
  activate();
  time.works = true;
  rk_u32 during = 0;
  const auto copy = [&]() -> Result<void> {
    during = run_state();
    return {};
  };
  EXPECT_EQ(lifecycle.pause_for(time.now + 1'000'000'000, copy).value(), Lifecycle::Pause::copied);
  EXPECT_EQ(during, RK_KERNEL_PAUSED);
  EXPECT_EQ(run_state(), RK_KERNEL_RUNNING);
  EXPECT_EQ(lifecycle.status(), KernelStatus::active);
}

TEST_F(LifecycleTest, NobodyWhoLooksWaitsForACopy) {
  KernelStatus status = KernelStatus::created;
  const auto copy = [&]() -> Result<void> {
    std::thread looking([&] {
      status = lifecycle.status();
      lifecycle.tell_failure();
    });
    looking.join();
    return {};
  };
  EXPECT_TRUE(lifecycle.at_rest(Lifecycle::Rest::launched, copy));
  EXPECT_EQ(status, KernelStatus::launched);
  activate();
  time.works = true;
  EXPECT_EQ(lifecycle.pause_for(time.now + 1'000'000'000, copy).value(), Lifecycle::Pause::copied);
  EXPECT_EQ(status, KernelStatus::active);
  const auto lose = [&]() -> Result<void> {
    executor.check();
    return copy();
  };
  ASSERT_TRUE(lifecycle.deactivate());
  device.lost = true;
  EXPECT_TRUE(lifecycle.at_rest(Lifecycle::Rest::launched_or_deactivated, lose));
  EXPECT_EQ(status, KernelStatus::failed);
  EXPECT_EQ(told.back(), KernelStatus::deactivated) << "told when nobody has the lock";
  lifecycle.tell_failure();
  EXPECT_EQ(told.back(), KernelStatus::failed);
}

TEST_F(LifecycleTest, ADeviceThatDoesNotPauseIsLeftAlone) {
  activate();
  bool is_copied = false;
  const auto copy = [&]() -> Result<void> {
    is_copied = true;
    return {};
  };
  EXPECT_EQ(lifecycle.pause_for(time.now + 5000, copy).value(), Lifecycle::Pause::not_obeyed);
  EXPECT_FALSE(is_copied);
  EXPECT_EQ(run_state(), RK_KERNEL_RUNNING);
  time.works = true;  // another one takes its turn
  EXPECT_EQ(lifecycle.pause_for(time.now + 1'000'000'000, copy).value(), Lifecycle::Pause::copied);
  EXPECT_TRUE(is_copied);
}

TEST_F(LifecycleTest, ALostDeviceIsAFailureThatIsToldOnce) {
  activate();
  lifecycle.tell_failure();
  device.lost = true;
  executor.check();
  EXPECT_EQ(lifecycle.status(), KernelStatus::failed);
  lifecycle.tell_failure();
  lifecycle.tell_failure();
  EXPECT_THAT(told,
              ElementsAre(KernelStatus::launched, KernelStatus::active, KernelStatus::failed));
  EXPECT_EQ(lifecycle.start_deactivate(note()).error(), Errc::device_error);
  EXPECT_TRUE(lifecycle.terminate({}, lifecycle.terminated_reason()));
  EXPECT_THAT(stops, ElementsAre("kept")) << "nobody knows what the device touches";
}

}  // namespace
}  // namespace ringkernel::detail
