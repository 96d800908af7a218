// The counters file of a runtime, and rkstat, which reads it, beside a service at work.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/src.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "ringkernel/ringkernel.hpp"
#include "support/backends.hpp"
#include "support/environment.hpp"
#include "support/temp_folder.hpp"
#include "telemetry/counters_reader.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using telemetry::CountersReader;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::run_child;
using testing::TempFolder;
using testing::Variable;

/// Runtimes whose files lie in a folder of the test's own.
class Telemetry : public OnEachBackend {
 protected:
  static RuntimeOptions often() { return {.telemetry_period = 1ms}; }

  [[nodiscard]] testing::ChildResult rkstat(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), RK_RKSTAT);
    return run_child(arguments, {{"XDG_RUNTIME_DIR", folder_.path().string()}});
  }
  [[nodiscard]] json::object rkstat_json() const {
    return json::parse(rkstat({"--json"}).output).as_object();
  }
  [[nodiscard]] std::filesystem::path root() const { return folder_.path() / "ringkernel"; }

  /// Publications bring `condition` about sooner or later.
  static bool await(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }

 private:
  TempFolder folder_;
  Variable variable_{"XDG_RUNTIME_DIR", folder_.path().string()};
};

INSTANTIATE_TEST_SUITE_P(Backends, Telemetry, ::testing::ValuesIn(backend_names), backend_label);

TEST_P(Telemetry, TheFileSaysWhatTheMetricsSay) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel busy = active(runtime, "busy");
  Kernel resting = runtime.launch("resting", {.program = "echo"}).value();
  ASSERT_TRUE(resting.send(numbered(1)));
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(busy.call(numbered(i)));
  ASSERT_TRUE(busy.send(numbered(10)));
  ASSERT_TRUE(await([&] { return busy.metrics().messages_out == 11; }));
  const RuntimeMetrics metrics = runtime.metrics();
  ASSERT_EQ(metrics.telemetry_failure, "");
  const CountersReader reader = CountersReader::open(metrics.telemetry_file).value();
  ASSERT_TRUE(await([&] {
    const auto kernels = reader.kernels();
    return kernels.size() == 2 && std::ranges::all_of(kernels, [&](const auto& kernel) {
             return kernel.metrics.id == "resting" || kernel.metrics.messages_out == 11;
           });
  }));
  for (const auto& kernel : reader.kernels()) {
    const KernelMetrics now = (kernel.metrics.id == "busy" ? busy : resting).metrics();
    EXPECT_EQ(kernel.metrics.id, now.id);
    EXPECT_EQ(kernel.metrics.program, now.program);
    EXPECT_EQ(kernel.metrics.status, now.status);
#define RK_KERNEL_FIGURE(name, kind, help) EXPECT_EQ(kernel.metrics.name, now.name) << #name;
#include "telemetry/figures.def"
  }
  EXPECT_EQ(busy.metrics().in_flight, 1u) << "it waits to be received";
  EXPECT_EQ(resting.metrics().input_ring_used_bytes, 128u) << "one record that nobody reads";
  ASSERT_TRUE(await([&] { return reader.runtime() && reader.runtime()->metrics.kernels == 2; }));
  const RuntimeMetrics published = reader.runtime()->metrics;
  EXPECT_EQ(published.backend, metrics.backend);
  EXPECT_EQ(published.transfer, metrics.transfer);
  EXPECT_EQ(published.arena_bytes, metrics.arena_bytes);
  EXPECT_EQ(published.executors, 1u);
}

TEST_P(Telemetry, KernelsComeAndGo) {
  auto runtime = open_on(GetParam(), often()).value();
  const CountersReader reader = CountersReader::open(runtime.metrics().telemetry_file).value();
  for (int round = 0; round < 3; ++round) {
    std::vector<Kernel> kernels;
    for (int i = 0; i < 20; ++i)
      kernels.push_back(
          runtime.launch(std::to_string(100 * round + i), {.program = "echo"}).value());
    EXPECT_TRUE(await([&] { return reader.kernels().size() == 20; }));
    EXPECT_EQ(reader.kernels().front().metrics.id.size(), round == 0 ? 1u : 3u);
    for (Kernel& kernel : kernels) kernel.terminate().value();
    EXPECT_TRUE(await([&] { return reader.kernels().empty(); }));
  }
}

