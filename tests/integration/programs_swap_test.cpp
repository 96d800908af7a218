// A program in another one's place while its kernels go on: no message is lost or handled twice,
// and states stay.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/backends.hpp"
#include "support/stress.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Without a schema: counts its messages, and answers with the count and its own number.
ProgramDesc counter(int number) {
  return {.name = "counter",
          .source = Source::text("counter.rk.cl",
                                 "RK_ON_BYTES {\n"
                                 "  RK_GLOBAL rk_u64* count = (RK_GLOBAL rk_u64*)state;\n"
                                 "  RK_GLOBAL rk_u64* answer = (RK_GLOBAL rk_u64*)"
                                 "rk_reply_bytes(self);\n"
                                 "  *count += 1;\n"
                                 "  answer[0] = *count;\n"
                                 "  answer[1] = " +
                                     std::to_string(number) +
                                     ";\n"
                                     "  return RK_OK;\n"
                                     "}\n"),
          .state_bytes = 8,
          .reply_bytes = 16};
}

struct Counted {
  std::uint64_t count = 0;
  std::uint64_t number = 0;
  std::uint16_t version = 0;
};
Result<Counted> read(Result<Reply> reply) {
  RK_TRY(given, std::move(reply));
  std::array<std::uint64_t, 2> numbers{};
  std::memcpy(numbers.data(), given.bytes().data(), sizeof numbers);
  return Counted{numbers[0], numbers[1], given.version()};
}

class Swap : public OnEachBackend {};
INSTANTIATE_TEST_SUITE_P(Backends, Swap, ::testing::ValuesIn(backend_names()), backend_label);

TEST_P(Swap, KernelsGoOnWithTheirStates) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(counter(1)));
  Kernel kernel = active(runtime, "a", {.program = "counter"});
  Kernel resting = OnEachBackend::resting(runtime, "b", {.program = "counter"});
  const auto first = read(kernel.call(plain(8))).value();
  EXPECT_EQ(first.number, 1u);
  EXPECT_EQ(first.version, 1u);

  const auto swapped = runtime.swap_program(counter(2));
  ASSERT_TRUE(swapped) << swapped.error().text();
  EXPECT_EQ(swapped->version, 2u);
  EXPECT_EQ(swapped->migrated, 0u);
  EXPECT_EQ(runtime.program("counter")->version, 2u);
  const auto second = read(kernel.call(plain(8))).value();
  EXPECT_EQ(second.count, 2u);
  EXPECT_EQ(second.number, 2u);
  EXPECT_EQ(second.version, 2u);
  ASSERT_TRUE(resting.activate());
  EXPECT_EQ(read(resting.call(plain(8)))->number, 2u);
  Kernel later = active(runtime, "c", {.program = "counter"});
  EXPECT_EQ(read(later.call(plain(8)))->number, 2u);

  const auto back = runtime.swap_back("counter");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->version, 3u);
  const auto third = read(kernel.call(plain(8))).value();
  EXPECT_EQ(third.count, 3u);
  EXPECT_EQ(third.number, 1u);
  EXPECT_EQ(third.version, 3u);
}

TEST_P(Swap, ARestartKeepsTheVersionOfNow) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(counter(1)));
  ASSERT_TRUE(runtime.swap_program(counter(2)));
  ASSERT_TRUE(runtime.restart("counter"));
  Kernel kernel = active(runtime, "a", {.program = "counter"});
  const auto counted = read(kernel.call(plain(8))).value();
  EXPECT_EQ(counted.number, 2u);
  EXPECT_EQ(counted.version, 2u);
}

TEST_P(Swap, WhatDoesNotBuildChangesNothing) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(counter(1)));
  Kernel kernel = active(runtime, "a", {.program = "counter"});
  EXPECT_EQ(read(kernel.call(plain(8)))->count, 1u);
  ProgramDesc broken = counter(2);
  broken.source = Source::text("broken.rk.cl", "RK_ON_BYTES {\n  return no_such_thing(self);\n}\n");
  const auto swapped = runtime.swap_program(broken);
  ASSERT_FALSE(swapped);
  EXPECT_EQ(swapped.error(), Errc::build_failed);
  EXPECT_THAT(swapped.error().text(), HasSubstr("broken.rk.cl:2"));
  EXPECT_EQ(runtime.program("counter")->version, 1u);
  const auto counted = read(kernel.call(plain(8))).value();
  EXPECT_EQ(counted.count, 2u);
  EXPECT_EQ(counted.version, 1u);
  const auto back = runtime.swap_back("counter");
  EXPECT_EQ(back.error(), Errc::invalid_state);
  EXPECT_THAT(back.error().text(),
              AllOf(HasSubstr("program 'counter' was never swapped"), Not(HasSubstr("lifecycle"))));
}

