// A driver whose n-th call of some name hangs for ever, or takes seconds: whoever has a deadline
// ends by it, and everything can be closed. Each round is a child process, a service with short
// deadlines (stumbling_service.cpp), which lives twice. By default n grows in steps; with
// RK_STALLS=all every n is tried. Prints what came of each.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/stress.hpp"
#include "support/temp_folder.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::test {
namespace {

/// Made again and again; where something is built; seldom. It is no use to try a number that is not
/// reached.
constexpr const char* calls_often[] = {"launch",   "argument", "flush", "ask",
                                       "callback", "release",  "write"};
constexpr const char* calls_often_copying[] = {"read"};
constexpr const char* calls_of_builds[] = {"finish",  "wait",   "build", "queue",
                                           "program", "kernel", "buffer"};
constexpr const char* calls_seldom[] = {"context",      "retain", "later_platform",
                                        "later_device", "binary", "log"};
constexpr const char* calls_seldom_shared[] = {"memory"};
constexpr const char* calls_seldom_copying[] = {"map", "unmap"};

bool tries_all() {
  const char* const variable = std::getenv("RK_STALLS");
  return variable != nullptr && std::strcmp(variable, "all") == 0;
}

enum class Made : std::uint8_t { often, in_builds, seldom };

std::vector<int> numbers(std::string_view fault, Made made) {
  if (tries_all()) {
    std::vector<int> all;
    for (int n = 1; n <= 30; ++n) all.push_back(n);
    return all;
  }
  const bool is_short = scaled(100, 1) < 100;  // under a sanitizer
  const bool is_delay = fault == "delay";
  if (made == Made::seldom) return is_short || is_delay ? std::vector{1} : std::vector{1, 2};
  if (is_delay) return is_short || made != Made::often ? std::vector{2} : std::vector{2, 13};
  std::vector<int> some = is_short ? std::vector{1, 5, 13} : std::vector{1, 2, 3, 8, 30};
  if (made != Made::often) some.pop_back();
  return some;
}

constexpr const char* steps_wide[] = {
    "send:",       "receive:",     "deactivate:",  "allocate:",   "write:",       "read:",
    "read_state:", "write_state:", "add_program:", "async_call:", "swap_program:"};

/// A service beside one stall, and what came of it.
struct Round {
  std::string transfer;
  std::string fault;
  std::string call;
  int number = 0;
  testing::ChildResult child = {};

  [[nodiscard]] bool is_reached() const { return has("reached"); }
  [[nodiscard]] bool has_ended() const {
    return child.exit_code == 0 && !child.timed_out && has("over");
  }
  [[nodiscard]] bool is_in_time() const { return has_ended() && !has("LATE"); }
  /// A word for the table.
  [[nodiscard]] const char* outcome() const {
    if (!has_ended()) return child.exit_code == -1 ? "HANG" : "DEAD";
    if (!is_in_time()) return "LATE";
    if (!is_reached()) return ".";
    if (has("open:")) return "open";
    if (has("launch:")) return "launch";
    if (has("call:")) return "call";
    for (const char* const step : steps_wide)
      if (has(step)) return "use";
    if (has("terminate:") || has("restart:") || has("close:")) return "end";
    return "-";
  }

 private:
  [[nodiscard]] bool has(std::string_view text) const {
    return child.output.find(text) != std::string::npos;
  }
};

std::vector<Round> rounds_of(const std::string& transfer, const char* fault) {
  std::vector<Round> rounds;
  const auto add = [&](std::span<const char* const> calls, Made made) {
    for (const char* const call : calls)
      for (const int number : numbers(fault, made))
        rounds.push_back({transfer, fault, call, number});
  };
  const bool is_shared = transfer == "zero_copy";
  add(calls_often, Made::often);
  if (!is_shared) add(calls_often_copying, Made::often);
  add(calls_of_builds, Made::in_builds);
  add(calls_seldom, Made::seldom);
  if (is_shared)
    add(calls_seldom_shared, Made::seldom);
  else
    add(calls_seldom_copying, Made::seldom);
  return rounds;
}

void run(Round& round) {
  std::vector<std::pair<std::string, std::string>> environment{
      {"OPENCL_LAYERS", RK_FAULT_LAYER},
      {"RINGKERNEL_TRANSFER", round.transfer},
      {"RK_STALL", round.fault + ":" + round.call + ":" + std::to_string(round.number)}};
  // The log is asked for where a build failed: that of the first launch, and whoever tries it again
  // from the text.
  if (round.call == "log") environment.emplace_back("RK_FAULT", "build:2+");
  // A driver is asked for binaries that are not kept yet.
  std::optional<testing::TempFolder> fresh;
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (round.call == "binary" && cache != nullptr) {
    environment.emplace_back("POCL_CACHE_DIR", std::string(cache) + "/pocl/kcache");
    environment.emplace_back("XDG_CACHE_HOME", fresh.emplace().path());
  }
  round.child = testing::run_child({RK_STUMBLING_SERVICE, "stalling"}, environment);
}

/// Most of the time a child sleeps until a deadline is over, so that several get on well together.
void run_all(std::vector<Round>& rounds) {
#if defined(__SANITIZE_ADDRESS__)
  constexpr std::size_t children = 10;  // each computes several times as much
#else
  constexpr std::size_t children = 20;
#endif
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < children; ++thread)
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < rounds.size(); i = next++) run(rounds[i]);
    });
  for (std::thread& thread : threads) thread.join();
}

