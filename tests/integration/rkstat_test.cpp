// rkstat, which reads counters files, beside a service at work and after its death.
#include <gmock/gmock.h>

#include <algorithm>
#include <boost/json/src.hpp>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "integration/telemetry_fixture.hpp"
#include "support/skip.hpp"
#include "telemetry/counters_file.hpp"
#include "telemetry/counters_reader.hpp"
#include "telemetry/folder.hpp"

namespace ringkernel::test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::run_child;

class Rkstat : public Publishing {};

constexpr char other_version = static_cast<char>(telemetry::file_version + 1);

INSTANTIATE_TEST_SUITE_P(Backends, Rkstat, ::testing::ValuesIn(backend_names()), backend_label);

TEST_P(Rkstat, ShowsARuntimeAtWork) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "worker");
  for (std::uint64_t i = 0; i < 7; ++i) ASSERT_TRUE(kernel.call(numbered(i)));
  ASSERT_TRUE(await([&] {
    const json::object all = rkstat_json();
    const json::array& runtimes = all.at("runtimes").as_array();
    return runtimes.size() == 1 && runtimes[0].as_object().contains("kernels") &&
           !runtimes[0].at("kernels").as_array().empty() &&
           runtimes[0].at("kernels").at(0).at("replied").to_number<int>() == 7;
  }));
  const json::object reading = rkstat_json().at("runtimes").at(0).as_object();
  EXPECT_EQ(reading.at("health").as_string(), "running");
  EXPECT_EQ(reading.at("runtime").at("backend").as_string(),
            label_of(std::string_view(GetParam())));
  const json::object shown = reading.at("kernels").at(0).as_object();
  const KernelMetrics metrics = kernel.metrics();
  EXPECT_EQ(shown.at("id").as_string(), "worker");
  EXPECT_EQ(shown.at("state").as_string(), "active");
  EXPECT_EQ(shown.at("messages_per_second").to_number<double>(), 0.0) << "it has nothing to do";
