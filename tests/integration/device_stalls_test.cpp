// A driver whose n-th call of some name hangs for ever, or takes seconds: whoever has a deadline
// ends by it, and everything can be closed. Or it fails, alone (`once`) or with those behind it
// (`lasting`): each step tells why, and there is a way back. Each round is a child process, a
// service (stumbling_service.cpp) which lives twice. By default n grows in steps; with
// RK_STALLS=all more are tried. Prints what came of each.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <optional>
#include <span>
#include <sstream>
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
/// Only fail here; the questions below hang.
constexpr const char* calls_of_discovery[] = {"platforms", "devices", "device"};
constexpr const char* calls_of_discovery_all[] = {"platform"};

/// What a failed call returns: what may pass, and what does not.
constexpr int statuses[] = {-5, -34, -6, -36, -4, -59};

bool tries_all() {
  const char* const variable = std::getenv("RK_STALLS");
  return variable != nullptr && std::strcmp(variable, "all") == 0;
}

enum class Made : std::uint8_t { often, in_builds, seldom };

bool is_of_failures(std::string_view fault) { return fault == "once" || fault == "lasting"; }

bool is_short() { return scaled(100, 1) < 100; }  // under a sanitizer

std::vector<int> numbers(std::string_view fault, Made made) {
  if (tries_all() && !is_of_failures(fault)) {
    std::vector<int> all;
    for (int n = 1; n <= 30; ++n) all.push_back(n);
    return all;
  }
  const bool is_delay = fault == "delay";
  if (made == Made::seldom) return is_short() || is_delay ? std::vector{1} : std::vector{1, 2};
  if (is_delay) return is_short() || made != Made::often ? std::vector{2} : std::vector{2, 13};
  std::vector<int> some = is_short() ? std::vector{1, 5, 13} : std::vector{1, 2, 3, 8, 30};
  if (made != Made::often) some.pop_back();
  return some;
}

constexpr const char* steps_wide[] = {
    "send:",       "receive:",     "deactivate:",  "allocate:",   "write:",       "read:",
    "read_state:", "write_state:", "add_program:", "async_call:", "swap_program:"};

constexpr const char* steps_of_end[] = {
    "terminate:", "restart:", "another:", "renew:", "reply:", "close:"};

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
  /// What is wrong where calls fail; empty: nothing.
  [[nodiscard]] std::string mistake() const {
    if (!is_in_time() || has("WRONG")) return "it has not ended well";
    // What the copies of a device have met is the end of the runtime, not of a program.
    const bool ends_runtime = transfer != "zero_copy" && (call == "flush" || call == "ask" ||
                                                          call == "write" || call == "read");
    bool is_reached = false;  // so far
    bool is_back = false;     // where a restart is to help
    bool is_behind = false;   // all that the fault may spoil
    std::istringstream lines(child.output);
    for (std::string line; std::getline(lines, line);) {
      is_reached |= line == "reached";
      if (line == "back") is_back = is_reached;
      if (line == "again") is_behind = is_reached;
      if (line.find(" ms of ") == std::string::npos) continue;
      const bool names_way = line.find("open another runtime") != std::string::npos;
      if (names_way && line.find("restart the program") != std::string::npos)
        return "two ways back: " + line;
      if (is_behind || (is_back && !(ends_runtime && names_way))) return "no way back: " + line;
      if (line.find(": E") == std::string::npos && line.find("build_failed") == std::string::npos)
        return "no code: " + line;
      const bool has_name = line.find(": cl") != std::string::npos ||
                            line.find(" ended with CL_") != std::string::npos;
      if (!has_name && !line.starts_with("async_call")) return "no call: " + line;  // a code alone
    }
    return {};
  }
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
    for (const char* const step : steps_of_end)
      if (has(step)) return "end";
    return "-";
  }

 private:
  [[nodiscard]] bool has(std::string_view text) const {
    return child.output.find(text) != std::string::npos;
  }
};

/// Of calls that fail one number each by turns, or all that `numbers` gives.
std::vector<Round> rounds_of(const std::string& transfer, const std::string& fault) {
  std::vector<Round> rounds;
  const bool takes_turns = is_of_failures(fault) && !tries_all();
  std::size_t turn = transfer.size() + fault.size();
  const auto add = [&](std::span<const char* const> calls, Made made) {
    for (const char* const call : calls) {
      std::vector<int> some = numbers(fault, made);
      if (takes_turns) {
        const std::size_t step = is_short() ? 3 : 1;
        if (turn++ % step != 0) continue;
        // With another name of the platform all is built anew, which takes too long.
        if (std::string_view(call) == "later_platform") continue;
        some = {some[turn / step % some.size()]};
      }
      for (const int number : some) rounds.push_back({transfer, fault, call, number});
    }
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
  if (is_of_failures(fault)) add(calls_of_discovery, Made::seldom);
  if (is_of_failures(fault) && tries_all()) add(calls_of_discovery_all, Made::seldom);
  return rounds;
}

void run(Round& round) {
  const bool fails = is_of_failures(round.fault);
  const std::size_t number = static_cast<std::size_t>(round.number);
  const int status = statuses[(number + round.fault.size()) % std::size(statuses)];
  std::vector<std::pair<std::string, std::string>> environment{
      {"OPENCL_LAYERS", RK_FAULT_LAYER},
      {"RINGKERNEL_TRANSFER", round.transfer},
      {"RK_STALL", round.fault + (fails ? std::to_string(status) : "") + ":" + round.call + ":" +
                       std::to_string(round.number)}};
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
  round.child =
      testing::run_child({RK_STUMBLING_SERVICE, fails ? "failing" : "stalling"}, environment);
}

/// Most of the time a child sleeps until a deadline is over, so that several get on well together;
/// but not where calls fail.
void run_all(std::vector<Round>& rounds) {
#if defined(__SANITIZE_ADDRESS__)
  constexpr std::size_t sleepers = 10;  // each computes several times as much
#else
  constexpr std::size_t sleepers = 20;
#endif
  const std::size_t children = is_of_failures(rounds.front().fault) ? 4 : sleepers;
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
      std::printf("\n%-9s %-7s %-14s", round.transfer.c_str(), round.fault.c_str(),
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

TEST_P(OpenClStalls, EveryCallAndEveryCloseEndsAsPromised) {
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
    const bool is_well = is_of_failures(round.fault) ? round.mistake().empty() : round.is_in_time();
    EXPECT_TRUE(is_well) << round.fault << ":" << round.call << ":" << round.number << "\n"
                         << round.mistake() << "\n"
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
                                            ::testing::Values("hang", "delay", "once", "lasting")),
                         [](const auto& stall) {
                           return std::string(std::get<0>(stall.param)) + "_" +
                                  std::get<1>(stall.param);
                         });

}  // namespace
}  // namespace ringkernel::test
