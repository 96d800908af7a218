// The asynchronous API with each kind of completion token: one handler call each, on the handler's
// own executor, never from within the initiating function.
#include <gmock/gmock.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <thread>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using ::testing::ElementsAre;

RK_ON_EACH_BACKEND(Async);

/// Starts an operation with a token and waits for its code.
template <class Start>
error_code code_of(Start start) {
  FutureCode code;
  start(code.token());
  return code.get();
}

TEST_P(Async, AWholeLifeWithFutures) {
  auto runtime = open();
  Kernel kernel = runtime.async_launch("a", {.program = "echo"}, asio::use_future).get();
  EXPECT_EQ(kernel.status(), KernelStatus::launched);
  kernel.async_activate(asio::use_future).get();
  EXPECT_EQ(kernel.status(), KernelStatus::active);
  const auto message = numbered(3);
  EXPECT_EQ(number_of(kernel.async_call(Bytes(message), asio::use_future).get()), 3u);
  const MessageId id = kernel.async_send(Bytes(message), asio::use_future).get();
  const Reply reply = kernel.async_receive(asio::use_future).get();
  EXPECT_EQ(reply.id(), id);
  EXPECT_EQ(number_of(reply), 3u);
  kernel.async_deactivate(asio::use_future).get();
  EXPECT_EQ(kernel.status(), KernelStatus::deactivated);
  kernel.async_terminate({}, asio::use_future).get();
  EXPECT_EQ(kernel.status(), KernelStatus::terminated);
}

TEST_P(Async, AWholeLifeByIdWithCoroutines) {
  auto runtime = open();
  asio::io_context context;
  // Named: GCC 12 destroys an aggregate temporary of a co_await expression twice (GCC bug 98401).
  const KernelOptions options{.program = "echo"};
  const auto life = [&]() -> asio::awaitable<std::uint64_t> {
    (void)co_await runtime.async_launch("a", options, asio::use_awaitable);
    co_await runtime.async_activate("a", asio::use_awaitable);
    const auto message = numbered(5);
    const Reply called = co_await runtime.async_call("a", Bytes(message), {}, asio::use_awaitable);
    const MessageId id = co_await runtime.async_send("a", Bytes(message), {}, asio::use_awaitable);
    const Reply received = co_await runtime.async_receive("a", 10s, asio::use_awaitable);
    EXPECT_EQ(received.id(), id);
    co_await runtime.async_deactivate("a", asio::use_awaitable);
    co_await runtime.async_terminate("a", {.drain = true}, asio::use_awaitable);
    co_return number_of(called) + number_of(received);
  };
  auto sum = asio::co_spawn(context, life(), asio::use_future);
  context.run();
  EXPECT_EQ(sum.get(), 10u);
  EXPECT_TRUE(runtime.kernels().empty());
}

TEST_P(Async, NobodyHasToSayThatTheOptionsAreTheUsualOnes) {
  auto runtime = open();
  Kernel kernel = runtime.async_launch("a", asio::use_future).get();
  EXPECT_EQ(kernel.status(), KernelStatus::launched);
  runtime.async_launch("b", asio::use_future).get();
  kernel.async_terminate(asio::use_future).get();
  EXPECT_EQ(kernel.status(), KernelStatus::terminated);
  runtime.async_terminate("b", asio::use_future).get();
  EXPECT_TRUE(runtime.kernels().empty());
  EXPECT_EQ(code_of([&](auto token) { runtime.async_terminate("b", token); }),
            Errc::kernel_not_found);
}

TEST_P(Async, OpsBorrowTheirOperandsOnlyUntilInitiated) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {.program = "core"});
  std::future<Reply> reply;
  {
    const std::vector<float> x{1, 2, 3};
    reply = kernel.async_call(ops::add(x, x), asio::use_future);
  }
  EXPECT_THAT(reply.get().floats(), ElementsAre(2, 4, 6));
}

// Where the device is the caller's own processor, a short op costs no hop to another thread: it has
// run by the time that the initiating function returns, and only the handler waits for its turn.
TEST_P(Async, NativelyTheInitiatingThreadRunsTheOp) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  asio::io_context context;
  const auto message = numbered(4);
  int handlers = 0;
  int at_once = 0;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(kernel.call(Bytes(message)));  // the executor's own thread has left
    const std::uint64_t replied = kernel.metrics().replied;
    kernel.async_call(Bytes(message), asio::bind_executor(context, [&](error_code error, Reply) {
                        ++handlers;
                        EXPECT_FALSE(error);
                      }));
    at_once += kernel.metrics().replied == replied + 1;
    EXPECT_EQ(handlers, i);
    context.run();
    context.restart();
  }
  EXPECT_EQ(handlers, 1000);
  EXPECT_GT(at_once, 10) << "the sender of an op that took long leaves the next ones to others";
}

