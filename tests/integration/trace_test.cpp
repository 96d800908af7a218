// rkstat trace: what happened, event by event.
#include <flatbuffers/flatbuffers.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <boost/json.hpp>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "integration/telemetry_fixture.hpp"
#include "shop_program.hpp"
#include "support/terminal.hpp"
#include "telemetry/counters_file.hpp"
#include "telemetry/counters_reader.hpp"
#include "telemetry/counters_writer.hpp"
#include "telemetry/folder.hpp"

namespace ringkernel::test {
namespace {

namespace json = boost::json;
using telemetry::CountersReader;
using ::testing::HasSubstr;

class Trace : public Publishing {
 protected:
  [[nodiscard]] json::array record(const std::string& seconds = "0", int exit_code = 0) {
    const std::string file = (root() / "trace.json").string();
    const auto recorded = rkstat({"trace", "-o", file, "--for", seconds});
    EXPECT_EQ(recorded.exit_code, exit_code) << recorded.output;
    report_ = recorded.output;
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return json::parse(text.str()).at("traceEvents").as_array();
  }
  /// The file holds `messages` of them, but for those that somebody else kept from the log.
  static bool has(const CountersReader& reader, std::size_t messages) {
    std::uint64_t from = 0;
    const auto events = reader.trace(from);
    return static_cast<std::size_t>(std::ranges::count(
               events, TraceKind::message, [](const TraceEvent& event) { return event.kind; })) +
               reader.trace_missed() >=
           messages;
  }

  std::string report_;
};

INSTANTIATE_TEST_SUITE_P(Backends, Trace, ::testing::ValuesIn(backend_names()), backend_label);

TEST_P(Trace, HasEveryMessageWithItsHops) {
  constexpr std::size_t calls = 20;
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "a \"kernel\"");
  for (std::uint64_t i = 0; i < calls; ++i) ASSERT_TRUE(kernel.call(numbered(i)));
  const auto reader = CountersReader::open(runtime.metrics().telemetry_file).value();
  ASSERT_TRUE(await([&] { return has(reader, calls); }));
  std::map<std::string, std::map<std::string, double>> messages;  // by id: times by "NAME PHASE"
  std::map<std::string, int> states;
  double active_us = 0;
  for (const json::value& event : record()) {
    const std::string phase(event.at("ph").as_string());
    const std::string name(event.at("name").as_string());
    if (phase == "b" || phase == "e") {
      EXPECT_EQ(event.at("cat").as_string(), "a \"kernel\"");
      const std::string id(event.at("id2").at("local").as_string());
      const std::string what = name == "message " + id ? "message" : name;
      messages[id][what + " " + phase] = event.at("ts").to_number<double>();
    } else if (phase == "X" && event.at("cat").as_string() == "state") {
      ++states[name];
      if (name == "active") active_us = event.at("dur").to_number<double>();
      EXPECT_GE(event.at("dur").to_number<double>(), 0);
    }
  }
  EXPECT_EQ(messages.size() + reader.trace_missed(), calls);
  for (auto& [id, at] : messages) {
    EXPECT_EQ(at.size(), has_device_clock(runtime) ? 10u : 8u) << id;
    if (has_device_clock(runtime)) {
      EXPECT_LE(at["device b"], at["executor b"]);
      EXPECT_LE(at["executor b"], at["executor e"]);
      EXPECT_LE(at["executor e"], at["device e"]);
    }
    EXPECT_EQ(at["message b"], at["host_queue b"]);
    EXPECT_LE(at["host_queue b"], at["host_queue e"]);
    EXPECT_EQ(at["host_queue e"], at["device b"]);
    EXPECT_LT(at["device b"], at["device e"]);
    EXPECT_EQ(at["device e"], at["delivery b"]);
    EXPECT_LE(at["delivery b"], at["delivery e"]);
    EXPECT_EQ(at["delivery e"], at["message e"]);
  }
  EXPECT_EQ(states["launched"], 1);
  EXPECT_EQ(states["active"], 1) << "until the end of the trace";
  EXPECT_GT(active_us, 0) << "also while nothing happens";
}

/// Of a kernel whose changes were so long ago that the file has forgotten them, too.
TEST_P(Trace, HasTheStateOfEveryKernel) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel old = active(runtime, "old");
  Kernel busy = active(runtime, "busy");
  const auto reader = CountersReader::open(runtime.metrics().telemetry_file).value();
  std::uint64_t seen = 0;
  for (std::uint64_t i = 0; seen < 2 * telemetry::trace_events_max; ++i) {
    ASSERT_TRUE(busy.call(numbered(i)));
    if (i % 100 == 0) (void)reader.trace(seen);
  }
  int states = 0;
  for (const json::value& event : record())
    states += event.at("ph").as_string() == "X" && event.at("cat").as_string() == "state" &&
              event.at("name").as_string() == "active";
  EXPECT_EQ(states, 2);
}