void print(const std::vector<Round>& rounds) {
  std::printf("n, and the first step that it spoils; -: none; .: n was not reached");
  const Round* before = nullptr;
  for (const Round& round : rounds) {
    if (before == nullptr || before->call != round.call)
      std::printf("\n%-9s %-5s %-14s", round.transfer.c_str(), round.fault.c_str(),
                  round.call.c_str());
    std::printf(" %3d %-6s", round.number, round.outcome());
    before = &round;
  }
  std::printf("\n");
}

/// What a service asks a driver to find out which devices it has, and how a report names it.
struct Question {
  const char* call;
  const char* name;
};
constexpr Question questions[] = {{"platforms:1", "clGetPlatformIDs"},
                                  {"platform:1", "clGetPlatformInfo"},
                                  {"devices:1", "clGetDeviceIDs"},
                                  {"device:1", "clGetDeviceInfo"}};

/// Wait for the minute that a driver has to name its devices, beside each other. Begun by the first
/// call.
const std::vector<std::shared_future<testing::ChildResult>>& looking_services() {
  static const auto services = [] {
    std::vector<std::shared_future<testing::ChildResult>> all;
    for (const Question& question : questions)
      all.push_back(std::async(std::launch::async, [&question] {
        return testing::run_child({RK_STUMBLING_SERVICE, "looking"},
                                  {{"OPENCL_LAYERS", RK_FAULT_LAYER},
                                   {"RK_STALL", std::string("hang:") + question.call}});
      }));
    return all;
  }();
  return services;
}

class OpenClStalls : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  static void SetUpTestSuite() {
    if (GTEST_FLAG_GET(filter) == "*") looking_services();  // where all are to run
  }
};

TEST_P(OpenClStalls, EveryCallAndEveryCloseEndsByItsDeadline) {
  const auto [transfer, fault] = GetParam();
  // What is built and tested is there, so that only the stall keeps anybody waiting.
  const auto first =
      testing::run_child({RK_STUMBLING_SERVICE, "warm"},
                         {{"OPENCL_LAYERS", RK_FAULT_LAYER}, {"RINGKERNEL_TRANSFER", transfer}});
  ASSERT_EQ(first.exit_code, 0) << first.output;
  std::vector<Round> rounds = rounds_of(transfer, fault);
  run_all(rounds);
  print(rounds);
  std::size_t reached = 0;
  for (const Round& round : rounds) {
    EXPECT_TRUE(round.is_in_time())
        << round.fault << ":" << round.call << ":" << round.number << "\n"
        << round.child.output;
    reached += round.is_reached() ? 1 : 0;
  }
  EXPECT_GT(reached, rounds.size() / 3);
}

/// Of the backend that answers instead. With a parameter it comes behind the others, which it
/// sleeps beside.
class OpenClDevices : public ::testing::TestWithParam<const char*> {};

TEST_P(OpenClDevices, AServiceThatAsksForNoneGoesOnWhereTheDriverDoesNotSayWhichItHas) {
  for (std::size_t i = 0; i < std::size(questions); ++i) {
    SCOPED_TRACE(questions[i].call);
    const auto service = looking_services()[i].get();
    ASSERT_EQ(service.exit_code, 0) << service.output;
    EXPECT_EQ(service.output.find("LATE"), std::string::npos) << service.output;
    EXPECT_NE(service.output.find("reached\n"), std::string::npos) << service.output;
    const std::string answers = std::string(GetParam()) + ": ok\n";
    const std::size_t first = service.output.find(answers);
    ASSERT_NE(first, std::string::npos) << service.output;
    EXPECT_NE(service.output.find(answers, first + 1), std::string::npos) << service.output;
    const std::string reason =
        std::string("the driver has not come back from ") + questions[i].name;
    EXPECT_NE(service.output.find(reason), std::string::npos) << service.output;
  }
}

INSTANTIATE_TEST_SUITE_P(, OpenClDevices, ::testing::Values("native"),
                         [](const auto& backend) { return std::string(backend.param); });
INSTANTIATE_TEST_SUITE_P(, OpenClStalls,
                         ::testing::Combine(::testing::Values("zero_copy", "dma", "sliced"),
                                            ::testing::Values("hang", "delay")),
                         [](const auto& stall) {
                           return std::string(std::get<0>(stall.param)) + "_" +
                                  std::get<1>(stall.param);
                         });

}  // namespace
}  // namespace ringkernel::test