TEST_P(Async, ADeferredOperationStartsWhenItIsCalled) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  const auto message = numbered(4);
  auto operation = kernel.async_call(Bytes(message), asio::deferred);
  EXPECT_EQ(kernel.metrics().accepted, 0u);
  EXPECT_EQ(number_of(std::move(operation)(asio::use_future).get()), 4u);
  EXPECT_EQ(kernel.metrics().accepted, 1u);
}

TEST_P(Async, AsTupleGivesTheErrorAsAValue) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a");
  asio::io_context context;
  const auto message = numbered(1);
  const auto ask = [&]() -> asio::awaitable<error_code> {
    auto [error, reply] = co_await kernel.async_call(Bytes(message), SendOptions{.timeout = 5ms},
                                                     asio::as_tuple(asio::use_awaitable));
    co_return error;
  };
  auto error = asio::co_spawn(context, ask(), asio::use_future);
  context.run();
  EXPECT_EQ(error.get(), Errc::deadline_exceeded);
}

/// Completes on `context`, and notes that it did, and how often.
struct Noted {
  asio::io_context& context;
  int calls = 0;
  bool elsewhere = false;

  auto handler() {
    return asio::bind_executor(context, [this](error_code, auto&&...) {
      ++calls;
      elsewhere = elsewhere || !context.get_executor().running_in_this_thread();
    });
  }
};

TEST_P(Async, EveryHandlerRunsOnceOnItsOwnExecutorAndNeverInline) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  Kernel none;
  asio::io_context context;
  Noted noted{context};
  const auto message = numbered(1);
  int expected = 0;
  const auto started = [&] {
    ++expected;
    EXPECT_EQ(noted.calls, 0);  // nothing ran the context so far
  };
  runtime.async_launch("b", {.program = "echo"}, noted.handler()), started();
  runtime.async_launch("", {}, noted.handler()), started();
  kernel.async_activate(noted.handler()), started();  // is active: an error at once
  kernel.async_call(Bytes(message), noted.handler()), started();
  kernel.async_send(Bytes(message), noted.handler()), started();
  kernel.async_receive(noted.handler()), started();
  const auto large = plain(1 << 20);
  kernel.async_call(Bytes(large), noted.handler()), started();  // message_too_large at once
  kernel.async_send(Bytes(large), noted.handler()), started();
  none.async_call(Bytes(message), noted.handler()), started();  // kernel_not_found at once
  none.async_send(Bytes(message), noted.handler()), started();
  none.async_receive(noted.handler()), started();
  none.async_activate(noted.handler()), started();
  none.async_deactivate(noted.handler()), started();
  none.async_terminate({}, noted.handler()), started();
  context.run();  // outstanding work keeps it until the last handler
  EXPECT_EQ(noted.calls, expected);
  context.restart();
  noted.calls = 0;
  expected = 0;
  kernel.async_deactivate(noted.handler()), started();
  kernel.async_terminate({}, noted.handler()), started();
  kernel.async_terminate({}, noted.handler()), started();
  context.run();
  EXPECT_EQ(noted.calls, expected);
  EXPECT_FALSE(noted.elsewhere);
}

TEST_P(Async, AHandlerWithoutAnExecutorRunsOnAnotherThread) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  std::promise<std::thread::id> thread;
  const auto message = numbered(1);
  kernel.async_call(Bytes(message), [&](error_code, const Reply&) {
    thread.set_value(std::this_thread::get_id());
  });
  EXPECT_NE(thread.get_future().get(), std::this_thread::get_id());
}

TEST_P(Async, HandlersOfAStrandDoNotOverlap) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  asio::io_context context;
  const auto strand = asio::make_strand(context);
  const auto message = numbered(1);
  int running = 0;
  int calls = 0;
  constexpr int count = 500;
  for (int i = 0; i < count; ++i)
    kernel.async_call(Bytes(message), asio::bind_executor(strand, [&](error_code error, Reply) {
                        EXPECT_FALSE(error);
                        EXPECT_EQ(++running, 1);
                        ++calls;
                        --running;
                      }));
  std::thread other([&] { context.run(); });
  context.run();
  other.join();
  EXPECT_EQ(calls, count);
}