#define RK_KERNEL_METRIC(name, kind, help) \
  EXPECT_EQ(shown.at(#name).to_number<std::uint64_t>(), metrics.name) << #name;
#define RK_KERNEL_LATENCY(name, help)                                                        \
  EXPECT_EQ(shown.contains(#name), metrics.name.count != 0) << #name;                        \
  if (shown.contains(#name)) {                                                               \
    EXPECT_EQ(shown.at(#name).at("count").to_number<std::uint64_t>(), 7u) << #name;          \
    EXPECT_EQ(shown.at(#name).at("max_ns").to_number<std::uint64_t>(), metrics.name.max_ns); \
  }
#include "ringkernel/metrics.def"
  EXPECT_EQ(shown.contains("device"), true);
  EXPECT_EQ(shown.contains("executor"), has_device_clock(runtime));
  EXPECT_EQ(shown.at("latency_just_now").at("count").to_number<int>(), 0);
  const auto text = rkstat();
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.output, HasSubstr("running"));
  EXPECT_TRUE(std::regex_search(text.output, std::regex("worker +echo +active +0 +- +- +7 +0")))
      << text.output;
}

/// Every line is a comment or a sample, every sample's family was announced, once.
TEST_P(Rkstat, SpeaksPrometheus) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "a \"quoted\" \\ name");
  ASSERT_TRUE(kernel.call(numbered(1)));
  std::string output;
  ASSERT_TRUE(await([&] {
    output = rkstat({"--prometheus"}).output;
    return std::regex_search(output, std::regex("kernel_latency_seconds_count\\{[^}]*\\} 1\n")) &&
           output.find("ringkernel_kernels{") != std::string::npos;
  }));
  EXPECT_THAT(output, HasSubstr(R"(kernel="a \"quoted\" \\ name",program="echo"} 1)"));
  const std::regex help("# HELP (ringkernel_[a-z_]+) .+");
  const std::regex type("# TYPE (ringkernel_[a-z_]+) (counter|gauge|summary|histogram)");
  const std::regex sample(R"re((ringkernel_[a-z_]+)\{([a-z]+="([^"\\]|\\.)*",?)+\} [0-9.e+-]+)re");
  bool is_summary = false;
  std::vector<std::string> families;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, help)) {
      EXPECT_EQ(std::ranges::count(families, match[1].str()), 0) << line;
      families.push_back(match[1]);
    } else if (std::regex_match(line, match, type)) {
      EXPECT_EQ(families.back(), match[1]);
      EXPECT_EQ(match[2] == "counter", families.back().ends_with("_total")) << line;
      is_summary = match[2] == "summary" || match[2] == "histogram";
    } else {
      ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
      EXPECT_TRUE(families.back() == match[1] ||
                  (is_summary && (families.back() + "_sum" == match[1] ||
                                  families.back() + "_bucket" == match[1] ||
                                  families.back() + "_count" == match[1])))
          << line;
    }
  }
  EXPECT_THAT(output, ContainsRegex("kernel_device_seconds\\{[^}]*quantile=\"0.99\"\\} [0-9]"));
  EXPECT_EQ(output.find("kernel_executor_seconds_count{") != std::string::npos,
            has_device_clock(runtime));
  EXPECT_GT(families.size(), 30u);
}

/// As Prometheus' own judge sees it: names, units, help, types.
TEST_P(Rkstat, PrometheusTakesItsMetrics) {
  if (!std::filesystem::exists(RK_PROMTOOL))
    RK_SKIP_WITHOUT("prometheus", "no promtool: ./rk test unpacks it");
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "a \"quoted\" \\ name");
  ASSERT_TRUE(kernel.call(numbered(1)));
  EXPECT_FALSE(kernel.call(ops::relu(std::vector<float>(4))));
  ASSERT_TRUE(await([&] {
    return rkstat({"--prometheus"}).output.find("kernel_errors_total{") != std::string::npos;
  }));
  const auto judged = run_child({"/bin/sh", "-c",
                                 RK_RKSTAT " --prometheus --root " + root().string() +
                                     " | " RK_PROMTOOL " check metrics 2>&1"},
                                {});
  EXPECT_EQ(judged.exit_code, 0);
  EXPECT_EQ(judged.output, "");
}

TEST_P(Rkstat, TellsTheHealthByItsExitCode) {
  const auto none = rkstat();
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.output, "no runtime in '" + root().string() + "'\n");
  auto runtime = open_on(GetParam(), often()).value();
  EXPECT_EQ(rkstat().exit_code, 0);
  const std::filesystem::path other = root() / "1";
  std::filesystem::create_directory(other);
  std::filesystem::copy(runtime.metrics().telemetry_file, other / "runtime-1.counters");
  std::fstream file(other / "runtime-1.counters", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offsetof(telemetry::CountersFile, version)).put(other_version);
  file.close();
  const auto newer = rkstat();
  EXPECT_EQ(newer.exit_code, 3);
  EXPECT_THAT(newer.output, HasSubstr("runtime 1/1  other version: '"));
  EXPECT_THAT(newer.output,
              HasSubstr("version " + std::to_string(other_version) + "; this tool reads version " +
                        std::to_string(telemetry::file_version)));
  EXPECT_THAT(newer.output, ::testing::Not(HasSubstr("its process is gone")));
  EXPECT_EQ(rkstat_json().at("runtimes").at(1).at("health").as_string(), "other version");
  std::filesystem::resize_file(other / "runtime-1.counters", 5);
  const auto truncated = rkstat();
  EXPECT_EQ(truncated.exit_code, 1);
  EXPECT_THAT(truncated.output, HasSubstr("runtime 1/1  unreadable: '"));
  EXPECT_THAT(truncated.output, HasSubstr("truncated"));
}

