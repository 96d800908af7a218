// The end of a runtime: with kernels in every state, while others use it, and by the end of the
// process.
#include <thread>

#include "support/backends.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;

RK_ON_EACH_BACKEND(Shutdown);

TEST_P(Shutdown, EndsKernelsInEveryState) {
  std::vector<Kernel> kernels;
  {
    auto runtime = open({.park_after = 1ms});
    kernels.push_back(runtime.launch("never activated", {.program = "echo"}).value());
    kernels.push_back(active(runtime, "active"));
    kernels.push_back(active(runtime, "deactivated"));
    kernels.back().deactivate().value();
    kernels.push_back(active(runtime, "of another program", {.program = "core"}));
    kernels.push_back(active(runtime, "terminated"));
    kernels.back().terminate().value();
    ASSERT_TRUE(kernels[0].send(numbered(0)));
    ASSERT_TRUE(kernels[1].call(numbered(1)));
  }  // the destructor
  for (Kernel& kernel : kernels) EXPECT_EQ(kernel.status(), KernelStatus::terminated);
}

TEST_P(Shutdown, EndsAParkedExecutor) {
  auto runtime = open({.park_after = 10us});
  Kernel kernel = active(runtime, "a");
  ASSERT_TRUE(kernel.send(numbered(1)));
  ASSERT_TRUE(kernel.receive(10s));
  std::this_thread::sleep_for(20ms);  // long enough to park; the end must be the same if it did not
  EXPECT_TRUE(runtime.shutdown());
}

TEST_P(Shutdown, HandlesOutliveTheRuntime) {
  Kernel kernel;
  {
    auto runtime = open();
    kernel = active(runtime, "a");
    ASSERT_TRUE(kernel.call(numbered(1)));
  }
  const auto message = numbered(2);
  EXPECT_EQ(kernel.id(), "a");
  EXPECT_EQ(kernel.call(message).error(), Errc::runtime_closed);
  EXPECT_EQ(kernel.call(message).error().text(), "runtime_closed: the runtime was shut down");
  EXPECT_EQ(kernel.send(message).error(), Errc::runtime_closed);
  EXPECT_EQ(kernel.receive(1s).error(), Errc::runtime_closed);
  EXPECT_EQ(kernel.activate().error(), Errc::runtime_closed);
  EXPECT_EQ(kernel.deactivate().error(), Errc::runtime_closed);
  EXPECT_TRUE(kernel.terminate());
  EXPECT_EQ(kernel.metrics().replied, 1u);
  FutureCode reply;
  kernel.async_call(Bytes(message), reply.token());
  EXPECT_EQ(reply.get(), Errc::runtime_closed);
  FutureCode received;
  kernel.async_receive(received.token());
  EXPECT_EQ(received.get(), Errc::runtime_closed);
}

TEST_P(Shutdown, CompletesWhatIsPending) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a");
  Kernel deactivating = active(runtime, "b");
  const auto message = numbered(1);
  FutureCode call;
  kernel.async_call(Bytes(message), call.token());
  FutureCode receive;
  kernel.async_receive(receive.token());
  // Whichever comes first, the device or the shutdown: it completes.
  FutureCode deactivate;
  deactivating.async_deactivate(deactivate.token());
  FutureCode terminate;
  kernel.async_terminate({}, terminate.token());
  EXPECT_TRUE(runtime.shutdown());
  EXPECT_EQ(call.get(), Errc::kernel_terminated);
  EXPECT_EQ(receive.get(), Errc::kernel_terminated);
  (void)deactivate.get();
  EXPECT_FALSE(terminate.get());
}

TEST_P(Shutdown, IsIdempotentAndRefusesWhatComesAfter) {
  auto runtime = open();
  (void)active(runtime, "a");
  EXPECT_TRUE(runtime.shutdown());
  EXPECT_TRUE(runtime.shutdown());
  EXPECT_TRUE(runtime.kernels().empty());
  EXPECT_EQ(runtime.launch("b", {.program = "echo"}).error(), Errc::runtime_closed);
  FutureCode launched;
  runtime.async_launch("b", {.program = "echo"}, launched.token());
  EXPECT_EQ(launched.get(), Errc::runtime_closed);
  EXPECT_EQ(runtime.metrics().kernels, 0u);
}

TEST_P(Shutdown, FourThreadsAtOnce) {
  for (int round = 0; round < 5; ++round) {
    auto runtime = open();
    Kernel kernel = active(runtime, "a");
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { EXPECT_TRUE(runtime.shutdown()); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(kernel.status(), KernelStatus::terminated);
  }
}

TEST_P(Shutdown, AMovedRuntimeEndsTheOneThatItReplaces) {
  auto runtime = open();
  Kernel first = active(runtime, "a");
  runtime = open();
  EXPECT_EQ(first.status(), KernelStatus::terminated);
  EXPECT_TRUE(active(runtime, "a").call(numbered(1)));
}

// Threads in the middle of every kind of operation find that the runtime is gone: each learns it.
TEST_P(Shutdown, WhileOthersUseTheirHandles) {
  for (int round = 0; round < 10; ++round) {
    auto runtime = open();
    std::vector<Kernel> kernels;
    for (int i = 0; i < 2; ++i)
      kernels.push_back(active(runtime, "k" + std::to_string(i),
                               {.program = "echo", .input_bytes = 4096, .queue_max = 2}));
    std::vector<std::thread> threads;
    const auto until_closed = [&threads](Kernel kernel, auto use) {
      threads.emplace_back([kernel, use]() mutable {
        for (;;) {
          const Error error = use(kernel);
          if (error == Errc::runtime_closed) return;
          ASSERT_TRUE(!error.code || error == Errc::deadline_exceeded ||
                      error == Errc::invalid_state)
              << error.text();
        }
      });
    };
    const auto error_of = [](auto&& result) { return result ? Error() : result.error(); };
    for (const Kernel& kernel : kernels) {
      until_closed(kernel, [=](Kernel& k) { return error_of(k.call(numbered(1))); });
      until_closed(kernel, [=](Kernel& k) { return error_of(k.call(numbered(1), 50us)); });
      until_closed(kernel,
                   [=](Kernel& k) { return error_of(k.send(numbered(1), {.timeout = 1ms})); });
      until_closed(kernel, [=](Kernel& k) { return error_of(k.receive(1ms)); });
      until_closed(kernel, [=](Kernel& k) {
        (void)k.metrics();
        const Error error = error_of(k.deactivate());
        (void)k.activate();
        return error;
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(round));
    EXPECT_TRUE(runtime.shutdown());
    for (std::thread& thread : threads) thread.join();
  }
}

/// Runs exit_child.cpp, which ends its process in the given way: with memory that is still in use.
void expect_exit(const char* backend, const char* way, int exit_code) {
  const auto child = ::ringkernel::testing::run_child(
      {RK_EXIT_CHILD, backend, way}, {{"ASAN_OPTIONS", "detect_leaks=0:use_sigaltstack=0"}});
  EXPECT_FALSE(child.timed_out) << way << ": " << child.output;
  EXPECT_EQ(child.exit_code, exit_code) << way << ": " << child.output;
}

TEST_P(Shutdown, AProcessThatExitsWithALiveRuntimeDoesNotHang) {
  expect_exit(GetParam(), "exit", 7);
  expect_exit(GetParam(), "exit_busy", 7);
  expect_exit(GetParam(), "static", 0);
  expect_exit(GetParam(), "leak", 0);
  expect_exit(GetParam(), "quick_exit", 7);
}

}  // namespace
}  // namespace ringkernel::test