TEST_P(Async, TwoKernelsOfAProgramAreLaunchedAtOnce) {
  auto runtime = open();
  auto first = runtime.async_launch("a", {.program = "core"}, asio::use_future);
  auto second = runtime.async_launch("b", {.program = "core"}, asio::use_future);
  FutureCode same;
  runtime.async_launch("a", {.program = "core"}, same.token());
  const auto synchronous = runtime.launch("c", {.program = "core"});
  ASSERT_TRUE(synchronous) << synchronous.error().text();
  EXPECT_EQ(first.get().id(), "a");
  EXPECT_EQ(second.get().id(), "b");
  EXPECT_EQ(same.get(), Errc::kernel_exists);
  EXPECT_THAT(runtime.kernels(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(runtime.metrics().executors, 1u);
}

TEST_P(Async, ErrorsComeAsCodes) {
  auto runtime = open();
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  const auto message = numbered(1);
  EXPECT_EQ(code_of([&](auto token) { runtime.async_launch("a", {.program = "echo"}, token); }),
            Errc::kernel_exists);
  EXPECT_EQ(code_of([&](auto token) { runtime.async_launch("b", {.program = "no such"}, token); }),
            Errc::program_not_found);
  EXPECT_EQ(code_of([&](auto token) { kernel.async_deactivate(token); }), Errc::invalid_state);
  EXPECT_EQ(code_of([&](auto token) { runtime.async_call("x", Bytes(message), {}, token); }),
            Errc::kernel_not_found);
}

TEST_P(Async, AReceiverOnAnIdleKernelIsToldWhenItsTimeIsUp) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  EXPECT_EQ(code_of([&](auto token) { kernel.async_receive(10ms, token); }),
            Errc::deadline_exceeded);
}

TEST_P(Async, WaitingReceiversGetMessagesInTheirOrder) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  std::vector<std::future<Reply>> replies;
  for (int i = 0; i < 10; ++i) replies.push_back(kernel.async_receive(asio::use_future));
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(kernel.send(numbered(i)));
  for (std::uint64_t i = 0; i < 10; ++i)
    EXPECT_EQ(number_of(replies[static_cast<std::size_t>(i)].get()), i);
}

TEST_P(Async, AReceiverLearnsWhichMessageEndedWithAnError) {
  auto runtime = open();
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  asio::io_context context;
  const MessageId id = kernel.send(numbered(1), {.timeout = 5ms}).value();
  error_code error;
  MessageId named = 0;
  kernel.async_receive(asio::bind_executor(context, [&](error_code ended, const Reply& reply) {
    error = ended;
    named = reply.id();
  }));
  context.run();
  EXPECT_EQ(error, Errc::deadline_exceeded);
  EXPECT_EQ(named, id);
}

TEST_P(Async, SendersThatWaitForRoomAreAdmittedInTheirOrder) {
  auto runtime = open();
  Kernel kernel =
      runtime
          .launch("a", {.program = "echo", .input_bytes = 4096, .in_flight_max = 8, .queue_max = 2})
          .value();
  std::vector<std::future<MessageId>> sent;
  for (std::uint64_t i = 0; i < 100; ++i)
    sent.push_back(kernel.async_send(Bytes(numbered(i)), asio::use_future));
  kernel.activate().value();
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(number_of(kernel.receive(60s).value()), i);
  for (auto& each : sent) EXPECT_NE(each.get(), 0u);
}

TEST_P(Async, ADeadlineHoldsForThoseWhoWaitBehindAFullQueue) {
  auto runtime = open();
  Kernel kernel =
      runtime.launch("a", {.program = "echo", .in_flight_max = 1, .queue_max = 1}).value();
  const auto message = numbered(1);
  ASSERT_TRUE(kernel.send(message));
  FutureCode patient;
  kernel.async_send(Bytes(message), patient.token());
  FutureCode hasty;
  kernel.async_send(Bytes(message), SendOptions{.timeout = 5ms}, hasty.token());
  EXPECT_EQ(hasty.get(), Errc::deadline_exceeded);
  kernel.terminate().value();
  EXPECT_EQ(patient.get(), Errc::kernel_terminated);
}

TEST_P(Async, TerminationCompletesEverythingThatWaits) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a", {.program = "echo", .in_flight_max = 2, .queue_max = 1});
  const auto message = numbered(1);
  FutureCode receiving;
  kernel.async_receive(receiving.token());
  FutureCode in_ring;
  kernel.async_call(Bytes(message), in_ring.token());
  FutureCode also_in_ring;
  kernel.async_call(Bytes(message), also_in_ring.token());
  FutureCode waiting_call;
  kernel.async_call(Bytes(message), waiting_call.token());
  FutureCode waiting_send;
  kernel.async_send(Bytes(message), waiting_send.token());
  kernel.terminate().value();
  EXPECT_EQ(in_ring.get(), Errc::kernel_terminated);
  EXPECT_EQ(also_in_ring.get(), Errc::kernel_terminated);
  EXPECT_EQ(waiting_call.get(), Errc::kernel_terminated);
  EXPECT_EQ(waiting_send.get(), Errc::kernel_terminated);
  EXPECT_EQ(receiving.get(), Errc::kernel_terminated);
  EXPECT_EQ(code_of([&](auto token) { kernel.async_receive(token); }), Errc::kernel_terminated);
}

}  // namespace
}  // namespace ringkernel::test
