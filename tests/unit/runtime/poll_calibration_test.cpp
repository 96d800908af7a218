#include "runtime/poll_calibration.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>

#include "unit/bridge/simulated_device.hpp"

namespace ringkernel {
namespace {

/// A device whose slices take as long as the test says; `number` counts them from 0.
class TimedSlices final : public bridge::SlicePort {
 public:
  using Duration = std::function<std::uint64_t(int number, std::uint32_t polls)>;

  explicit TimedSlices(Duration duration)
      : arena_(static_cast<std::byte*>(std::aligned_alloc(4096, arena_bytes)), &std::free),
        duration_(std::move(duration)),
        device_((std::memset(arena_.get(), 0, arena_bytes), arena_.get()), arena_bytes, 0, 1),
        executor(arena_.get(), 0, {.kernel_capacity = 16}, *this) {
    executor.open(1);
  }

  Result<void> launch(std::uint32_t slice) override { return device_.launch(slice); }
  bool run(std::uint32_t) override { return false; }
  bool runs_on_caller() const noexcept override { return false; }
  Result<void> wait(std::uint64_t timeout_ns) override {
    timeout = timeout_ns;
    if (is_stuck) return Error(Errc::execution_timeout, "stuck");
    const auto& host = *reinterpret_cast<const rk_executor_host_line*>(arena_.get());
    device_.work();
    clock.now += duration_(count++, host.idle_polls_max);
    return {};
  }
  Result<void> error() override { return {}; }

 private:
  static constexpr std::uint64_t arena_bytes = 128 * 1024;

  std::unique_ptr<std::byte, decltype(&std::free)> arena_;
  Duration duration_;
  bridge::test::SimulatedDevice device_;

 public:
  bridge::test::ManualClock clock;
  bridge::Executor executor;
  std::uint64_t timeout = 0;
  int count = 0;
  bool is_stuck = false;
};

double measured(TimedSlices& slices) {
  return PollCalibration(slices.executor, slices, slices.clock).measure(5'000'000).value();
}

TEST(PollCalibration, LeavesOutWhatALaunchCosts) {
  TimedSlices slices([](int, std::uint32_t polls) { return 3'000'000 + 40ull * polls; });
  EXPECT_DOUBLE_EQ(measured(slices), 40);
  EXPECT_EQ(slices.timeout, 5'000'000u);
  EXPECT_EQ(slices.count, 6) << "three of each kind";
}

/// Neither a short nor a long slice that was held up makes a poll look shorter or longer.
TEST(PollCalibration, LeavesOutSlicesThatWereHeldUp) {
  for (const int held_up : {0, 1, 2, 3, 4, 5}) {
    TimedSlices slices([=](int number, std::uint32_t polls) {
      return 1000 + 40ull * polls + (number == held_up ? 10'000'000 : 0);
    });
    EXPECT_DOUBLE_EQ(measured(slices), 40) << held_up;
  }
}

TEST(PollCalibration, GoesOnUntilALongSliceTakesLonger) {
  TimedSlices slices([](int number, std::uint32_t polls) {
    return number < 8 ? 1'000'000 : 1000 + 40ull * polls;
  });
  EXPECT_DOUBLE_EQ(measured(slices), 40);
  EXPECT_EQ(slices.count, 10);
}

TEST(PollCalibration, GivesUpAndTakesTheShortestPoll) {
  TimedSlices slices([](int, std::uint32_t) { return 1'000'000; });
  EXPECT_DOUBLE_EQ(measured(slices), PollCalibration::poll_ns_min);
  EXPECT_EQ(slices.count, 40);
}

TEST(PollCalibration, StaysWithinWhatIsPlausible) {
  TimedSlices fast([](int, std::uint32_t polls) { return polls; });
  EXPECT_DOUBLE_EQ(measured(fast), PollCalibration::poll_ns_min);
  TimedSlices slow([](int, std::uint32_t polls) { return 1'000'000ull * polls; });
  EXPECT_DOUBLE_EQ(measured(slow), PollCalibration::poll_ns_max);
}

TEST(PollCalibration, ASliceThatDoesNotReturnIsAnError) {
  TimedSlices slices([](int, std::uint32_t polls) { return polls; });
  slices.is_stuck = true;
  const auto result = PollCalibration(slices.executor, slices, slices.clock).measure(5'000'000);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), Errc::execution_timeout);
}

TEST(PollCalibration, CountsThePollsOfATime) {
  EXPECT_EQ(PollCalibration::polls_for(std::chrono::microseconds(10), 40), 250u);
  EXPECT_EQ(PollCalibration::polls_for(std::chrono::nanoseconds(0), 40), 1u);
  EXPECT_EQ(PollCalibration::polls_for(std::chrono::hours(1), 2),
            std::numeric_limits<std::uint32_t>::max());
}

TEST(PollCalibration, TakesASelfTestsWord) {
  EXPECT_DOUBLE_EQ(PollCalibration::poll_ns(25'000), 40);
  EXPECT_DOUBLE_EQ(PollCalibration::poll_ns(0), PollCalibration::poll_ns_min) << "unknown";
  EXPECT_DOUBLE_EQ(PollCalibration::poll_ns(1), PollCalibration::poll_ns_max);
  EXPECT_DOUBLE_EQ(PollCalibration::poll_ns(1'000'000'000), PollCalibration::poll_ns_min);
}

}  // namespace
}  // namespace ringkernel
