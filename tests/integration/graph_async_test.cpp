// Graphs without a waiting thread, and the check of their results.
#include <gmock/gmock.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <limits>
#include <thread>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RK_ON_EACH_BACKEND(AsyncGraphs);

/// Twice the input, which has two elements, and its logarithm.
CompiledFunction twice_and_log(RingKernelRuntime& runtime) {
  Graph graph("twice and log");
  const auto x = graph.input({DType::f32, {2}});
  graph.output(graph.add(ops::add(x, x)));
  graph.output(graph.add(ops::log(x)));
  return runtime.compile(graph).value();
}

TEST_P(AsyncGraphs, CompleteWithEachKindOfToken) {
  auto runtime = open();
  const CompiledFunction function = twice_and_log(runtime);
  const std::vector<float> x{1, 2};
  EXPECT_THAT(function.async_execute(x, asio::use_future).get().elements<float>(),
              ElementsAre(2, 4));

  asio::io_context context;
  const auto chain = [&]() -> asio::awaitable<float> {
    const FunctionResult first = co_await function.async_execute(x, asio::use_awaitable);
    const TensorView again = first.output(0);
    const FunctionResult second = co_await function.async_execute(again, asio::use_awaitable);
    co_return second.elements<float>()[1];
  };
  auto sum = asio::co_spawn(context, chain(), asio::use_future);
  context.run();
  EXPECT_EQ(sum.get(), 8);

  // The views are copied at once, the elements when it begins.
  auto later = [&] {
    const std::array<TensorView, 1> views{TensorView(x)};
    return function.async_execute(views, {.timeout = 10s}, asio::deferred);
  }();
  EXPECT_THAT(std::move(later)(asio::use_future).get().elements<float>(), ElementsAre(2, 4));
}

TEST_P(AsyncGraphs, BorrowElementsOnlyUntilInitiated) {
  auto runtime = open();
  const CompiledFunction function = twice_and_log(runtime);
  std::future<FunctionResult> result;
  {
    std::vector<float> x{3, 4};
    result = function.async_execute(x, asio::use_future);
    x = {-1, -1};
  }
  EXPECT_THAT(result.get().elements<float>(), ElementsAre(6, 8));
}

TEST_P(AsyncGraphs, LiveUntilTheirHandlerHasBeenCalled) {
  auto runtime = open();
  asio::io_context context;
  const std::vector<float> x{1, 2};
  int done = 0;
  for (int i = 0; i < 20; ++i)  // each handle ends at once
    twice_and_log(runtime).async_execute(
        x, asio::bind_executor(context, [&](error_code error, const FunctionResult& result) {
          EXPECT_FALSE(error) << error.message();
          EXPECT_THAT(result.elements<float>(), ElementsAre(2, 4));
          ++done;
        }));
  context.run();
  EXPECT_EQ(done, 20);
  EXPECT_TRUE(runtime.kernels().empty());
}

TEST_P(AsyncGraphs, EndWithTheirErrors) {
  auto runtime = open();
  const CompiledFunction function = twice_and_log(runtime);
  const std::vector<float> x{1, 2}, three{1, 2, 3};
  const auto code = [&](const CompiledFunction& which, const auto& input, auto options) {
    try {
      (void)which.async_execute(input, options, asio::use_future).get();
      return error_code();
    } catch (const boost::system::system_error& error) {
      return error.code();
    }
  };
  EXPECT_EQ(code(function, x, ExecuteOptions{}), error_code());
  EXPECT_EQ(code(function, three, ExecuteOptions{}), make_error_code(Errc::dimension_mismatch));
  EXPECT_EQ(code(CompiledFunction(), x, ExecuteOptions{}), make_error_code(Errc::kernel_not_found));
  const std::vector<float> negative{1, -1};
  EXPECT_EQ(code(function, negative, ExecuteOptions{}), error_code());
  EXPECT_EQ(code(function, negative, ExecuteOptions{.check_nan = true}),
            make_error_code(Errc::not_a_number));
  runtime.shutdown().value();
  EXPECT_EQ(code(function, x, ExecuteOptions{}), make_error_code(Errc::runtime_closed));
}

