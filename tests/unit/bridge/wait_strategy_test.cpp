// How threads wait, on a clock that stands still: when they poll, rest, and stop.
#include "bridge/channel/wait_strategy.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::bridge::test {
namespace {

using Step = WaitStrategy::Step;

class WaitStrategyTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t spin_ns = 50'000;
  /// Where slices say on which core they run.
  static constexpr SliceView running{.is_starting = false, .tells_core = true, .needs_core = false};
  static constexpr SliceView starting{.is_starting = true, .tells_core = true, .needs_core = false};
  static constexpr SliceView silent{.is_starting = true, .tells_core = false, .needs_core = false};
  static constexpr SliceView needing{.is_starting = false, .tells_core = true, .needs_core = true};

  Step step(const SliceView& slice) { return strategy.lead(lead, clock.now_ns(), slice); }
  /// How many calls are left to others until one is assisted.
  int calls_until_it_pays() {
    int calls = 0;
    while (!strategy.assist_pays()) ++calls;
    return calls;
  }

  ManualClock clock;
  WaitStrategy strategy{spin_ns};
  WaitStrategy::Lead lead;
};

TEST_F(WaitStrategyTest, ALeaderLooksAtTheCoreAndTheClockNowAndThen) {
  std::vector<int> cores, turns;
  for (int poll = 1; poll <= 512; ++poll) {
    if (lead.next_looks_at_core()) cores.push_back(poll);
    if (lead.is_turn_over()) turns.push_back(poll);
  }
  EXPECT_EQ(cores, (std::vector{1, 65, 129, 193, 257, 321, 385, 449}));
  EXPECT_EQ(turns, (std::vector{256, 512}));
}

TEST_F(WaitStrategyTest, ALeaderYieldsUntilItHasPolledForSoLong) {
  EXPECT_EQ(step(running), Step::yield);
  clock.now += spin_ns - 1;
  EXPECT_EQ(step(running), Step::yield);
  clock.now += 1;
  EXPECT_EQ(step(running), Step::stop);
}

TEST_F(WaitStrategyTest, ALeaderHandsItsCoreToASliceThatNeedsIt) {
  EXPECT_EQ(step(needing), Step::hand_over);
  EXPECT_EQ(step(running), Step::yield);
}

TEST_F(WaitStrategyTest, ALeaderWaitsLongerForASliceThatIsStartingAndAnewForItsWork) {
  EXPECT_EQ(step(starting), Step::yield);
  clock.now += 199'999;
  EXPECT_EQ(step(starting), Step::yield);
  EXPECT_EQ(step(running), Step::yield) << "it has just begun";
  clock.now += spin_ns;
  EXPECT_EQ(step(running), Step::stop);

  lead = {};
  EXPECT_EQ(step(starting), Step::yield);
  clock.now += 200'000;
  EXPECT_EQ(step(starting), Step::stop);
}

TEST_F(WaitStrategyTest, ALongSpinIsTheLeastPatienceToo) {
  WaitStrategy patient(1'000'000);
  EXPECT_EQ(patient.lead(lead, clock.now_ns(), starting), Step::yield);
  clock.now += 999'999;
  EXPECT_EQ(patient.lead(lead, clock.now_ns(), starting), Step::yield);
  clock.now += 1;
  EXPECT_EQ(patient.lead(lead, clock.now_ns(), starting), Step::stop);
}

TEST_F(WaitStrategyTest, ALeaderSleepsWhileASliceStartsThatNeverGivesACoreBack) {
  EXPECT_EQ(step(silent), Step::sleep);
}

TEST_F(WaitStrategyTest, AReceiverPollsForSoLongAndHandsItsCoreOver) {
  EXPECT_TRUE(strategy.receives_on(spin_ns - 1));
  EXPECT_FALSE(strategy.receives_on(spin_ns));
  EXPECT_EQ(strategy.receive(running), Step::poll);
  EXPECT_EQ(strategy.receive(needing), Step::hand_over);
  EXPECT_EQ(strategy.receive({.needs_core = true}), Step::poll) << "it would not come back";
}

TEST_F(WaitStrategyTest, AssistanceEndsAfterAShortOp) {
  EXPECT_TRUE(strategy.assists_on(4'999));
  EXPECT_FALSE(strategy.assists_on(5'000));
  EXPECT_FALSE(strategy.is_long(100'000));
  EXPECT_TRUE(strategy.is_long(100'001));
}

TEST_F(WaitStrategyTest, AssistanceInVainIsTriedAgainLaterAndLater) {
  EXPECT_EQ(calls_until_it_pays(), 0);
  for (const int pause : {16, 32, 64, 128, 256, 512, 1024, 1024}) {
    strategy.note_assist(true);
    EXPECT_EQ(calls_until_it_pays(), pause);
  }
  strategy.note_assist(false);
  EXPECT_EQ(calls_until_it_pays(), 0);
  strategy.note_assist(true);
  EXPECT_EQ(calls_until_it_pays(), 16);
}

/// Gives up at once, and counts how often it was asked.
class Impatient final : public WaitStrategy {
 public:
  explicit Impatient(int& asked) : WaitStrategy(0), asked_(asked) {}
  [[nodiscard]] Step lead(Lead&, std::uint64_t, const SliceView&) const noexcept override {
    ++asked_;
    return Step::stop;
  }

 private:
  int& asked_;
};

using WaitStrategyOfAChannel = SimulatedBridge;

TEST_F(WaitStrategyOfAChannel, MayBeAnother) {
  const std::uint32_t kernel = make_channel()->kernel();  // its rings serve the next one
  int asked = 0;
  Channel channel(executor, kernel, input_ring, output_ring, {}, clock, wakes,
                  std::make_unique<Impatient>(asked));
  const MessageId id = submit(channel, 1, envelope(64), Receiver::waiter).value();
  EXPECT_EQ(channel.wait(id, Timeout(0)).error, make_error_code(Errc::deadline_exceeded));
  EXPECT_GE(asked, 1);
}

}  // namespace
}  // namespace ringkernel::bridge::test
