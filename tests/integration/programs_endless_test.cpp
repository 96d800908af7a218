// A handler that never returns, in a process of its own (endless_child.cpp).
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "support/backends.hpp"
#include "support/environment.hpp"
#include "support/stress.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RK_ON_EACH_BACKEND(EndlessHandler);

ringkernel::testing::ChildResult endless_child(const char* backend, const char* work_groups) {
  return ringkernel::testing::run_child({RK_ENDLESS_CHILD, backend, work_groups}, {});
}

/// Everybody with a deadline ends by it, and other programs go on.
void expect_ends(const ringkernel::testing::ChildResult& child) {
  EXPECT_EQ(child.exit_code, 0) << child.output;
  for (const char* const line :
       {"add: ok\n", "before: ok\n", "its call: deadline_exceeded", "beside: deadline_exceeded",
        "other: ok\n", "deactivate: E6007", "terminate: E6007", "restart: E6007",
        "other, again: ok\n", "other, terminated: ok\n", "shutdown: E6007", "over\n"})
    EXPECT_THAT(child.output, HasSubstr(line));
}

TEST_P(EndlessHandler, IsOutlivedByAllWhoHaveADeadline) {
  const bool is_on_callers = std::string(GetParam()) == "native";
  expect_ends(endless_child(GetParam(), is_on_callers ? "2" : "1"));
}

/// Natively, where no other work-group shares the work, the calling thread is in the handler.
TEST(EndlessHandlers, NativelyKeepOnlyTheThreadThatCalls) {
  const auto child = ringkernel::testing::run_child({RK_ENDLESS_CHILD, "native", "1"},
                                                    {{"RINGKERNEL_TRANSFER", ""}});
  EXPECT_EQ(child.exit_code, 0) << child.output;
  EXPECT_THAT(child.output, Not(HasSubstr("its call: ")));
  for (const char* const line : {"beside: deadline_exceeded", "other: ok\n", "deactivate: E6007",
                                 "terminate: E6007", "restart: E6007", "other, again: ok\n",
                                 "other, terminated: ok\n", "shutdown: E6007", "over\n"})
    EXPECT_THAT(child.output, HasSubstr(line));
}

TEST(EndlessHandlers, NativelyKeepTheThreadThatTakesTheMessageUp) {
  const auto child =
      ringkernel::testing::run_child({RK_ENDLESS_CHILD, "taken_up"}, {{"RINGKERNEL_TRANSFER", ""}});
  EXPECT_EQ(child.exit_code, 0) << child.output;
  for (const char* const line :
       {"send: ok\n", "terminate: ", "restart: E6007", "shutdown: E6007", "over\n"})
    EXPECT_THAT(child.output, HasSubstr(line));
}

/// The thread that runs a handler comes back while its kernel, and its program, end without it: it
/// finds everything that it needs, and its call is told why.
TEST(LongHandlers, NativelyComeBackToAKernelThatHasEnded) {
  using namespace std::chrono_literals;
  const ringkernel::testing::Variable own_strategy("RINGKERNEL_TRANSFER", "");
  auto runtime = RingKernelRuntime::builder().backend("native").build().value();
  const auto turns_of = [](std::uint64_t turns) {
    std::vector<std::byte> request(sizeof turns);
    std::memcpy(request.data(), &turns, sizeof turns);
    return request;
  };
  ASSERT_TRUE(runtime.add_program(
      {.name = "long",
       .source = Source::text("long.rk.cl",
                              "RK_ON_BYTES {\n"
                              "  volatile rk_u64 left ="
                              " *(RK_GLOBAL const rk_u64*)rk_request_bytes(self);\n"
                              "  while (left != 0) left -= 1;\n"
                              "  return RK_OK;\n"
                              "}\n"),
       .reply_bytes = 8}));
  std::uint64_t late = 0;
  Dice dice(announce_seed(), 0);
  const std::uint64_t rounds = scaled(1000, 100);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    Kernel kernel = runtime.launch("k", {.program = "long", .auto_activate = true}).value();
    const std::jthread caller([&, request = turns_of(dice.below(200'000))] {
      const auto reply = kernel.call(request, {.timeout = 60s});
      if (!reply) {
        EXPECT_EQ(reply.error(), Errc::kernel_terminated) << reply.error().text();
      }
    });
    while (kernel.metrics().accepted == 0) std::this_thread::yield();
    const auto terminated = kernel.terminate({.drain = false, .timeout = 50us});
    if (!terminated) {
      ++late;
      EXPECT_EQ(terminated.error(), Errc::execution_timeout) << terminated.error().text();
    }
    if (round % 2 == 0) {
      const auto restarted = runtime.restart("long");
      ASSERT_TRUE(restarted) << restarted.error().text();
    }
  }
  EXPECT_GT(late, 0u);
  const auto closed = runtime.shutdown();
  EXPECT_TRUE(closed) << closed.error().text();
}

}  // namespace
}  // namespace ringkernel::test