TEST_P(AsyncGraphs, AreCancelledOnce) {
  auto runtime = open();
  const CompiledFunction function = twice_and_log(runtime);
  const std::vector<float> x{1, 2};
  asio::io_context context;
  int cancelled = 0, finished = 0;
  for (int i = 0; i < 200; ++i) {
    asio::cancellation_signal signal;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
          auto [error, result] = co_await function.async_execute(
              x, asio::bind_cancellation_slot(signal.slot(), asio::as_tuple(asio::use_awaitable)));
          if (error)
            EXPECT_EQ(error, asio::error::operation_aborted);
          else
            EXPECT_THAT(result.template elements<float>(), ElementsAre(2, 4));
          ++(error ? cancelled : finished);
        },
        asio::detached);
    context.run_one();  // begins the coroutine
    signal.emit(asio::cancellation_type::total);
    context.run();
    context.restart();
  }
  EXPECT_EQ(cancelled + finished, 200);
}

TEST_P(AsyncGraphs, TellWhichOutputIsNotANumberIfAsked) {
  auto runtime = open();
  const CompiledFunction function = twice_and_log(runtime);
  const std::vector<float> negative{1, -1}, good{1, 2};
  const auto unasked = function.execute(negative);
  ASSERT_TRUE(unasked);
  EXPECT_TRUE(std::isnan(unasked->elements<float>(1)[1]));
  const auto asked = function.execute(negative, {.check_nan = true});
  ASSERT_FALSE(asked);
  EXPECT_TRUE(asked.error() == Errc::not_a_number);
  EXPECT_THAT(asked.error().detail, HasSubstr("'twice and log': output 1, f32[2], at element 1"));
  EXPECT_TRUE(function.execute(good, {.check_nan = true}));

  // Nothing of an input that is none is executed.
  const std::vector<float> wrong{std::nanf(""), 1};
  const std::uint64_t accepted = runtime.metrics(runtime.kernels().at(0))->accepted;
  const auto refused = function.execute(wrong, {.check_nan = true});
  EXPECT_TRUE(refused.error() == Errc::not_a_number);
  EXPECT_THAT(refused.error().detail, HasSubstr("'twice and log': input 0, f32[2], at element 0"));
  EXPECT_EQ(runtime.metrics(runtime.kernels().at(0))->accepted, accepted);

  // Infinity is a number, and so are the bits of any integer.
  Graph integers("integers");
  const auto i = integers.input({DType::i32, {1}});
  integers.output(integers.add(ops::copy(i)));
  const std::vector<std::int32_t> bits{0x7fc00000};
  EXPECT_TRUE(runtime.compile(integers)->execute(bits, {.check_nan = true}));
  const std::vector<float> infinite{std::numeric_limits<float>::infinity(), 1};
  EXPECT_TRUE(function.execute(infinite, {.check_nan = true}));
}

/// A relu makes a confident 0 of a NaN: of an input, and of a weight.
TEST_P(AsyncGraphs, ANumberThatIsNoneDoesNotHideBehindARelu) {
  auto runtime = open();
  const auto positive = [&](float weight) {
    Graph graph("positive");
    const auto x = graph.input({DType::f32, {2}});
    const std::vector<float> one{1, 1};
    const std::vector<float> weights{1, weight};
    (void)graph.constant(one);  // needed by nothing
    graph.output(graph.add(ops::relu(graph.add(ops::mul(x, weights)))));
    return runtime.compile(graph).value();
  };
  const std::vector<float> good{1, 2}, wrong{1, std::nanf("")};
  const CompiledFunction function = positive(1);
  EXPECT_THAT(function.execute(wrong)->elements<float>(), ElementsAre(1, 0));
  const auto input = function.execute(wrong, {.check_nan = true});
  ASSERT_FALSE(input);
  EXPECT_TRUE(input.error() == Errc::not_a_number);
  EXPECT_THAT(input.error().detail, HasSubstr("'positive': input 0, f32[2], at element 1"));
  const CompiledFunction spoilt = positive(std::nanf(""));
  EXPECT_THAT(spoilt.execute(good)->elements<float>(), ElementsAre(1, 0));
  const auto constant = spoilt.execute(good, {.check_nan = true});
  ASSERT_FALSE(constant);
  EXPECT_THAT(constant.error().detail, HasSubstr("'positive': constant 1, f32[2], at element 1"));
}

}  // namespace
}  // namespace ringkernel::test