/// The service dies with messages in flight; its last state can be read, and says that it died.
/// Of services without the variable that says where, too.
TEST_P(Rkstat, ShowsEveryRuntimeOfTheUser) {
  auto here = open_on(GetParam(), often()).value();
  const testing::Variable none("XDG_RUNTIME_DIR", "");
  auto elsewhere = open_on(GetParam(), often()).value();
  const auto shown = testing::run_child({RK_RKSTAT, "--interval", "0"},
                                        {{"XDG_RUNTIME_DIR", root().parent_path().string()}});
  for (const RingKernelRuntime* const runtime : {&here, &elsewhere}) {
    const std::filesystem::path file = runtime->metrics().telemetry_file;
    const std::string number = file.stem().string().substr(std::string("runtime-").size());
    EXPECT_THAT(shown.output, HasSubstr("runtime " + std::to_string(getpid()) + "/" + number));
  }
  EXPECT_TRUE(elsewhere.metrics().telemetry_file.starts_with("/dev/shm/"));
}

/// Names are not to be trusted: a terminal would obey them.
TEST_P(Rkstat, ShowsNamesWithoutWhatTerminalsObey) {
  auto runtime = open_on(GetParam(), often()).value();
  // The last two: a control of one character, and one that turns the rest of the line around.
  const std::string id =
      "evil\x1b[2J\nruntime\xc2\x9b"
      "2J\xe2\x80\xae.";
  Kernel evil = runtime.launch(id, {.program = "echo"}).value();
  std::string output;
  ASSERT_TRUE(await([&] {
    output = rkstat({"--interval", "0"}).output;
    return output.find("evil") != std::string::npos;
  }));
  EXPECT_THAT(output, HasSubstr("evil?[2J?runtime?2J?."));
}

TEST_P(Rkstat, ShowsTheLastStateOfTheDead) {
  const auto died = run_child({RK_TELEMETRY_SERVICE, GetParam()}, {});
  ASSERT_EQ(died.exit_code, -1) << "killed: " << died.output;
  const auto shown = rkstat();
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_THAT(shown.output, HasSubstr("  dead, last sign of life "));
  EXPECT_THAT(shown.output, HasSubstr("the process is gone"));
  EXPECT_TRUE(std::regex_search(
      shown.output, std::regex("worker +echo +active +-( +[0-9.]+ (ns|us|ms|s)){2} +5 +0 +3")))
      << shown.output;
  const json::object reading = rkstat_json().at("runtimes").at(0).as_object();
  EXPECT_EQ(reading.at("health").as_string(), "dead");
  EXPECT_FALSE(reading.at("healthy").as_bool());
}

