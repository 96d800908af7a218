// The text of an asynchronous error, by the token as_result.
#include <gmock/gmock.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RK_ON_EACH_BACKEND(AsResult);

const std::vector<float> rows{1, 2, 3};
const std::vector<std::int32_t> right{2, 0};
const std::vector<std::int32_t> wrong{0, 7};

/// What a coroutine gives in the end.
template <class T>
T result_of(asio::awaitable<T> coroutine) {
  asio::io_context context;
  auto ended = asio::co_spawn(context, std::move(coroutine), asio::use_future);
  context.run();
  return ended.get();
}

void expect_wrong_index(const Result<Reply>& reply) {
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error(), Errc::out_of_bounds);
  EXPECT_THAT(reply.error().detail, HasSubstr("index 7 at position 1"));
  EXPECT_NE(reply.error().message, 0u);
}

TEST_P(AsResult, BringsTheTextOfWhatTheDeviceFound) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {});
  const auto life = [&]() -> asio::awaitable<void> {
    Result<Reply> reply =
        co_await kernel.async_call(ops::gather(rows, right), as_result(asio::use_awaitable));
    EXPECT_THAT(reply.value().floats(), ElementsAre(3, 1));
    expect_wrong_index(
        co_await kernel.async_call(ops::gather(rows, wrong), as_result(asio::use_awaitable)));
  };
  result_of(life());
  expect_wrong_index(
      kernel.async_call(ops::gather(rows, wrong), as_result(asio::use_future)).get());
}

TEST_P(AsResult, BringsItThroughAdapters) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {});
  asio::io_context context;
  const Request request = ops::gather(rows, wrong);
  int calls = 0;
  const auto look = [&](Result<Reply> reply) {
    EXPECT_TRUE(context.get_executor().running_in_this_thread());
    expect_wrong_index(reply);
    ++calls;
  };
  const auto executor = context.get_executor();
  kernel.async_call(request, asio::bind_executor(executor, as_result(look)));
  kernel.async_call(request, as_result(asio::bind_executor(executor, look)));
  const auto life = std::make_shared<int>();
  kernel.async_call(request, asio::consign(asio::bind_executor(executor, as_result(look)), life));
  kernel.async_call(request, as_result(asio::deferred))(asio::bind_executor(executor, look));
  asio::cancellation_signal signal;
  kernel.async_call(request, asio::bind_cancellation_slot(
                                 signal.slot(), as_result(asio::bind_executor(executor, look))));
  context.run();
  EXPECT_EQ(calls, 5);
  expect_wrong_index(kernel
                         .async_call(request, asio::bind_cancellation_slot(
                                                  signal.slot(), as_result(asio::use_future)))
                         .get());
}

TEST_P(AsResult, OfARefusalBringsTheSynchronousText) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {});
  const Request request = ops::add(std::vector<float>(2), std::vector<float>(3));
  const Result<Reply> reply = kernel.async_call(request, as_result(asio::use_future)).get();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().text(), kernel.call(request).error().text());
  Graph graph("g");
  graph.output(graph.add(ops::neg(graph.input({DType::f32, {2}}))));
  const CompiledFunction function = runtime.compile(graph).value();
  const Result<FunctionResult> result =
      function.async_execute(rows, as_result(asio::use_future)).get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().text(), function.execute(rows).error().text());
  EXPECT_THAT(result.error().detail, HasSubstr("Expected: f32[2]. Got: f32[3]"));
}

TEST_P(AsResult, OfEveryOperation) {
  auto runtime = open();
  const auto future = as_result(asio::use_future);
  Kernel kernel = runtime.async_launch("a", {}, future).get().value();
  EXPECT_THAT(runtime.async_launch("a", {}, future).get().error().detail, HasSubstr("'a'"));
  static_assert(std::is_same_v<decltype(kernel.async_activate(future).get()), Result<void>>);
  EXPECT_TRUE(kernel.async_activate(future).get());
  EXPECT_THAT(kernel.async_activate(future).get().error().detail, HasSubstr("active"));
  const MessageId id = kernel.async_send(ops::gather(rows, wrong), future).get().value();
  const Result<Reply> received = kernel.async_receive(future).get();
  expect_wrong_index(received);
  EXPECT_EQ(received.error().message, id);
  EXPECT_TRUE(kernel.async_deactivate(future).get());
  EXPECT_TRUE(kernel.async_terminate({}, future).get());
  EXPECT_THAT(kernel.async_call(ops::neg(rows), future).get().error().detail, HasSubstr("'a'"));
  EXPECT_EQ(Kernel().async_call(ops::neg(rows), future).get().error(), Errc::kernel_not_found);
}

TEST_P(AsResult, IsCancelledAsTheTokenInside) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a", {});
  asio::io_context context;
  asio::cancellation_signal signal;
  std::optional<Result<Reply>> ended;
  kernel.async_call(
      ops::neg(rows),
      as_result(asio::bind_cancellation_slot(
          signal.slot(), asio::bind_executor(context.get_executor(), [&](Result<Reply> reply) {
            ended.emplace(std::move(reply));
          }))));
  asio::post(context, [&] { signal.emit(asio::cancellation_type::total); });
  context.run();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->error().code, asio::error::operation_aborted);
}

TEST_P(AsResult, HandlersThatTakeCodesGetCodes) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {});
  const auto life = [&]() -> asio::awaitable<error_code> {
    const auto [error, reply] =
        co_await kernel.async_call(ops::gather(rows, wrong), asio::as_tuple(asio::use_awaitable));
    static_assert(std::is_same_v<decltype(error), const error_code>);
    error_code redirected;
    (void)co_await kernel.async_call(ops::gather(rows, wrong),
                                     asio::redirect_error(asio::use_awaitable, redirected));
    EXPECT_EQ(redirected, error);
    co_return error;
  };
  EXPECT_EQ(result_of(life()), Errc::out_of_bounds);

  // Asio's own adapters tell an error from a value by its exact type.
  FutureCode code;
  kernel.async_call(ops::gather(rows, wrong), [token = code.token()](auto error, auto&& reply) {
    static_assert(std::is_same_v<decltype(error), error_code>);
    token(error, reply);
  });
  EXPECT_EQ(code.get(), Errc::out_of_bounds);
}

/// A timer is no operation of ours: there is a code and no text.
TEST(AsResultOfOthers, BringsTheCode) {
  asio::io_context context;
  asio::steady_timer timer(context, 1h);
  std::optional<Result<void>> ended;
  timer.async_wait(as_result([&](Result<void> result) { ended = std::move(result); }));
  timer.cancel();
  context.run();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->error().code, asio::error::operation_aborted);
}

TEST_P(AsResult, GoesWithCoTry) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {});
  const auto first_of =
      [&](const std::vector<std::int32_t>& indices) -> asio::awaitable<Result<float>> {
    RK_CO_TRY(reply, co_await kernel.async_call(ops::gather(rows, indices),
                                                as_result(asio::use_awaitable)));
    RK_CO_TRY_VOID(reply.floats().empty() ? Result<void>(Error(Errc::invalid_argument, "none"))
                                          : Result<void>());
    RK_CO_TRY(first, [&]() -> Result<float> {
      RK_TRY(again, kernel.call(ops::gather(rows, indices)));
      return again.floats()[0];
    }());
    co_return first;
  };
  EXPECT_EQ(result_of(first_of(right)).value(), 3);
  EXPECT_THAT(result_of(first_of(wrong)).error().detail, HasSubstr("index 7 at position 1"));
}

}  // namespace
}  // namespace ringkernel::test