TEST_P(Swap, WhatCannotBeSwappedSaysWhy) {
  auto runtime = open();
  EXPECT_EQ(runtime.swap_program(counter(1)).error(), Errc::program_not_found);
  ProgramDesc core = counter(1);
  core.name = "core";
  EXPECT_EQ(runtime.swap_program(core).error(), Errc::unsupported);
  ASSERT_TRUE(runtime.add_program(counter(1)));
  ProgramDesc larger = counter(2);
  larger.state_bytes = 16;
  const auto swapped = runtime.swap_program(larger);
  EXPECT_EQ(swapped.error(), Errc::incompatible_program);
  EXPECT_THAT(swapped.error().text(), HasSubstr("state_bytes is 16, before it was 8"));
  EXPECT_TRUE(runtime.shutdown());
  EXPECT_EQ(runtime.swap_program(counter(2)).error(), Errc::runtime_closed);
}

/// Messages in flight while the program is swapped again and again: each has one outcome, in order,
/// each was counted once, and versions only grow.
TEST_P(Swap, UnderLoadNothingIsLost) {
  const std::uint64_t swaps = scaled(40, 40);  // RK_TEST_SCALE=25: a thousand
  constexpr int senders = 2;
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(counter(0)));
  std::vector<Kernel> kernels;
  for (int i = 0; i < senders; ++i)
    kernels.push_back(active(runtime, "k" + std::to_string(i), {.program = "counter"}));
  std::atomic<bool> stop{false};
  std::array<std::uint64_t, senders> handled{};
  std::array<std::string, senders> fault;
  std::vector<std::thread> threads;
  for (int i = 0; i < senders; ++i)
    threads.emplace_back([&, i] {
      Kernel& kernel = kernels[static_cast<std::size_t>(i)];
      std::string& wrong = fault[static_cast<std::size_t>(i)];
      std::uint64_t count = 0;
      std::uint16_t version = 1;
      const auto look = [&](Result<Reply> reply) {
        const auto counted = read(std::move(reply));
        if (!counted) {
          wrong = counted.error().text();
          return false;
        }
        if (counted->count != ++count) wrong = "count " + std::to_string(counted->count);
        if (counted->version < version) wrong = "an older version";
        // Swap n brings number n % 2 with version n + 1.
        if (counted->number != (counted->version + 1u) % 2u) wrong = "a number of another version";
        version = counted->version;
        return wrong.empty();
      };
      while (!stop && wrong.empty()) {
        if (i == 0) {  // one at a time
          if (!look(kernel.call(plain(8)))) return;
        } else {  // many in flight
          constexpr int batch = 16;
          for (int n = 0; n < batch; ++n)
            if (!kernel.send(plain(8))) wrong = "not sent";
          for (int n = 0; n < batch && wrong.empty(); ++n)
            if (!look(kernel.receive(30s))) return;
        }
      }
      handled[static_cast<std::size_t>(i)] = count;
    });
  std::string failure;
  for (std::uint64_t n = 1; n <= swaps && failure.empty(); ++n) {
    const auto swapped = runtime.swap_program(counter(static_cast<int>(n % 2)));
    if (!swapped) failure = swapped.error().text();
    // What is sent from here on is answered by the new one.
    else if (swapped->version != n + 1)
      failure = "version " + std::to_string(swapped->version);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failure, "");
  for (int i = 0; i < senders; ++i) {
    const auto index = static_cast<std::size_t>(i);
    EXPECT_EQ(fault[index], "") << "sender " << i;
    ASSERT_TRUE(kernels[index].deactivate());
    EXPECT_EQ(kernels[index].read_state<std::uint64_t>().value(), handled[index]);
    EXPECT_GT(handled[index], 0u);
  }
}

TEST_P(Swap, AMessageBehindItIsAnsweredByTheNewOne) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(counter(0)));
  Kernel kernel = active(runtime, "a", {.program = "counter"});
  for (std::uint64_t n = 1; n <= 20; ++n) {
    (void)kernel.send(plain(8)).value();  // perhaps still on its way
    ASSERT_TRUE(runtime.swap_program(counter(static_cast<int>(n % 2))));
    EXPECT_EQ(read(kernel.call(plain(8)))->version, n + 1);
    EXPECT_LE(read(kernel.receive(30s))->version, n + 1);
  }
}