/// After many crashes who runs is still on top, and the last crash next.
TEST_P(Rkstat, ShowsWhoRunsFirstAndTheLastThatDiedNext) {
  ASSERT_EQ(run_child({RK_TELEMETRY_SERVICE, GetParam()}, {}).exit_code, -1);
  const std::filesystem::path crashed = telemetry::counters_files(root()).at(0);
  const std::uint64_t last_ns = telemetry::writer_of(crashed)->heartbeat_ns;
  for (std::uint64_t death = 1; death <= 4; ++death) {
    const std::filesystem::path folder = root() / std::to_string(death);
    std::filesystem::create_directory(folder);
    std::filesystem::copy(crashed, folder / "runtime-1.counters");
    const std::uint64_t heartbeat_ns = last_ns - 5 + death;
    std::fstream file(folder / "runtime-1.counters", std::ios::in | std::ios::out);
    file.seekp(offsetof(telemetry::CountersFile, heartbeat_ns));
    file.write(reinterpret_cast<const char*>(&heartbeat_ns), sizeof heartbeat_ns);
  }
  std::filesystem::create_directory(root() / "0");
  std::ofstream(root() / "0" / "runtime-1.counters") << "x";
  std::filesystem::create_directory(root() / "9");
  std::filesystem::copy(crashed, root() / "9" / "runtime-1.counters");
  std::fstream(root() / "9" / "runtime-1.counters", std::ios::in | std::ios::out)
      .seekp(offsetof(telemetry::CountersFile, version))
      .put(other_version);
  auto runtime = open_on(GetParam(), often()).value();
  const std::string last = crashed.parent_path().filename().string();
  const std::string dead = "/1  dead, last sign of life [0-9.]+ (us|ms|s|min|h) ago\n";
  const std::string in_full = dead + "  the process is gone.*\n(  .*\n)+\n";
  const std::string expected =
      "runtime " + std::to_string(getpid()) + "/[0-9]+  running, .*\n(  .*\n)+\n" +  //
      "runtime " + last + in_full + "runtime 4" + in_full + "runtime 3" + in_full + "runtime 2" +
      dead + "runtime 1" + dead + "runtime 0/1  unreadable: .*\n" +
      "runtime 9/1  other version: .*; its process is gone\n";
  std::string output;
  EXPECT_TRUE(await([&] {
    output = rkstat({"--interval", "0"}).output;
    return std::regex_match(output, std::regex(expected));
  })) << output;
  const auto of_process = [&](const std::string& pid) { return rkstat({"--pid", pid}); };
  EXPECT_EQ(of_process(std::to_string(getpid())).exit_code, 0) << "nobody asked for the others";
  EXPECT_THAT(of_process("3").output, ::testing::StartsWith("runtime 3/1  dead"));
  EXPECT_EQ(of_process("3").output.find("\nruntime"), std::string::npos);
  EXPECT_EQ(of_process("77").output, "no runtime of process 77 in '" + root().string() + "'\n");
  EXPECT_EQ(of_process("x").exit_code, 105) << "CLI11: a value that is out of range";
  EXPECT_THAT(rkstat({"errors"}).output,
              HasSubstr("rkstat: runtime " + last + "/1, 4/1, 3/1, 2/1, 1/1 (dead): the process"));
}

TEST_P(Rkstat, ShowsOneKernelWithItsHops) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "one");
  for (std::uint64_t i = 0; i < 9; ++i) ASSERT_TRUE(kernel.call(numbered(i)));
  EXPECT_FALSE(kernel.call(ops::relu(std::vector<float>(4))));
  ASSERT_TRUE(await([&] { return rkstat({"errors"}).output != "no errors\n"; }));
  EXPECT_FALSE(kernel.call(std::vector<std::byte>(1 << 20)));
  ASSERT_TRUE(await(
      [&] { return rkstat({"errors"}).output.find("message_too_large") != std::string::npos; }));
  const auto shown = rkstat({"kernel", "one"});
  EXPECT_EQ(shown.exit_code, 0);
  const std::string times = "( +[0-9.]+ (ns|us|ms|s)){6}\n";
  for (const char* const hop : {"since the start", "in host queue", "at the device", "on delivery"})
    EXPECT_TRUE(std::regex_search(shown.output, std::regex(hop + (" +9" + times)))) << hop << '\n'
                                                                                    << shown.output;
  EXPECT_TRUE(std::regex_search(shown.output, std::regex("just now +0\n"))) << shown.output;
  EXPECT_THAT(shown.output, HasSubstr("accepted 9, replied 9, failed 0"));
  EXPECT_TRUE(std::regex_search(shown.output,
                                std::regex("ERRORS\n +1 x  last .* ago\n.*message_too_large.*\n"
                                           " +1 x  last .* ago\n.*takes plain bytes")))
      << shown.output;
  const auto other = rkstat({"kernel", "two"});
  EXPECT_EQ(other.output, "rkstat: no kernel 'two'\n");
  EXPECT_EQ(other.exit_code, 2);
}

