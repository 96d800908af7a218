// A driver whose n-th call of some name hangs for ever, or takes seconds: whoever has a deadline
// ends by it, and everything can be closed. Each round is a child process, a service with short
// deadlines (stumbling_service.cpp), which lives twice. By default n grows in steps; with
// RK_STALLS=all every n is tried. Prints what came of each.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/stress.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::test {
namespace {

constexpr const char* calls_any[] = {"launch",  "argument", "flush",    "finish",  "ask",
                                     "wait",    "build",    "callback", "context", "queue",
                                     "program", "kernel",   "buffer",   "release", "write"};
constexpr const char* calls_shared[] = {"memory"};
constexpr const char* calls_copying[] = {"read", "map", "unmap"};

bool tries_all() {
  const char* const variable = std::getenv("RK_STALLS");
  return variable != nullptr && std::strcmp(variable, "all") == 0;
}

std::vector<int> numbers(std::string_view fault) {
  if (tries_all()) {
    std::vector<int> all;
    for (int n = 1; n <= 30; ++n) all.push_back(n);
    return all;
  }
  const bool is_short = scaled(100, 1) < 100;  // under a sanitizer
  if (fault == "delay") return is_short ? std::vector{2} : std::vector{2, 13};
  return is_short ? std::vector{1, 5, 13} : std::vector{1, 2, 3, 8, 30};
}

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
    if (has("terminate:") || has("restart:") || has("close:")) return "end";
    return "-";
  }

 private:
  [[nodiscard]] bool has(std::string_view text) const {
    return child.output.find(text) != std::string::npos;
  }
};

std::vector<Round> rounds_of(const std::string& transfer, const char* fault) {
  std::vector<const char*> calls(std::begin(calls_any), std::end(calls_any));
  if (transfer == "zero_copy")
    calls.insert(calls.end(), std::begin(calls_shared), std::end(calls_shared));
  else
    calls.insert(calls.end(), std::begin(calls_copying), std::end(calls_copying));
  std::vector<Round> rounds;
  for (const char* const call : calls)
    for (const int number : numbers(fault)) rounds.push_back({transfer, fault, call, number});
  return rounds;
}

/// Most of the time a child sleeps until a deadline is over, so that several get on well together.
void run_all(std::vector<Round>& rounds) {
  constexpr std::size_t children = 10;
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < children; ++thread)
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < rounds.size(); i = next++) {
        Round& round = rounds[i];
        round.child = testing::run_child(
            {RK_STUMBLING_SERVICE, "stalling"},
            {{"OPENCL_LAYERS", RK_FAULT_LAYER},
             {"RINGKERNEL_TRANSFER", round.transfer},
             {"RK_STALL", round.fault + ":" + round.call + ":" + std::to_string(round.number)}});
      }
    });
  for (std::thread& thread : threads) thread.join();
}

void print(const std::vector<Round>& rounds) {
  std::printf("%-10s %-6s %-9s", "transfer", "fault", "call \\ n");
  for (const int number : numbers(rounds.front().fault)) std::printf(" %6d", number);
  const Round* before = nullptr;
  for (const Round& round : rounds) {
    if (before == nullptr || before->call != round.call)
      std::printf("\n%-10s %-6s %-9s", round.transfer.c_str(), round.fault.c_str(),
                  round.call.c_str());
    std::printf(" %6s", round.outcome());
    before = &round;
  }
  std::printf("\n");
}

/// Waits for the minute that a driver has to name its devices. Begun by the first call.
std::shared_future<testing::ChildResult> looking_service() {
  static const std::shared_future<testing::ChildResult> service =
      std::async(std::launch::async, [] {
        return testing::run_child(
            {RK_STUMBLING_SERVICE, "looking"},
            {{"OPENCL_LAYERS", RK_FAULT_LAYER}, {"RK_STALL", "hang:devices:1"}});
      });
  return service;
}

class OpenClStalls : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  static void SetUpTestSuite() {
    if (GTEST_FLAG_GET(filter) == "*") looking_service();  // where all are to run
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
  const auto service = looking_service().get();
  ASSERT_EQ(service.exit_code, 0) << service.output;
  EXPECT_EQ(service.output.find("LATE"), std::string::npos) << service.output;
  EXPECT_NE(service.output.find("reached\n"), std::string::npos) << service.output;
  const std::string answers = std::string(GetParam()) + ": ok\n";
  const std::size_t first = service.output.find(answers);
  ASSERT_NE(first, std::string::npos) << service.output;
  EXPECT_NE(service.output.find(answers, first + 1), std::string::npos) << service.output;
  EXPECT_NE(service.output.find("the driver has not come back from clGetDeviceIDs"),
            std::string::npos)
      << service.output;
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