/// How it ended is seen by those who look at that moment.
TEST_P(Trace, HasTheEndOfARuntime) {
  std::optional<RingKernelRuntime> runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(*runtime, "a");
  const auto reader = CountersReader::open(runtime->metrics().telemetry_file).value();
  runtime.reset();
  std::uint64_t from = 0;
  const auto events = reader.trace(from);
  EXPECT_TRUE(std::ranges::any_of(events, [](const TraceEvent& event) {
    return event.kind == TraceKind::state &&
           event.id == static_cast<std::uint64_t>(KernelStatus::terminated);
  }));
}

TEST_P(Trace, HasSlices) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  ASSERT_TRUE(kernel.activate());
  const auto slices_of = [&] {
    std::vector<json::value> slices;
    for (const json::value& event : record())
      if (event.at("ph").as_string() == "X" && event.at("cat").as_string() == "slice")
        slices.push_back(event);
    return slices;
  };
  std::vector<json::value> slices;
  ASSERT_TRUE(await([&] { return !(slices = slices_of()).empty(); }));
  EXPECT_GT(slices.front().at("dur").to_number<double>(), 0);
  EXPECT_THAT(std::string(slices.front().at("name").as_string()),
              ::testing::MatchesRegex("slice [0-9]+"));
}

/// Messages by their methods, and a program's swap at the moment from which on it is the new one.
TEST_P(Trace, KnowsPrograms) {
  auto runtime = open_on(GetParam(), often()).value();
  ASSERT_TRUE(runtime.add_program(shop_program()));
  Kernel shelf = active(runtime, "shelf", {.program = "shop", .behaviour = "Shelf"});
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(builder.StartTable())));
  const Bytes one(reinterpret_cast<const std::byte*>(builder.GetBufferPointer()),
                  builder.GetSize());
  ASSERT_TRUE(runtime.swap_program(shop_program()));
  json::object swap;
  double begin_us = 0;
  ASSERT_TRUE(await([&] {  // but for those messages that somebody else kept from the log
    EXPECT_TRUE(shelf.call("Put", one));
    begin_us = 0;
    for (const json::value& event : record()) {
      const std::string name(event.at("name").as_string());
      if (event.at("ph").as_string() == "i") swap = event.as_object();
      if (event.at("ph").as_string() != "b") continue;
      EXPECT_FALSE(name.starts_with("message ")) << name;
      if (name.starts_with("Put ")) begin_us = event.at("ts").to_number<double>();
    }
    return begin_us != 0 && !swap.empty();
  })) << report_;
  EXPECT_EQ(swap.at("name").as_string(), "shop version 2");
  EXPECT_EQ(swap.at("cat").as_string(), "swap");
  EXPECT_LE(swap.at("ts").to_number<double>(), begin_us);
  EXPECT_GE(swap.at("args").at("pause_us").to_number<double>(), 0);
}