TEST_P(Rkstat, ShowsErrorsTheLatestFirst) {
  auto runtime = open_on(GetParam(), often()).value();
  EXPECT_EQ(rkstat({"errors"}).output, "no errors\n");
  EXPECT_FALSE(runtime.launch("x", {.program = "no such program"}));
  Kernel kernel = resting(runtime, "a");
  EXPECT_EQ(kernel.call(numbered(1), 20ms).error(), Errc::deadline_exceeded);
  EXPECT_EQ(kernel.call(numbered(1), 20ms).error(), Errc::deadline_exceeded);
  std::string output;
  ASSERT_TRUE(await([&] {
    output = rkstat({"errors"}).output;
    return std::regex_search(output, std::regex("/[0-9]+ +a +2 "));
  })) << output;
  EXPECT_LT(output.find("deadline_exceeded"), output.find("no such program")) << output;
  const json::array errors = rkstat_json().at("runtimes").at(0).at("errors").as_array();
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[1].at("count").to_number<int>(), 2);
  EXPECT_EQ(errors[1].at("kernel").as_string(), "a");
  EXPECT_THAT(
      rkstat({"--prometheus"}).output,
      ContainsRegex("kernel_errors_total\\{[^}]*kernel=\"a\",[^}]*deadline_exceeded\"\\} 2"));
}

TEST_P(Rkstat, ShowsWhatWaitsAndForHowLong) {
  auto runtime = open_on(GetParam(), often()).value();
  EXPECT_EQ(rkstat({"backlog"}).output, "nothing waits\n");
  EXPECT_EQ(rkstat({"calls"}).output, "no calls in flight\n");
  Kernel little = runtime.launch("little", {.program = "echo"}).value();
  Kernel much = runtime.launch("much", {.program = "echo", .input_bytes = 4096}).value();
  const MessageId first = little.send(numbered(1)).value();
  for (std::uint64_t i = 0; i < 40; ++i) ASSERT_TRUE(much.send(numbered(i)));
  std::string backlog;
  ASSERT_TRUE(await([&] {
    backlog = rkstat({"backlog"}).output;
    return std::regex_search(
        backlog, std::regex("much +8 +40 +100 % +0 % +[0-9.]+ m?s .*\n.*little +0 +1 +0 %"));
  })) << backlog;
  const std::string calls = rkstat({"calls"}).output;
  EXPECT_EQ(calls.find("little"), calls.rfind("little"));
  EXPECT_TRUE(std::regex_search(calls, std::regex("little +" + std::to_string(first) + " +[0-9]")))
      << calls;
  EXPECT_THAT(calls, HasSubstr("and up to 24 younger ones"));
  EXPECT_THAT(rkstat({"kernel", "little"}).output,
              ContainsRegex("  in flight 1 of 1024, the oldest accepted [0-9.]+ m?s ago\n"));
  EXPECT_EQ(rkstat_json().at("runtimes").at(0).at("kernels").at(0).at("calls").as_array().size(),
            1u);
}

/// As its user calls it; the id stands beside it where there is room, and where two have one name.
TEST_P(Rkstat, CallsARuntimeByItsName) {
  RuntimeOptions options = often();
  options.name = "pricing";
  auto runtime = open_on(GetParam(), options).value();
  Kernel kernel = active(runtime, "a");
  EXPECT_EQ(runtime.metrics().name, "pricing");
  std::string shown;
  ASSERT_TRUE(await([&] {
    shown = rkstat({}).output;
    return std::regex_search(shown, std::regex("runtime pricing \\([0-9]+/[0-9]+\\)  running"));
  })) << shown;
  EXPECT_THAT(rkstat({"kernel", "a"}).output, HasSubstr("kernel a  of runtime pricing ("));
  EXPECT_THAT(rkstat({"--prometheus"}).output, HasSubstr("up{runtime=\"pricing\"} 1"));
  EXPECT_EQ(rkstat_json().at("runtimes").at(0).at("runtime").at("name").as_string(), "pricing");
  ASSERT_TRUE(kernel.send(numbered(1)));
  ASSERT_TRUE(await([&] {
    shown = rkstat({"backlog"}).output;
    return std::regex_search(shown, std::regex("\npricing +a "));
  })) << shown;
  auto other = open_on(GetParam(), options).value();
  ASSERT_TRUE(await([&] {
    shown = rkstat({"--prometheus"}).output;
    return std::regex_search(shown, std::regex("up\\{runtime=\"pricing [0-9]+/[0-9]+\"\\} 1"));
  })) << shown;
}