TEST_P(Telemetry, BeatsWhileNothingHappens) {
  auto runtime = open_on(GetParam(), often()).value();
  const CountersReader reader = CountersReader::open(runtime.metrics().telemetry_file).value();
  const std::uint64_t first_ns = reader.heartbeat_ns();
  EXPECT_TRUE(await([&] { return reader.heartbeat_ns() > first_ns; }));
}

TEST_P(Telemetry, TheFileGoesWithTheRuntime) {
  auto first = open_on(GetParam(), often()).value();
  std::filesystem::path left;
  {
    auto second = open_on(GetParam(), often()).value();
    left = second.metrics().telemetry_file;
    EXPECT_TRUE(std::filesystem::exists(left));
    EXPECT_NE(left, first.metrics().telemetry_file);
  }
  EXPECT_FALSE(std::filesystem::exists(left));
  first.shutdown().value();
  EXPECT_EQ(first.metrics().telemetry_file, "");
  EXPECT_TRUE(std::filesystem::is_empty(root()));
}

TEST_P(Telemetry, CanBeSwitchedOff) {
  auto runtime = open_on(GetParam(), {.telemetry = false}).value();
  EXPECT_EQ(runtime.metrics().telemetry_file, "");
  EXPECT_EQ(runtime.metrics().telemetry_failure, "");
  const Variable variable("RINGKERNEL_TELEMETRY", "0");
  EXPECT_EQ(open_on(GetParam()).value().metrics().telemetry_file, "");
  EXPECT_FALSE(std::filesystem::exists(root()));
}

TEST_P(Telemetry, WithoutAFileARuntimeSaysWhyAndWorks) {
  std::ofstream(root()) << "no folder";
  auto runtime = open_on(GetParam(), often()).value();
  EXPECT_EQ(runtime.metrics().telemetry_file, "");
  EXPECT_THAT(runtime.metrics().telemetry_failure, HasSubstr("ringkernel': not a folder"));
  Kernel kernel = active(runtime, "a");
  EXPECT_TRUE(kernel.call(numbered(1)));
}

TEST_P(Telemetry, APeriodOutOfRangeIsRefused) {
  for (const std::chrono::nanoseconds period :
       {-1ns, 0ns, 999'999ns, std::chrono::nanoseconds::max()})
    EXPECT_EQ(open_on(GetParam(), {.telemetry_period = period}).error(), Errc::invalid_argument);
}

// --- rkstat ------------------------------------------------------------------------------------

TEST_P(Telemetry, RkstatShowsARuntimeAtWork) {
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
  EXPECT_EQ(reading.at("runtime").at("backend").as_string(), GetParam());
  const json::object shown = reading.at("kernels").at(0).as_object();
  const KernelMetrics metrics = kernel.metrics();
  EXPECT_EQ(shown.at("id").as_string(), "worker");
  EXPECT_EQ(shown.at("state").as_string(), "active");
  EXPECT_EQ(shown.at("messages_per_second").to_number<double>(), 0.0) << "it has nothing to do";
#define RK_KERNEL_FIGURE(name, kind, help) \
  EXPECT_EQ(shown.at(#name).to_number<std::uint64_t>(), metrics.name) << #name;
#include "telemetry/figures.def"
  const auto text = rkstat();
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.output, HasSubstr("running"));
  EXPECT_TRUE(std::regex_search(text.output, std::regex("worker +echo +active +0 +7 +0")))
      << text.output;
}

/// Every line is a comment or a sample, every sample's family was announced, once.
TEST_P(Telemetry, RkstatSpeaksPrometheus) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "a \"quoted\" \\ name");
  ASSERT_TRUE(kernel.call(numbered(1)));
  std::string output;
  ASSERT_TRUE(await([&] {
    output = rkstat({"--prometheus"}).output;
    return output.find("ringkernel_kernel_replied_total{") != std::string::npos &&
           output.find("ringkernel_kernels{") != std::string::npos;
  }));
  EXPECT_THAT(output, HasSubstr(R"(kernel="a \"quoted\" \\ name",program="echo"} 1)"));
  const std::regex help("# HELP (ringkernel_[a-z_]+) .+");
  const std::regex type("# TYPE (ringkernel_[a-z_]+) (counter|gauge)");
  const std::regex sample(R"re((ringkernel_[a-z_]+)\{([a-z]+="([^"\\]|\\.)*",?)+\} [0-9.e+-]+)re");
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
    } else {
      ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
      EXPECT_EQ(families.back(), match[1]);
    }
  }
  EXPECT_GT(families.size(), 30u);
}

