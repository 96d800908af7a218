// A service that is killed at any moment, and started again: the next one starts and calls, trusts
// what the caches keep, and what the dead one told of itself can be read.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "support/skip.hpp"
#include "support/stress.hpp"
#include "support/temp_folder.hpp"
#include "telemetry/counters_reader.hpp"
#include "telemetry/process.hpp"

namespace ringkernel::test {
namespace {

using ringkernel::telemetry::CountersReader;
using std::chrono::microseconds;

/// A running killed_service.cpp, whose counters file lies below `home`. The caches are in the build
/// folder, because PoCL's compiler takes seconds: a kill within it has the next one compile again.
class KilledService {
 public:
  KilledService(const std::string& backend, const std::string& home) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      setenv("XDG_RUNTIME_DIR", home.c_str(), 1);
      setenv("XDG_CACHE_HOME", RK_KILLED_CACHE, 1);
      setenv("POCL_CACHE_DIR", RK_KILLED_CACHE "/pocl", 1);
      setenv("RINGKERNEL_CACHE", "1", 1);
      setenv("ASAN_OPTIONS", "detect_leaks=0:use_sigaltstack=0", 1);  // PoCL's, as it compiles
      execl(RK_KILLED_SERVICE, RK_KILLED_SERVICE, backend.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    input_ = ends[0];
  }
  KilledService(const KilledService&) = delete;
  KilledService& operator=(const KilledService&) = delete;
  ~KilledService() {
    kill();
    close(input_);
  }

  /// What it prints until its first calls were right; all of it, if they never are.
  std::string wait_for_calls() {
    constexpr int patience_ms = 120'000;
    std::string text;
    char byte = 0;
    pollfd ready{input_, POLLIN, 0};
    while (!text.ends_with("right\n") && poll(&ready, 1, patience_ms) == 1 &&
           ::read(input_, &byte, 1) == 1)
      text += byte;
    return text;
  }

  /// Its status, as of `waitpid`; once it has closed its output.
  int wait() {
    if (const pid_t process = std::exchange(process_, -1); process > 0)
      waitpid(process, &status_, 0);
    return status_;
  }
  int kill() {
    if (process_ > 0) ::kill(process_, SIGKILL);
    return wait();
  }

 private:
  pid_t process_ = -1;
  int input_ = -1;
  int status_ = 0;
};

/// Of a service that was killed at its work.
void expect_whole_counters(const std::string& path) {
  const auto reader = CountersReader::open(path);
  ASSERT_TRUE(reader) << reader.error().text();
  EXPECT_FALSE(telemetry::is_running(reader->writer().process));
  for (const auto& kernel : reader->kernels())
    EXPECT_TRUE(kernel.metrics.id == "echo" || kernel.metrics.id == "core" ||
                kernel.metrics.id == "passing")
        << kernel.metrics.id;
}

/// A kill within PoCL's compiler leaves a mark, which would have all later services take PoCL's
/// private folder (pocl_mark.hpp), and this one would not be looked at any more.
void empty_if_marked(const std::filesystem::path& folder) {
  const auto is_mark = [](const auto& entry) {
    return entry.path().filename().string().starts_with("ringkernel.at-work.");
  };
  if (std::ranges::none_of(std::filesystem::directory_iterator(folder), is_mark)) return;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
}

class KilledAtAnyMoment : public ::testing::TestWithParam<const char*> {};

TEST_P(KilledAtAnyMoment, AServiceStartsAgainAndIsRight) {
  constexpr std::uint64_t in_a_check = 5;  // 50 with RK_TEST_SCALE=10
  const testing::TempFolder home;
  std::filesystem::create_directories(RK_KILLED_CACHE "/pocl");
  Dice dice(announce_seed(), 0);
  const auto rounds = scaled(in_a_check, 2);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    empty_if_marked(RK_KILLED_CACHE "/pocl");
    {  // while it starts, or builds what the caches lack. Any moment will do: no wait for anything
      KilledService starting(GetParam(), home.path().string());
      std::this_thread::sleep_for(microseconds(dice.below(200'000)));
    }
    KilledService service(GetParam(), home.path().string());
    const std::string told = service.wait_for_calls();
    if (told.find("right\n") == std::string::npos)
      if (const int status = service.wait(); WIFEXITED(status) && WEXITSTATUS(status) == 77)
        RK_SKIP_WITHOUT(GetParam(), told);
    ASSERT_TRUE(told.ends_with("\nrejected 0\nright\n")) << told;
    std::this_thread::sleep_for(microseconds(dice.below(20'000)));
    const int status = service.kill();
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "it ended by itself";
    expect_whole_counters(told.substr(0, told.find('\n')));
  }
}

INSTANTIATE_TEST_SUITE_P(, KilledAtAnyMoment, ::testing::Values("native", "opencl"),
                         [](const auto& backend) { return std::string(backend.param); });

}  // namespace
}  // namespace ringkernel::test