/// Without times there is no list of calls; which is said, and not that there are none.
TEST_P(Rkstat, TellsOfCallsWithoutAges) {
  auto runtime = open_on(GetParam(), {.telemetry_period = 1ms, .latency_sampling = 0}).value();
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(kernel.send(numbered(i)));
  std::string calls;
  ASSERT_TRUE(await([&] {
    calls = rkstat({"calls"}).output;
    return calls == "3 in flight, of which no ages are taken (latency_sampling is 0)\n";
  })) << calls;
  EXPECT_THAT(
      rkstat({"kernel", "a"}).output,
      HasSubstr("  in flight 3 of 1024, 3 of which no ages are taken (latency_sampling is 0)\n"));
}

/// Answers that nobody receives keep their places until there is none: whoever sends then waits.
TEST_P(Rkstat, TellsThatNobodyReceives) {
  auto runtime = open_on(GetParam(), {.telemetry_period = 1ms}).value();
  Kernel kernel = active(runtime, "a", {.program = "echo", .in_flight_max = 3});
  std::string calls;
  const auto eventually = [&](std::string_view text) {
    return await([&] {
      calls = rkstat({"calls"}).output;
      return calls.find(text) != std::string::npos;
    });
  };
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(kernel.send(numbered(i)));
  EXPECT_EQ(kernel.send(numbered(3), {.timeout = 20ms}).error(), Errc::deadline_exceeded);
  ASSERT_TRUE(eventually(" a, 3 answered wait for a receive: nobody receives\n")) << calls;
  EXPECT_THAT(calls, Not(HasSubstr("no ages")));
  EXPECT_THAT(rkstat({"backlog"}).output, HasSubstr(": nobody receives\n"));
  EXPECT_THAT(rkstat({"kernel", "a"}).output,
              HasSubstr("  in flight 3 of 3, 3 answered wait for a receive: nobody receives\n"));
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(kernel.receive(20s));
  ASSERT_TRUE(eventually("no calls in flight\n")) << calls;
}

