// The lifecycle of a ring kernel, as the public API shows it.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

RK_ON_EACH_BACKEND(Lifecycle);

TEST_P(Lifecycle, FollowsTheStateDiagram) {
  auto runtime = open();
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  EXPECT_EQ(kernel.status(), KernelStatus::launched);
  kernel.activate().value();
  EXPECT_EQ(kernel.status(), KernelStatus::active);
  kernel.deactivate().value();
  EXPECT_EQ(kernel.status(), KernelStatus::deactivated);
  kernel.activate().value();
  EXPECT_EQ(kernel.status(), KernelStatus::active);
  kernel.terminate().value();
  EXPECT_EQ(kernel.status(), KernelStatus::terminated);
}

void expect_refused(const Result<void>& result, const char* from, const char* to) {
  ASSERT_TRUE(result.has_error());
  EXPECT_EQ(result.error(), Errc::invalid_state);
  EXPECT_THAT(result.error().detail, AllOf(HasSubstr(from), HasSubstr(to)));
}

TEST_P(Lifecycle, RefusesIllegalTransitionsWithBothStatesInTheText) {
  auto runtime = open();
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  expect_refused(kernel.deactivate(), "launched", "deactivated");
  kernel.activate().value();
  expect_refused(kernel.activate(), "active", "active");
  kernel.deactivate().value();
  expect_refused(kernel.deactivate(), "deactivated", "deactivated");
  kernel.terminate().value();
  expect_refused(kernel.activate(), "terminated", "active");
  expect_refused(kernel.deactivate(), "terminated", "deactivated");
}

TEST_P(Lifecycle, DeactivateLeavesInputQueuedAndActivateResumesIt) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  kernel.deactivate().value();
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(kernel.send(numbered(i)));
  const auto none = kernel.receive(20ms);
  ASSERT_TRUE(none.has_error());
  EXPECT_EQ(none.error(), Errc::deadline_exceeded);
  EXPECT_EQ(none.error().message, 0u);
  EXPECT_EQ(kernel.metrics().in_flight, 10u);
  kernel.activate().value();
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(number_of(kernel.receive(10s).value()), i);
}

TEST_P(Lifecycle, ActivatesAndDeactivatesManyTimes) {
  auto runtime = open();
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  for (std::uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(kernel.send(numbered(i)));
    ASSERT_TRUE(kernel.activate());
    if (i % 3 == 0) {
      EXPECT_EQ(number_of(kernel.call(numbered(i)).value()), i);
    }
    ASSERT_TRUE(kernel.deactivate());
  }
  kernel.activate().value();
  for (std::uint64_t i = 0; i < 200; ++i) EXPECT_EQ(number_of(kernel.receive(10s).value()), i);
}

TEST_P(Lifecycle, TerminateEndsMessagesWithoutReply) {
  auto runtime = open();
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  const MessageId id = kernel.send(numbered(1)).value();
  kernel.terminate().value();
  const auto ended = kernel.receive(10s);
  ASSERT_TRUE(ended.has_error());
  EXPECT_EQ(ended.error(), Errc::kernel_terminated);
  EXPECT_EQ(ended.error().message, id);
  const auto after = kernel.receive(10s);
  ASSERT_TRUE(after.has_error());
  EXPECT_EQ(after.error(), Errc::kernel_terminated);
  EXPECT_EQ(after.error().message, 0u);
  EXPECT_EQ(kernel.call(numbered(2)).error(), Errc::kernel_terminated);
  EXPECT_EQ(kernel.send(numbered(2)).error(), Errc::kernel_terminated);
}

TEST_P(Lifecycle, TerminateKeepsRepliesThatWereMade) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  ASSERT_TRUE(kernel.send(numbered(1)));
  // The second message's reply comes behind the first one's.
  EXPECT_EQ(number_of(kernel.call(numbered(2)).value()), 2u);
  kernel.terminate().value();
  EXPECT_EQ(number_of(kernel.receive(10s).value()), 1u);
  EXPECT_EQ(kernel.receive(10s).error(), Errc::kernel_terminated);
}

TEST_P(Lifecycle, TerminateWithDrainProcessesWhatIsQueued) {
  auto runtime = open();
  // 2 records of 2 KiB fill the ring: the others wait on the host.
  Kernel kernel = active(runtime, "a", {.program = "echo", .input_bytes = 4096});
  kernel.deactivate().value();
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(kernel.send(plain(1984, i)));
  EXPECT_GT(kernel.metrics().queued, 0u);
  kernel.activate().value();
  kernel.terminate({.drain = true}).value();
  for (int i = 0; i < 40; ++i) {
    const auto reply = kernel.receive(10s);
    ASSERT_TRUE(reply) << i << ": " << reply.error().text();
    EXPECT_EQ(reply->bytes()[0], static_cast<std::byte>(i));
  }
  EXPECT_EQ(kernel.metrics().replied, 40u);
}