TEST_P(Telemetry, RkstatTellsTheHealthByItsExitCode) {
  const auto none = rkstat();
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.output, "no runtime\n");
  auto runtime = open_on(GetParam(), often()).value();
  EXPECT_EQ(rkstat().exit_code, 0);
  const std::filesystem::path other = root() / "1";
  std::filesystem::create_directory(other);
  std::filesystem::copy(runtime.metrics().telemetry_file, other / "runtime-1.counters");
  std::fstream file(other / "runtime-1.counters", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offsetof(telemetry::CountersFile, version)).put(9);
  file.close();
  const auto newer = rkstat();
  EXPECT_EQ(newer.exit_code, 3);
  EXPECT_THAT(newer.output, HasSubstr("runtime 1/1  other version: '"));
  EXPECT_THAT(newer.output, HasSubstr("version 9; this tool reads version 1"));
  EXPECT_EQ(rkstat_json().at("runtimes").at(0).at("health").as_string(), "other version");
  std::filesystem::resize_file(other / "runtime-1.counters", 5);
  const auto truncated = rkstat();
  EXPECT_EQ(truncated.exit_code, 1);
  EXPECT_THAT(truncated.output, HasSubstr("runtime 1/1  unreadable: '"));
  EXPECT_THAT(truncated.output, HasSubstr("truncated"));
}

/// The service dies with messages in flight; its last state can be read, and says that it died.
TEST_P(Telemetry, RkstatShowsTheLastStateOfTheDead) {
  const auto died = run_child({RK_TELEMETRY_SERVICE, GetParam()}, {});
  ASSERT_EQ(died.exit_code, -1) << "killed: " << died.output;
  const auto shown = rkstat();
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_THAT(shown.output, HasSubstr("  dead, last sign of life "));
  EXPECT_THAT(shown.output, HasSubstr("the process is gone"));
  EXPECT_TRUE(std::regex_search(shown.output, std::regex("worker +echo +active +- +5 +0 +3")))
      << shown.output;
  const json::object reading = rkstat_json().at("runtimes").at(0).as_object();
  EXPECT_EQ(reading.at("health").as_string(), "dead");
  EXPECT_FALSE(reading.at("healthy").as_bool());
}

TEST_P(Telemetry, RkstatGoesOnWatching) {
  auto runtime = open_on(GetParam(), often()).value();
  // Until nobody reads any more.
  const auto watched =
      run_child({"/bin/sh", "-c", RK_RKSTAT " --watch 0.1 --interval 0 --json | head -n 3"}, {});
  EXPECT_EQ(std::ranges::count(watched.output, '\n'), 3);
  std::istringstream lines(watched.output);
  for (std::string line; std::getline(lines, line);)
    EXPECT_EQ(json::parse(line).at("runtimes").as_array().size(), 1u);
}

}  // namespace
}  // namespace ringkernel::test