/// Whoever looks at a table learns that a part of it is old, or missing.
TEST_P(Rkstat, TablesTellOfWhatIsNotOfNow) {
  const auto none = rkstat({"calls"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.output, HasSubstr("rkstat: no runtime in '" + root().string() + "'\n"));
  ASSERT_EQ(run_child({RK_TELEMETRY_SERVICE, GetParam()}, {}).exit_code, -1);
  std::filesystem::create_directory(root() / "1");
  std::ofstream(root() / "1" / "runtime-1.counters") << "x";
  for (const char* const command : {"errors", "calls", "backlog", "kernel worker"}) {
    const auto shown = run_child(
        {"/bin/sh", "-c", RK_RKSTAT " --interval 0 --root " + root().string() + " " + command}, {});
    EXPECT_EQ(shown.exit_code, 1) << command;
    EXPECT_THAT(shown.output, ContainsRegex("rkstat: runtime [0-9]+/1 .dead.: the process is gone"))
        << command;
    EXPECT_THAT(shown.output, HasSubstr("rkstat: runtime 1/1 (unreadable): '")) << command;
  }
  EXPECT_EQ(rkstat({"kernel", "missing"}).exit_code, 2);
}

/// A folder that cannot be listed may hold anything.
TEST(RkstatFolders, AreToldThatCannotBeRead) {
  const testing::TempFolder folder;
  const std::string file = (folder.path() / "file").string();
  std::ofstream(file) << "no folder";
  const std::string sentence = "rkstat: '" + file + "' cannot be read: Not a directory\n";
  const auto alone = run_child({RK_RKSTAT, "--root", file}, {});
  EXPECT_EQ(alone.exit_code, 1);
  EXPECT_EQ(alone.output, "no runtime in '" + file + "'\n" + sentence);
  const std::string trace = (folder.path() / "trace.json").string();
  for (const std::string& arguments : {std::string("--json"), std::string("--prometheus"),
                                       std::string("errors"), "trace --for 0 -o " + trace}) {
    const auto shown = run_child(
        {"/bin/sh", "-c", RK_RKSTAT " --interval 0 --root " + file + " " + arguments}, {});
    EXPECT_EQ(shown.exit_code, 1) << arguments;
    EXPECT_THAT(shown.output, HasSubstr(sentence)) << arguments;
  }
}

TEST_P(Rkstat, SaysThatItCannotWrite) {
  auto runtime = open_on(GetParam(), often()).value();
  const std::string trace = (root().parent_path() / "trace.json").string();
  const auto run = [&](const std::string& arguments) {
    return run_child(
        {"/bin/sh", "-c", RK_RKSTAT " --interval 0 --root " + root().string() + " " + arguments},
        {});
  };
  const std::string full = "rkstat: the output cannot be written: No space left on device\n";
  for (const std::string arguments :
       {"", "--json", "--prometheus", "errors", "--watch", "--help", "trace --for 0 -o "}) {
    const std::string file = arguments.starts_with("trace") ? trace : "";
    const auto on_full = run(arguments + file + " > /dev/full");
    EXPECT_EQ(on_full.exit_code, 74) << arguments;
    EXPECT_EQ(on_full.output, full) << arguments;
    const auto closed = run(arguments + file + " >&-");
    EXPECT_EQ(closed.exit_code, 74) << arguments;
    EXPECT_EQ(closed.output, "rkstat: the output cannot be written: Bad file descriptor\n")
        << arguments;
    EXPECT_EQ(run(arguments + file + " > /dev/full 2> /dev/full").exit_code, 74) << arguments;
  }
  EXPECT_EQ(run("kernel none 2>&-").exit_code, 2);
  EXPECT_EQ(run("--nonsense 2> /dev/full").exit_code, 109) << "CLI11: an unknown argument";
}

TEST_P(Rkstat, RefusesFormatsOfCommands) {
  const auto refused = rkstat({"--json", "errors"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_EQ(rkstat({"kernel"}).exit_code, 106) << "whose? (CLI11: a required argument)";
}

TEST_P(Rkstat, GoesOnWatching) {
  auto runtime = open_on(GetParam(), often()).value();
  // Until nobody reads any more.
  const auto watched = run_child(
      {"/bin/sh", "-c",
       RK_RKSTAT " --watch 0.1 --interval 0 --json --root " + root().string() + " | head -n 3"},
      {});
  EXPECT_EQ(std::ranges::count(watched.output, '\n'), 3);
  std::istringstream lines(watched.output);
  for (std::string line; std::getline(lines, line);)
    EXPECT_EQ(json::parse(line).at("runtimes").as_array().size(), 1u);
}

TEST_P(Rkstat, WatchesEverySecondUnlessItIsTold) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "x");
  const auto watch = [&](const std::string& arguments, const std::string& lines) {
    return run_child({"/bin/sh", "-c",
                      RK_RKSTAT " --interval 0 --root " + root().string() + " " + arguments +
                          " | head -n " + lines},
                     {})
        .output;
  };
  EXPECT_EQ(std::ranges::count(watch("--watch --json", "2"), '\n'), 2);
  EXPECT_THAT(watch("--watch kernel x", "1"), ::testing::StartsWith("kernel x  of runtime"));
  EXPECT_THAT(watch("kernel x --watch", "1"), ::testing::StartsWith("kernel x  of runtime"));
  EXPECT_THAT(watch("--watch 0.1 kernel x", "1"), ::testing::StartsWith("kernel x  of runtime"));
}

}  // namespace
}  // namespace ringkernel::test