/// Whoever records sees what comes later, too, and each event once.
TEST_P(Trace, GoesOnWhileItRecords) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "a");
  std::uint64_t count = 0;
  std::jthread calls([&](const std::stop_token& enough) {
    for (; !enough.stop_requested(); ++count) EXPECT_TRUE(kernel.call(numbered(count)));
  });
  const json::array events = record("0.5");
  calls = {};
  std::map<std::string, int> begins;
  for (const json::value& event : events)
    if (event.at("ph").as_string() == "b" && event.at("name").as_string().starts_with("message "))
      ++begins[std::string(event.at("id2").at("local").as_string())];
  EXPECT_GT(begins.size(), 1u);
  EXPECT_LE(begins.size(), count);
  for (const auto& [id, times] : begins) EXPECT_EQ(times, 1) << id;
}

TEST_P(Trace, OutlivesTheService) {
  ASSERT_NE(testing::run_child({RK_TELEMETRY_SERVICE, GetParam()},
                               {{"XDG_RUNTIME_DIR", root().parent_path().string()}})
                .exit_code,
            2);
  std::uint64_t messages = 0;
  for (const json::value& event : record("0", 1))
    messages +=
        event.at("ph").as_string() == "b" && event.at("name").as_string().starts_with("message ");
  EXPECT_THAT(report_, HasSubstr("(dead): the process is gone"));
  const auto files = telemetry::counters_files(root());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_GE(messages, 1u);
  EXPECT_LE(messages, 5u) << "the three that nobody received have no end";
  EXPECT_GE(messages + CountersReader::open(files[0])->trace_missed(), 5u)
      << "what is noted while another event is, is left out";
}

/// What was recorded until then is a whole file.
TEST_P(Trace, EndsWithASignal) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "a");
  const std::string file = (root().parent_path() / "trace.json").string();
  const testing::Terminal recorder(
      {RK_RKSTAT, "--root", root().string(), "trace", "-o", file, "--for", "3600"}, {}, 80, 24);
  ASSERT_TRUE(await([&] { return std::filesystem::exists(file); }));
  recorder.signal(SIGINT);
  json::value trace;
  ASSERT_TRUE(await([&] {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    boost::system::error_code failed;
    trace = json::parse(text.str(), failed);
    return !failed;
  }));
  EXPECT_GE(trace.at("traceEvents").as_array().size(), 2u);
}

TEST_P(Trace, TellsOfFilesOfOtherVersions) {
  std::filesystem::create_directories(root() / "1");
  std::filesystem::permissions(root(), std::filesystem::perms::owner_all);
  std::fstream newer(root() / "1" / "runtime-1.counters", std::ios::binary | std::ios::out);
  const telemetry::CountersFile* const none = nullptr;
  const auto write = [&](std::size_t offset, auto word) {
    newer.seekp(static_cast<std::streamoff>(offset));
    newer.write(reinterpret_cast<const char*>(&word), sizeof word);
  };
  write(offsetof(telemetry::CountersFile, magic), telemetry::file_magic);
  write(offsetof(telemetry::CountersFile, version),
        decltype(none->version){telemetry::file_version + 1});
  write(offsetof(telemetry::CountersFile, heartbeat_ns), telemetry::monotonic_ns());
  newer.close();
  const std::string file = (root().parent_path() / "trace.json").string();
  const auto refused = rkstat({"trace", "-o", file, "--for", "0"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.output, HasSubstr("this tool reads version"));
  auto runtime = open_on(GetParam(), often()).value();
  EXPECT_EQ(rkstat({"trace", "-o", file, "--for", "0"}).exit_code, 3) << "the other one is there";
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_EQ(
      rkstat({"trace", "-o", file, "--for", "0", "--pid", std::to_string(getpid())}).exit_code, 0)
      << "nobody asked for the other one";
}

TEST_P(Trace, WithoutARuntimeThereIsNone) {
  const std::string file = (root().parent_path() / "trace.json").string();
  const auto none = rkstat({"trace", "-o", file, "--for", "0"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(file));
  auto runtime = open_on(GetParam(), often()).value();
  const auto refused = rkstat({"trace", "-o", "/no/such/folder/x", "--for", "0"});
  EXPECT_EQ(refused.exit_code, 74);
  EXPECT_THAT(refused.output, HasSubstr("No such file"));
}

}  // namespace
}  // namespace ringkernel::test
