// A runtime's errors and states are told to those who listen; telemetry and the log begin and end.
#include "runtime/reporting.hpp"

#include <gmock/gmock.h>

#include <boost/asio/error.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "observe/logger.hpp"
#include "ringkernel/limits.hpp"
#include "support/environment.hpp"
#include "support/temp_folder.hpp"
#include "unit/observe/scripted_runtime.hpp"

namespace ringkernel::detail {
namespace {

using namespace std::chrono_literals;
using ringkernel::testing::ScriptedRuntime;
using ringkernel::testing::Variable;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class Listener final : public EventListener {
 public:
  void push(const Event& event) noexcept override { events.push_back(event); }
  void miss() noexcept override {}
  void close() noexcept override { is_closed = true; }
  std::vector<Event> events;
  bool is_closed = false;
};

class Lines final : public LogSink {
 public:
  void write(const LogRecord& record) override { lines.emplace_back(record.text); }
  std::vector<std::string> lines;  // by one thread, which has ended when they are read
};

class Reports : public ::testing::Test {
 protected:
  static RuntimeOptions with_telemetry() {
    RuntimeOptions options;
    options.telemetry = true;
    return options;
  }
  static RuntimeOptions without() {
    RuntimeOptions options;
    options.telemetry = false;
    return options;
  }

  ringkernel::testing::TempFolder folder;
  Variable variable{"XDG_RUNTIME_DIR", folder.path().string()};
  bridge::TickClock clock;
  ScriptedRuntime runtime;
};

TEST_F(Reports, AnErrorIsKeptAndTold) {
  Reporting reporting(without(), clock);
  const auto listener = std::make_shared<Listener>();
  reporting.events().add(listener);
  reporting.note("one", Error(Errc::queue_full, "text"));
  ASSERT_THAT(reporting.errors().records(), SizeIs(1));
  EXPECT_EQ(reporting.errors().records()[0].kernel, "one");
  ASSERT_THAT(listener->events, SizeIs(1));
  EXPECT_EQ(listener->events[0].kernel, "one");
  reporting.note("one", Error(boost::asio::error::operation_aborted));
  EXPECT_EQ(reporting.errors().counts().all, 1u) << "who cancelled knows";
  reporting.note(std::string(kernel_id_length_max + 9, 'x'), Error(Errc::queue_full, {}));
  EXPECT_THAT(reporting.errors().records()[1].kernel, SizeIs(kernel_id_length_max));
  reporting.end(false);
  EXPECT_TRUE(listener->is_closed);
}

TEST_F(Reports, AnErrorOfAProgramNamesItOnce) {
  Reporting reporting(without(), clock);
  reporting.note_of_program("shop", Error(Errc::build_failed, "line 3"));
  reporting.note_of_program("till", Error(Errc::device_error, "program 'till' is gone"));
  const auto records = reporting.errors().records();
  EXPECT_THAT(records[0].text, HasSubstr("program 'shop': line 3"));
  EXPECT_THAT(records[1].text, Not(HasSubstr("program 'till': program")));
}

TEST_F(Reports, WithoutTelemetryNobodyIsToKnow) {
  RuntimeOptions options = without();
  options.http_address = "127.0.0.1:0";
  Reporting reporting(options, clock);
  reporting.start(runtime, nullptr, "opened");
  EXPECT_EQ(reporting.trace(), nullptr);
  EXPECT_EQ(reporting.sample_every(), 0u);
  RuntimeMetrics metrics;
  reporting.add_to(metrics);
  EXPECT_EQ(metrics.telemetry_file, "");
  EXPECT_THAT(metrics.telemetry_failure, HasSubstr("which is off"));
  reporting.end(false);
}

TEST_F(Reports, TelemetryHasItsFileUntilTheEnd) {
  Reporting reporting(with_telemetry(), clock);
  reporting.start(runtime, nullptr, "opened");
  EXPECT_NE(reporting.trace(), nullptr);
  EXPECT_EQ(reporting.sample_every(), RuntimeOptions().latency_sampling);
  RuntimeMetrics metrics;
  reporting.add_to(metrics);
  const std::filesystem::path file = metrics.telemetry_file;
  EXPECT_TRUE(std::filesystem::exists(file)) << file;
  reporting.changed("one", KernelStatus::active);
  std::vector<TraceEvent> events;
  reporting.take_trace(events);  // the publisher takes those of the scripted runtime
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].kind, TraceKind::state);
  EXPECT_EQ(events[0].id, static_cast<std::uint64_t>(KernelStatus::active));
  reporting.end(false);
  RuntimeMetrics behind;
  reporting.add_to(behind);
  EXPECT_EQ(behind.telemetry_file, "");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Reports, TheLogSaysWhatWasOpenedAndIsGoneBehindTheEnd) {
  const auto lines = std::make_shared<Lines>();
  Reporting reporting(without(), clock);
  reporting.start(runtime, lines, "opened this");
  ASSERT_NE(reporting.log(), nullptr);
  reporting.note("one", Error(Errc::queue_full, "text"));
  reporting.end(false);
  ASSERT_THAT(lines->lines, Not(IsEmpty()));
  EXPECT_THAT(lines->lines[0], HasSubstr("opened this"));
  EXPECT_THAT(lines->lines, ::testing::Contains(HasSubstr("queue_full")));
  EXPECT_EQ(reporting.log(), nullptr);
  reporting.end(false);  // a second shutdown
}

}  // namespace
}  // namespace ringkernel::detail
