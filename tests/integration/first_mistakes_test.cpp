// What everybody gets wrong once: it is said at once, with the state or the reason, and waits for
// nothing.
#include <gmock/gmock.h>

#include <boost/asio/use_future.hpp>
#include <thread>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

RK_ON_EACH_BACKEND(FirstMistakes);

TEST_P(FirstMistakes, ACallOnAKernelThatNobodyActivatedIsRefused) {
  auto runtime = open();
  Kernel kernel = runtime.launch("adder", {.program = "echo"}).value();
  const auto message = numbered(1);
  const auto refused = kernel.call(message, 20s);
  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error(), Errc::invalid_state);
  EXPECT_THAT(refused.error().detail, HasSubstr("kernel 'adder' is launched"));
  EXPECT_THAT(refused.error().detail, HasSubstr("activate it first"));
  EXPECT_EQ(runtime.call("adder", Bytes(message), 20s).error(), Errc::invalid_state);
  FutureCode asynchronous;
  kernel.async_call(Bytes(message), {.timeout = 20s}, asynchronous.token());
  EXPECT_EQ(asynchronous.get(), Errc::invalid_state);
  FutureCode by_id;
  runtime.async_call("adder", Bytes(message), {.timeout = 20s}, by_id.token());
  EXPECT_EQ(by_id.get(), Errc::invalid_state);
  EXPECT_EQ(kernel.metrics().accepted, 0u);
  EXPECT_EQ(runtime.errors().at(0).count, 4u);
  kernel.activate().value();
  EXPECT_EQ(number_of(kernel.call(message).value()), 1u);
}

TEST_P(FirstMistakes, WhatIsSentBeforeTheActivationIsQueued) {
  auto runtime = open();
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  ASSERT_TRUE(kernel.send(numbered(1)));
  kernel.activate().value();
  EXPECT_EQ(number_of(kernel.receive(20s).value()), 1u);
}

TEST_P(FirstMistakes, ACallOnADeactivatedKernelWaitsForItsActivation) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a");
  const auto message = numbered(1);
  auto reply = kernel.async_call(Bytes(message), boost::asio::use_future);
  EXPECT_EQ(kernel.metrics().in_flight, 1u);
  kernel.activate().value();
  EXPECT_EQ(number_of(reply.get()), 1u);
}

TEST_P(FirstMistakes, WhoWaitedInVainLearnsTheStateOfTheKernel) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a");
  const auto late = kernel.call(numbered(1), 5ms);
  ASSERT_TRUE(late.has_error());
  EXPECT_EQ(late.error(), Errc::deadline_exceeded);
  EXPECT_THAT(late.error().detail, HasSubstr("kernel 'a' is deactivated"));
  EXPECT_THAT(late.error().detail, HasSubstr("until it is activated"));
  Kernel launched = runtime.launch("b", {.program = "echo"}).value();
  EXPECT_THAT(launched.receive(1ms).error().detail, HasSubstr("kernel 'b' is launched"));
}

KernelOptions four_in_flight() { return {.program = "echo", .in_flight_max = 4}; }

TEST_P(FirstMistakes, ASenderWhoseAnswersNobodyReceivesDoesNotWaitForEver) {
  auto runtime = open({.send_timeout = 20ms});
  Kernel kernel = active(runtime, "a", four_in_flight());
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(kernel.send(numbered(i)));
  const auto refused = kernel.send(numbered(4));
  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error(), Errc::queue_full);
  EXPECT_THAT(refused.error().detail, HasSubstr("nobody receives: 4 answered messages wait"));
  EXPECT_EQ(kernel.metrics().expired, 0u);
  const auto message = numbered(4);
  const std::array<Bytes, 2> messages{message, message};
  EXPECT_EQ(kernel.send_all(messages).error(), Errc::queue_full);
  FutureCode asynchronous;
  kernel.async_send(Bytes(message), asynchronous.token());
  EXPECT_EQ(asynchronous.get(), Errc::queue_full);
  const auto late = kernel.send(message, {.timeout = 5ms});
  EXPECT_EQ(late.error(), Errc::deadline_exceeded);
  EXPECT_THAT(late.error().detail, HasSubstr("nobody receives"));
  ASSERT_TRUE(kernel.receive(20s));
  EXPECT_TRUE(kernel.send(message));
}

TEST_P(FirstMistakes, ASenderToAKernelThatRunsNothingLearnsThat) {
  auto runtime = open({.send_timeout = 5ms});
  Kernel kernel = runtime.launch("a", four_in_flight()).value();
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(kernel.send(numbered(i)));
  const auto refused = kernel.send(numbered(4));
  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error(), Errc::queue_full);
  EXPECT_THAT(refused.error().detail, HasSubstr("kernel 'a' is launched"));
}

TEST_P(FirstMistakes, ASenderWithoutATimeoutWaitsForRoom) {
  auto runtime = open({.send_timeout = 0ns});
  Kernel kernel = active(runtime, "a", four_in_flight());
  std::thread sender([kernel]() mutable {
    for (std::uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(kernel.send(numbered(i)));
  });
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(number_of(kernel.receive(20s).value()), i);
  sender.join();
}

}  // namespace
}  // namespace ringkernel::test
