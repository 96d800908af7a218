// Where the counters file of a runtime comes from and goes to, and the places of kernels in it.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "integration/telemetry_fixture.hpp"
#include "ringkernel/ringkernel.hpp"
#include "support/backends.hpp"
#include "support/environment.hpp"
#include "support/http_client.hpp"
#include "telemetry/counters_reader.hpp"
#include "telemetry/latency.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using telemetry::CountersReader;
using ::testing::HasSubstr;
using testing::Variable;

class TelemetryFile : public Publishing {};

INSTANTIATE_TEST_SUITE_P(Backends, TelemetryFile, ::testing::ValuesIn(backend_names()),
                         backend_label);

TEST_P(TelemetryFile, KernelsComeAndGo) {
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

/// One that comes under the id of one that has gone is not there beside it.
TEST_P(TelemetryFile, HasOneKernelOfAName) {
  auto runtime = open_on(GetParam(), often()).value();
  const CountersReader reader = CountersReader::open(runtime.metrics().telemetry_file).value();
  std::atomic<bool> is_over = false;
  std::size_t most = 0;
  std::thread looks([&] {
    while (!is_over) most = std::max(most, reader.kernels().size());
  });
  for (int life = 0; life < 200; ++life) {
    Kernel kernel = active(runtime, "a");
    EXPECT_TRUE(kernel.call(numbered(1)));
    const std::uint64_t beat_ns = reader.writer().heartbeat_ns;
    EXPECT_TRUE(await([&] { return reader.writer().heartbeat_ns != beat_ns; }));
    EXPECT_TRUE(kernel.terminate());
  }
  is_over = true;
  looks.join();
  EXPECT_EQ(most, 1u);
}

TEST_P(TelemetryFile, BeatsWhileNothingHappens) {
  auto runtime = open_on(GetParam(), often()).value();
  const CountersReader reader = CountersReader::open(runtime.metrics().telemetry_file).value();
  const std::uint64_t first_ns = reader.writer().heartbeat_ns;
  EXPECT_TRUE(await([&] { return reader.writer().heartbeat_ns > first_ns; }));
}

/// A file that somebody cuts off harms no service. All of its figures are back with the next round,
/// also of kernels that rest.
TEST_P(TelemetryFile, IsMadeAnewWhenItIsCutOff) {
  RuntimeOptions options = often();
  options.http_address = "localhost:0";
  auto runtime = open_on(GetParam(), options).value();
  const std::string path = runtime.metrics().telemetry_file;
  Kernel busy = active(runtime, "busy");
  Kernel resting = active(runtime, "resting");
  ASSERT_TRUE(resting.call(numbered(0)));
  const auto is_whole = [&](std::uint64_t calls) {
    const auto reader = CountersReader::open(path);
    if (!reader || !reader->runtime()) return false;
    const auto kernels = reader->kernels();
    if (kernels.size() != 2 || kernels[0].metrics.replied != calls) return false;
    const auto latency = reader->latency(kernels[1]);
    return kernels[1].metrics.replied == 1 && latency && telemetry::summarize(*latency).count == 1;
  };
  for (std::uint64_t round = 1; round <= 20; ++round) {
    std::filesystem::resize_file(path, 0);
    ASSERT_TRUE(busy.call(numbered(round)));
    EXPECT_TRUE(await([&] { return is_whole(round); })) << round;
  }
  EXPECT_TRUE(await([&] {
    return testing::ask(runtime.metrics().http_address, "/healthz").result_int() == 200;
  }));
}

TEST_P(TelemetryFile, TheFileGoesWithTheRuntime) {
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

TEST_P(TelemetryFile, CanBeSwitchedOff) {
  auto runtime = open_on(GetParam(), {.telemetry = false}).value();
  EXPECT_EQ(runtime.metrics().telemetry_file, "");
  EXPECT_EQ(runtime.metrics().telemetry_failure, "");
  const Variable variable("RINGKERNEL_TELEMETRY", "0");
  EXPECT_EQ(open_on(GetParam()).value().metrics().telemetry_file, "");
  EXPECT_FALSE(std::filesystem::exists(root()));
}

/// On native: drivers have files of their own.
TEST(TelemetryWithoutAFile, SaysWhyAndTheRuntimeWorks) {
  const testing::TempFolder folder;
  const Variable variable("XDG_RUNTIME_DIR", folder.path().string());
  std::ofstream(folder.path() / "ringkernel") << "no folder";
  signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  auto runtime = RingKernelRuntime::builder().backend("native").build().value();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(runtime.metrics().telemetry_file, "");
  EXPECT_THAT(runtime.metrics().telemetry_failure,
              ::testing::MatchesRegex("telemetry: '.*/ringkernel': not a folder; "
                                      "telemetry: '/dev/shm/.*': File too large"));
  EXPECT_FALSE(std::filesystem::exists("/dev/shm/ringkernel-" + std::to_string(geteuid()) + "/" +
                                       std::to_string(getpid())));
  Kernel kernel = runtime.launch("a", {.program = "echo", .auto_activate = true}).value();
  EXPECT_TRUE(kernel.call(std::vector<std::byte>(8)));
}

/// For instance that of a session which has ended.
TEST_P(TelemetryFile, GoesToSharedMemoryWhereItsFolderCannotBeMade) {
  const Variable variable("XDG_RUNTIME_DIR", (root() / "gone").string());
  auto runtime = open_on(GetParam(), often()).value();
  EXPECT_THAT(runtime.metrics().telemetry_file, ::testing::StartsWith("/dev/shm/ringkernel-"));
  EXPECT_EQ(runtime.metrics().telemetry_failure, "");
}

/// In the folder of services with another environment, too: whoever looks, looks there.
TEST_P(TelemetryFile, TidiesUpWhereverTheUserHasFiles) {
  const std::filesystem::path shared = "/dev/shm/ringkernel-" + std::to_string(geteuid());
  const std::filesystem::path abandoned = shared / "99999999" / "runtime-1.counters";
  mkdir(shared.c_str(), S_IRWXU);
  std::filesystem::create_directories(abandoned.parent_path());
  std::ofstream(abandoned) << "x";
  std::filesystem::last_write_time(abandoned, std::filesystem::file_time_type::clock::now() - 25h);
  auto runtime = open_on(GetParam(), often()).value();
  EXPECT_THAT(runtime.metrics().telemetry_file, ::testing::StartsWith(root().string()));
  EXPECT_FALSE(std::filesystem::exists(abandoned.parent_path()));
}

TEST_P(TelemetryFile, APeriodOutOfRangeIsRefused) {
  for (const std::chrono::nanoseconds period :
       {-1ns, 0ns, 999'999ns, std::chrono::nanoseconds::max()})
    EXPECT_EQ(open_on(GetParam(), {.telemetry_period = period}).error(), Errc::invalid_argument);
}

}  // namespace
}  // namespace ringkernel::test