/// Each work-group of a pool leaves by itself, also those that are parked.
TEST_P(Swap, APoolIsSwappedWhole) {
  auto runtime = open({.work_groups = is_of_host_threads(GetParam()) ? 3u : 1u});
  ASSERT_TRUE(runtime.add_program(counter(0)));
  std::vector<Kernel> kernels;
  for (int i = 0; i < 6; ++i)
    kernels.push_back(active(runtime, "k" + std::to_string(i), {.program = "counter"}));
  std::uint64_t count = 0;
  for (std::uint64_t n = 1; n <= 12; ++n) {
    ASSERT_TRUE(runtime.swap_program(counter(static_cast<int>(n % 2))));
    ++count;
    for (Kernel& kernel : kernels) {
      const auto counted = read(kernel.call(plain(8)));
      ASSERT_TRUE(counted) << counted.error().text();
      EXPECT_EQ(counted->count, count);
      EXPECT_EQ(counted->version, n + 1);
    }
  }
}

/// A handler that is at work for longer than the swap waits.
TEST_P(Swap, ASliceThatDoesNotLeaveIsToldOf) {
  auto runtime = open({.termination_timeout = 3ms});
  ProgramDesc slow = counter(0);
  slow.source = Source::text("slow.rk.cl",
                             "RK_ON_BYTES {\n"
                             "  RK_GLOBAL volatile rk_u64* turns = (RK_GLOBAL volatile rk_u64*)"
                             "rk_reply_bytes(self);\n"
                             "  const rk_u64 all = 50000000u * (rk_u64)rk_request_bytes(self)[0];\n"
                             "  for (*turns = 0; *turns < all;) *turns += 1;\n"
                             "  return RK_OK;\n"
                             "}\n");
  ASSERT_TRUE(runtime.add_program(slow));
  Kernel kernel = active(runtime, "a", {.program = "counter"});
  // On a busy machine the old one may have handled the message before the swap came so far: the
  // next one takes longer. And a slice that does nothing may take longer than these 3 ms to leave.
  std::uint16_t version = 1;
  for (bool is_seen = false; !is_seen; ++version) {
    ASSERT_LT(version, 400);
    (void)kernel.send(plain(8, std::min<int>(version, 4))).value();
    const auto swapped = runtime.swap_program(slow);
    const std::uint16_t answered = read(kernel.receive(60s))->version;
    EXPECT_EQ(runtime.program("counter")->version, version + 1u);
    EXPECT_THAT(answered, ::testing::AnyOf(version, version + 1));
    is_seen = !swapped && answered == version;
    if (swapped) continue;
    EXPECT_EQ(swapped.error(), Errc::execution_timeout);
    EXPECT_THAT(swapped.error().text(),
                HasSubstr("version " + std::to_string(version + 1) + " from its next slice on"));
  }
  auto last = runtime.swap_program(counter(1));
  while (!last && last.error() == Errc::execution_timeout) last = runtime.swap_program(counter(1));
  ASSERT_TRUE(last) << last.error().text();
  EXPECT_EQ(read(kernel.call(plain(8), {.timeout = 60s}))->version, last->version);
  end_program(runtime, "counter");
}

TEST_P(Swap, TerminationsAndLaunchesGoOnBeside) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(counter(0)));
  std::atomic<bool> stop{false};
  std::string wrong;
  std::thread other([&] {
    while (!stop && wrong.empty()) {
      auto kernel = runtime.launch("b", {.program = "counter", .auto_activate = true});
      if (!kernel) {
        wrong = kernel.error().text();
        return;
      }
      const auto counted = read(kernel->call(plain(8)));
      if (!counted || counted->count != 1) wrong = "no answer, or another kernel's state";
      if (!kernel->terminate()) wrong = "not terminated";
    }
  });
  for (int n = 1; n <= 20; ++n) EXPECT_TRUE(runtime.swap_program(counter(n % 2)));
  stop = true;
  other.join();
  EXPECT_EQ(wrong, "");
}

TEST_P(Swap, OneAtATime) {
  auto runtime = open();
  ASSERT_TRUE(runtime.add_program(counter(0)));
  std::atomic<int> swapped{0};
  std::atomic<int> busy{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 5; ++n) {
        const auto result = runtime.swap_program(counter(n % 2));
        if (result)
          ++swapped;
        else if (result.error() == Errc::busy)
          ++busy;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(swapped + busy, 15);
  EXPECT_EQ(runtime.program("counter")->version, static_cast<std::uint32_t>(swapped) + 1);
}

}  // namespace
}  // namespace ringkernel::test
