#include "runtime/slice_trace.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "unit/bridge/simulated_device.hpp"

namespace ringkernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SliceTraceTest : public ::testing::Test {
 protected:
  /// "number begin-end" of each slice that was told of since the last time.
  std::vector<std::string> told() {
    std::vector<TraceEvent> events;
    log.take(events);
    std::vector<std::string> lines;
    for (const TraceEvent& event : events) {
      EXPECT_EQ(event.kind, TraceKind::slice);
      EXPECT_STREQ(event.name, "echo");
      lines.push_back(std::to_string(event.id) + " " + std::to_string(event.begin_ns) + "-" +
                      std::to_string(event.end_ns));
    }
    return lines;
  }

  TraceLog log;
  bridge::test::ManualClock clock;
  SliceTrace trace{&log, clock, "echo"};
};

TEST_F(SliceTraceTest, TellsOfASliceOnceWhenItIsSeenToHaveEnded) {
  clock.now = 100;
  trace.launched(7);
  clock.now = 250;
  EXPECT_THAT(told(), IsEmpty());
  trace.ended();
  EXPECT_THAT(told(), ElementsAre("7 100-250"));
  trace.ended();
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(SliceTraceTest, ALaunchEndsTheSliceBefore) {
  clock.now = 100;
  trace.launched(7);
  clock.now = 200;
  trace.launched(8);
  EXPECT_THAT(told(), ElementsAre("7 100-200"));
}

TEST_F(SliceTraceTest, ASliceThatHasNotParkedGoesOn) {
  trace.launched(7);
  trace.ended_if([] { return false; });
  EXPECT_THAT(told(), IsEmpty());
  trace.ended_if([] { return true; });
  EXPECT_THAT(told(), ElementsAre("7 1000-1000"));
}

TEST_F(SliceTraceTest, WithoutALogNothingIsKept) {
  SliceTrace none(nullptr, clock, "echo");
  none.launched(7);
  none.ended();
  none.ended_if([] { return true; });
  EXPECT_THAT(told(), IsEmpty());
}

/// Says which slices came.
class CountingPort : public bridge::SlicePort {
 public:
  explicit CountingPort(std::vector<std::string>& calls) : calls_(calls) {}
  Result<void> launch(std::uint32_t slice) override {
    calls_.push_back("launch " + std::to_string(slice));
    return {};
  }
  bool run(std::uint32_t slice) override {
    calls_.push_back("run " + std::to_string(slice));
    return true;
  }
  bool runs_on_caller() const noexcept override { return true; }
  Result<void> wait(std::uint64_t) override { return {}; }
  Result<void> error() override { return {}; }

 private:
  std::vector<std::string>& calls_;
};

TEST_F(SliceTraceTest, ATracedPortTellsOfLaunchesAndHandsThemOn) {
  std::vector<std::string> calls;
  TracedPort<CountingPort> traced(trace, calls);
  bridge::SlicePort& port = traced;
  clock.now = 10;
  EXPECT_TRUE(port.launch(1));
  clock.now = 20;
  EXPECT_TRUE(port.run(2));
  EXPECT_THAT(calls, ElementsAre("launch 1", "run 2"));
  EXPECT_THAT(told(), ElementsAre("1 10-20")) << "what a caller runs itself is no launch";
}

}  // namespace
}  // namespace ringkernel