TEST_P(Lifecycle, DrainOfAKernelThatIsNotActiveEndsItsMessages) {
  auto runtime = open();
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  ASSERT_TRUE(kernel.send(numbered(1)));
  kernel.terminate({.drain = true}).value();
  EXPECT_EQ(kernel.receive(10s).error(), Errc::kernel_terminated);
}

// A sender that goes on sending must not keep a draining kernel alive.
TEST_P(Lifecycle, DrainAcceptsNothingMore) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  std::atomic<std::uint64_t> accepted{0};
  std::thread sender([&, copy = kernel]() mutable {
    for (;;) {
      const auto sent = copy.send(numbered(0));
      if (!sent) {
        EXPECT_EQ(sent.error(), Errc::kernel_terminated);
        return;
      }
      accepted.fetch_add(1);
      (void)copy.receive(0s);
    }
  });
  while (accepted.load() < 100) std::this_thread::yield();
  const auto result = kernel.terminate({.drain = true, .timeout = 60s});
  sender.join();
  EXPECT_TRUE(result);
  EXPECT_EQ(kernel.metrics().replied, accepted.load());
}

TEST_P(Lifecycle, TerminateIsIdempotent) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  EXPECT_TRUE(kernel.terminate());
  EXPECT_TRUE(kernel.terminate());
  EXPECT_TRUE(kernel.terminate({.drain = true}));
}

TEST_P(Lifecycle, EightThreadsTerminateOneKernel) {
  auto runtime = open();
  for (int round = 0; round < 20; ++round) {
    Kernel kernel = active(runtime, "a");
    ASSERT_TRUE(kernel.send(numbered(1)));
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([kernel]() mutable {
        EXPECT_TRUE(kernel.terminate());
        EXPECT_EQ(kernel.status(), KernelStatus::terminated);
      });
    for (auto& thread : threads) thread.join();
  }
}

TEST_P(Lifecycle, AnIdCanBeLaunchedAgainAfterTermination) {
  auto runtime = open();
  for (std::uint64_t round = 0; round < 20; ++round) {
    Kernel kernel = active(runtime, "a");
    EXPECT_EQ(number_of(kernel.call(numbered(round)).value()), round);
    EXPECT_EQ(kernel.metrics().messages_in, 1u);
    EXPECT_EQ(kernel.metrics().accepted, 1u);
    kernel.terminate().value();
    EXPECT_EQ(runtime.kernel("a").error(), Errc::kernel_not_found);
  }
}

TEST_P(Lifecycle, ATerminatedKernelKeepsItsLastMetrics) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  ASSERT_TRUE(kernel.call(numbered(1)));
  kernel.terminate().value();
  const KernelMetrics metrics = kernel.metrics();
  EXPECT_EQ(metrics.status, KernelStatus::terminated);
  EXPECT_EQ(metrics.id, "a");
  EXPECT_EQ(metrics.program, "echo");
  EXPECT_EQ(metrics.messages_in, 1u);
  EXPECT_EQ(metrics.messages_out, 1u);
  EXPECT_EQ(metrics.accepted, 1u);
  EXPECT_EQ(metrics.replied, 1u);
}

TEST_P(Lifecycle, AddingAKernelToAResidentExecutorDispatchesNothing) {
  auto runtime = open({.park_after = 60s});
  Kernel first = active(runtime, "first");
  ASSERT_TRUE(first.send(numbered(1)));  // a slice on the executor's own thread
  ASSERT_TRUE(first.receive(10s));
  const std::uint64_t slices = runtime.metrics().slices;
  std::vector<Kernel> kernels;
  for (int i = 0; i < 20; ++i) kernels.push_back(active(runtime, "k" + std::to_string(i)));
  for (std::uint64_t i = 0; i < kernels.size(); ++i) {
    ASSERT_TRUE(kernels[i].send(numbered(i)));
    EXPECT_EQ(number_of(kernels[i].receive(10s).value()), i);
  }
  EXPECT_EQ(runtime.metrics().slices, slices);
  EXPECT_EQ(runtime.metrics().kernels, 21u);
}

TEST_P(Lifecycle, AParkedExecutorIsWokenByTheNextMessage) {
  auto runtime = open({.park_after = 100us});
  Kernel kernel = active(runtime, "a");
  for (std::uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(kernel.send(numbered(i)));
    EXPECT_EQ(number_of(kernel.receive(10s).value()), i);
    std::this_thread::sleep_for(2ms);  // long enough to park; either way the next must be answered
  }
}

}  // namespace
}  // namespace ringkernel::test
