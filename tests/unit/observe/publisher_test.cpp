// What a runtime and its ring kernels say of themselves stands in the counters file, and a kernel
// that rests is not asked.
#include "observe/publisher.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "support/environment.hpp"
#include "support/temp_folder.hpp"
#include "telemetry/counters_reader.hpp"
#include "telemetry/state_request.hpp"
#include "unit/observe/scripted_runtime.hpp"
#include "unit/telemetry/sample_metrics.hpp"

namespace ringkernel::detail {
namespace {

using namespace std::chrono_literals;
using ringkernel::testing::is_whole;
using ringkernel::testing::kernel_of;
using ringkernel::testing::ScriptedKernel;
using ringkernel::testing::ScriptedRuntime;
using telemetry::CountersReader;
using telemetry::PublishedKernel;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Publishing : public ::testing::Test {
 protected:
  std::shared_ptr<ScriptedKernel> add(std::uint64_t number) {
    return runtime.kernels.emplace_back(std::make_shared<ScriptedKernel>(number));
  }
  void publish() { publisher->publish(nullptr); }
  CountersReader read() { return CountersReader::open(publisher->path()).value(); }
  std::vector<PublishedKernel> kernels() { return read().kernels(); }

  ringkernel::testing::TempFolder folder;
  ringkernel::testing::Variable variable{"XDG_RUNTIME_DIR", folder.path().string()};
  ScriptedRuntime runtime;
  std::unique_ptr<Publisher> publisher = Publisher::create(runtime, 100ms).value();
};

TEST_F(Publishing, StoresWhatTheRuntimeAndItsKernelsSay) {
  add(7)->waiting = {{3, 4000}};
  runtime.traced = {ringkernel::testing::event_of(5)};
  publish();
  EXPECT_EQ(read().runtime().value().metrics.device, "device 1");
  ASSERT_THAT(kernels(), SizeIs(1));
  EXPECT_TRUE(is_whole(kernels()[0].metrics));
  ASSERT_THAT(kernels()[0].calls, SizeIs(1));
  EXPECT_EQ(kernels()[0].calls[0].message, 3u);
  std::uint64_t from = 0;
  EXPECT_THAT(read().trace(from), SizeIs(1));
}

TEST_F(Publishing, AsksAKernelAgainWhenSomethingHappenedOrIsUnderWay) {
  const auto kernel = add(7);
  publish();
  publish();
  EXPECT_EQ(kernel->asked, 1) << "it rested";
  kernel->now.unanswered = 1;
  publish();
  publish();
  EXPECT_EQ(kernel->asked, 3) << "the device may be at work";
  kernel->now.unanswered = 0;
  kernel->now.events = 8;
  kernel->said = kernel_of(8);
  publish();
  publish();
  EXPECT_EQ(kernel->asked, 4);
  EXPECT_EQ(kernels().at(0).metrics.id, "kernel 8");
}

TEST_F(Publishing, StoresTheSlicesOfAKernelThatIsNotAsked) {
  const auto kernel = add(7);
  publish();
  kernel->now.slices = 70;
  publish();
  EXPECT_EQ(kernel->asked, 1);
  EXPECT_EQ(kernels().at(0).metrics.slices, 70u);
}

TEST_F(Publishing, TellsThatAKernelHasFailed) {
  const auto kernel = add(7);
  publish();
  EXPECT_EQ(kernel->failures_told, 0);
  kernel->now.status = KernelStatus::failed;
  publish();
  EXPECT_EQ(kernel->failures_told, 1);
}

TEST_F(Publishing, GivesAPlaceToTheNextKernelUnderAnotherNumber) {
  add(7);
  publish();
  const PublishedKernel first = kernels().at(0);
  runtime.kernels.clear();
  publish();
  EXPECT_THAT(kernels(), IsEmpty());
  add(9);
  publish();
  const PublishedKernel second = kernels().at(0);
  EXPECT_EQ(second.place, first.place);
  EXPECT_NE(second.number, first.number);
}

TEST_F(Publishing, KeepsTheLastMetricsOfARuntimeThatBuildsAProgram) {
  publish();
  runtime.said.reset();
  publish();
  EXPECT_EQ(read().runtime().value().metrics.device, "device 1");
}

TEST_F(Publishing, StoresEachKindOfErrorWithItsCount) {
  runtime.log.note("a", Error(Errc::queue_full, "first"), 1);
  publish();
  runtime.log.note("a", Error(Errc::queue_full, "second"), 2);
  runtime.log.note("b", Error(Errc::device_error, {}), 3);
  publish();
  const std::vector<ErrorRecord> errors = read().errors();
  ASSERT_THAT(errors, SizeIs(2));
  EXPECT_EQ(errors[0].count, 2u);
  EXPECT_THAT(errors[0].text, HasSubstr("second"));
  EXPECT_EQ(errors[1].kernel, "b");
}

TEST_F(Publishing, AnswersWhoAsksForAState) {
  add(7)->state = R"({"sum": 3})";
  publish();
  const std::uint64_t number = kernels().at(0).number;
  for (const auto& [kernel, expected] : {std::pair(number, R"({"sum": 3})"), {number + 1, ""}}) {
    auto asked = std::async(std::launch::async, [&, kernel = kernel] {
      return telemetry::ask_for_state(publisher->path(), kernel, 5min);
    });
    while (asked.wait_for(1ms) != std::future_status::ready) publish();
    const Result<std::string> answer = asked.get();
    if (kernel == number)
      EXPECT_EQ(answer.value(), expected);
    else
      EXPECT_EQ(answer.error(), Errc::kernel_not_found);
  }
}

TEST_F(Publishing, StoresHowItEndedAndRemovesTheFile) {
  const auto kernel = add(7);
  publisher->begin();
  const std::filesystem::path path = publisher->path();
  const CountersReader reader = read();
  publisher.reset();
  EXPECT_EQ(kernel->asked, 1);
  EXPECT_THAT(reader.kernels(), SizeIs(1)) << "who looks at this moment";
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Publishing, GoesOnInAFileThatWasCutOff) {
  add(7);
  runtime.log.note("a", Error(Errc::queue_full, "first"), 1);
  publish();
  std::filesystem::resize_file(publisher->path(), 0);
  publish();
  EXPECT_THAT(kernels(), SizeIs(1));
  EXPECT_THAT(read().errors(), SizeIs(1));
}

}  // namespace
}  // namespace ringkernel::detail
