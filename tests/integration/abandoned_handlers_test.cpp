// An execution context that goes while handlers wait: they are destroyed with it, uncalled, and
// what they waited for ends by itself. What matters here is what a sanitizer sees.
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>
#include <thread>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

RK_ON_EACH_BACKEND(AbandonedHandlers);

/// Counts what became of handlers.
struct Fate {
  int called = 0;
  int alive = 0;

  /// One for any operation; the object that it holds lives as long as it does.
  auto handler(asio::any_io_executor executor) {
    ++alive;
    std::shared_ptr<Fate> life(this, [](Fate* fate) { --fate->alive; });
    return asio::bind_executor(std::move(executor),
                               [life](error_code, auto&&...) { ++life->called; });
  }
};

TEST_P(AbandonedHandlers, ADeadContextIsNotTouched) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a", {.program = "echo", .in_flight_max = 2, .queue_max = 1});
  EventStream events = runtime.events();
  const auto message = numbered(1);
  Fate fate;
  {
    asio::io_context context;
    const auto strand = asio::make_strand(context);
    kernel.async_receive(fate.handler(context.get_executor()));
    kernel.async_call(Bytes(message), fate.handler(strand));
    kernel.async_call(Bytes(message), fate.handler(context.get_executor()));
    events.async_next(fate.handler(strand));
    runtime.async_launch("b", {.program = "echo"}, fate.handler(strand));
    {
      // Of another context, which goes while there is no room yet: what makes some lets them in.
      asio::io_context waiting;
      kernel.async_call(Bytes(message), fate.handler(asio::make_strand(waiting)));
      kernel.async_send(Bytes(message), fate.handler(waiting.get_executor()));
      EXPECT_EQ(fate.alive, 7);
    }
    EXPECT_EQ(fate.alive, 5);
    EXPECT_EQ(kernel.metrics().cancelled, 2u) << "those that waited for room";
  }
  EXPECT_EQ(fate.alive, 0) << "destroyed with the context";
  EXPECT_EQ(kernel.metrics().cancelled, 4u) << "two in flight";
  EXPECT_EQ(kernel.metrics().in_flight, 0u);
  EXPECT_EQ(kernel.metrics().queued, 0u);
  kernel.activate().value();  // the replies to what was in the ring find nobody
  ASSERT_TRUE(kernel.send(numbered(2)));
  EXPECT_EQ(number_of(kernel.receive(20s).value()), 2u) << "not the abandoned receiver's";
  FutureCode next;
  events.async_next(next.token());
  EXPECT_FALSE(next.get());
  kernel.terminate().value();
  EXPECT_TRUE(runtime.shutdown());
  EXPECT_EQ(fate.called, 0);
}

TEST_P(AbandonedHandlers, WhatEndedBeforeIsDestroyedWithTheContextToo) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  const auto message = numbered(1);
  Fate fate;
  {
    asio::io_context context;
    kernel.async_call(Bytes(message), fate.handler(context.get_executor()));
    while (kernel.metrics().in_flight != 0) std::this_thread::yield();
  }
  EXPECT_EQ(fate.alive, 0);
  EXPECT_EQ(fate.called, 0);
}

/// The order of a service whose main returns early: coroutines hold kernels, timers and streams.
TEST_P(AbandonedHandlers, SuspendedCoroutinesAreDestroyedWithTheContext) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a");
  int left = 0;
  {
    asio::io_context context;
    const auto ask = [&]() -> asio::awaitable<void> {
      const std::shared_ptr<void> leaves(nullptr, [&](void*) { ++left; });
      const auto message = numbered(1);
      (void)co_await kernel.async_call(Bytes(message), asio::use_awaitable);
    };
    const auto ask_or_wait = [&]() -> asio::awaitable<void> {
      const std::shared_ptr<void> leaves(nullptr, [&](void*) { ++left; });
      const auto message = numbered(1);
      asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
      (void)co_await (kernel.async_call(Bytes(message), asio::use_awaitable) ||
                      timer.async_wait(asio::use_awaitable));
    };
    const auto listen = [&]() -> asio::awaitable<void> {
      const std::shared_ptr<void> leaves(nullptr, [&](void*) { ++left; });
      EventStream events = runtime.events();
      (void)co_await events.async_next(asio::use_awaitable);
    };
    asio::co_spawn(context, ask(), asio::detached);
    asio::co_spawn(context, ask_or_wait(), asio::detached);
    asio::co_spawn(context, listen(), asio::detached);
    while (context.poll() != 0) {
    }
    EXPECT_EQ(kernel.metrics().in_flight, 2u);
    EXPECT_EQ(left, 0);
  }
  EXPECT_EQ(left, 3);
  EXPECT_TRUE(runtime.shutdown());
}

/// A coroutine that owns the runtime ends it with the context.
TEST_P(AbandonedHandlers, MayBeTheLastToHoldTheRuntime) {
  std::optional<Kernel> kernel;
  {
    asio::io_context context;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
          RingKernelRuntime runtime = open();
          kernel = resting(runtime, "a");
          const auto message = numbered(1);
          (void)co_await kernel->async_call(Bytes(message), asio::use_awaitable);
        },
        asio::detached);
    context.poll();
    EXPECT_EQ(kernel->status(), KernelStatus::deactivated);
  }
  EXPECT_EQ(kernel->status(), KernelStatus::terminated);
}

/// An operation that begins when its context is going waits for nothing.
TEST_P(AbandonedHandlers, OperationsThatBeginAtTheEndAreAbandoned) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a");
  Fate fate;
  {
    asio::io_context context;
    const auto message = numbered(1);
    const std::shared_ptr<void> another(nullptr, [&, message](void*) {
      kernel.async_call(Bytes(message), fate.handler(context.get_executor()));
    });
    kernel.async_receive(
        asio::bind_executor(context, [another](error_code, const Reply&) { FAIL(); }));
  }
  EXPECT_EQ(fate.alive, 0);
  EXPECT_EQ(fate.called, 0);
}

/// Replies come while the context goes: each handler is called or destroyed, once.
TEST_P(AbandonedHandlers, RaceWithTheirReplies) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  const auto message = numbered(1);
  for (int i = 0; i < 50; ++i) {
    std::atomic<int> called{0};
    const auto life = std::make_shared<int>(0);
    {
      asio::thread_pool pool(1);
      for (int call = 0; call < 20; ++call)
        kernel.async_call(Bytes(message),
                          asio::bind_executor(pool, [&called, life](error_code, const Reply&) {
                            called.fetch_add(1);
                          }));
      pool.stop();
    }
    EXPECT_LE(called.load(), 20);
    EXPECT_EQ(life.use_count(), 1);
  }
  while (kernel.metrics().in_flight != 0) std::this_thread::yield();
  EXPECT_EQ(number_of(kernel.call(message).value()), 1u);
}

}  // namespace
}  // namespace ringkernel::test
