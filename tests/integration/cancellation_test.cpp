// Cancellation slots: an operation is cancelled at each stage of a message's way, and what that
// leaves.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>
#include <thread>

#include "integration/sizes.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

RK_ON_EACH_BACKEND(Cancellation);

/// One operation with a cancellation slot, on a context of its own.
class Cancellable {
 public:
  auto token() {
    return asio::bind_cancellation_slot(
        signal_.slot(), asio::bind_executor(context_, [this](error_code error, auto&&...) {
          EXPECT_FALSE(error_) << "the handler is called once";
          error_ = error;
        }));
  }
  void cancel(asio::cancellation_type type = asio::cancellation_type::total) { signal_.emit(type); }
  /// Runs the context until the handler has been called.
  error_code result() {
    context_.run();
    return error_.value();
  }

 private:
  asio::io_context context_;
  asio::cancellation_signal signal_;
  std::optional<error_code> error_;
};

const error_code aborted = asio::error::operation_aborted;

TEST_P(Cancellation, EachTypeEndsACallThatTheDeviceMayHave) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a");
  const auto message = numbered(1);
  for (const auto type : {asio::cancellation_type::total, asio::cancellation_type::partial,
                          asio::cancellation_type::terminal}) {
    Cancellable call;
    kernel.async_call(Bytes(message), call.token());
    call.cancel(type);
    EXPECT_EQ(call.result(), aborted);
  }
  EXPECT_EQ(kernel.metrics().cancelled, 3u);
  EXPECT_EQ(kernel.metrics().in_flight, 0u);
  // The messages lie in the ring: they are executed, and their replies are late.
  kernel.activate().value();
  EXPECT_EQ(number_of(kernel.call(numbered(2)).value()), 2u);
  EXPECT_EQ(kernel.metrics().late, 3u);
}

TEST_P(Cancellation, ACallThatIsQueuedOnTheHostIsNeverExecuted) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a", {.program = "echo", .input_bytes = 4096});
  const auto message = plain(half_ring);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(kernel.send(message));
  Cancellable call;
  kernel.async_call(Bytes(message), call.token());
  EXPECT_EQ(kernel.metrics().queued, 1u);
  call.cancel();
  EXPECT_EQ(call.result(), aborted);
  kernel.activate().value();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(kernel.receive(10s));
  EXPECT_TRUE(kernel.call(message));
  EXPECT_EQ(kernel.metrics().messages_in, 3u);
  EXPECT_EQ(kernel.metrics().late, 0u);
}

TEST_P(Cancellation, WhoWaitsForRoomIsWithdrawn) {
  auto runtime = open();
  Kernel kernel = resting(runtime, "a", {.program = "echo", .in_flight_max = 1, .queue_max = 1});
  ASSERT_TRUE(kernel.send(numbered(1)));
  const auto message = numbered(2);
  Cancellable call;
  Cancellable send;
  kernel.async_call(Bytes(message), call.token());
  kernel.async_send(Bytes(message), send.token());
  EXPECT_EQ(kernel.metrics().queued, 2u);
  call.cancel();
  send.cancel();
  EXPECT_EQ(call.result(), aborted);
  EXPECT_EQ(send.result(), aborted);
  EXPECT_EQ(kernel.metrics().queued, 0u);
  EXPECT_EQ(kernel.metrics().accepted, 1u);
  kernel.activate().value();
  EXPECT_EQ(number_of(kernel.receive(10s).value()), 1u);
  EXPECT_EQ(number_of(kernel.call(numbered(3)).value()), 3u);
  EXPECT_EQ(kernel.metrics().messages_in, 2u);
}

TEST_P(Cancellation, ACancelledReceiverTakesNoMessageWithIt) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  Cancellable first;
  Cancellable second;
  kernel.async_receive(first.token());
  kernel.async_receive(second.token());
  first.cancel();
  EXPECT_EQ(first.result(), aborted);
  ASSERT_TRUE(kernel.send(numbered(1)));
  EXPECT_FALSE(second.result());
  ASSERT_TRUE(kernel.send(numbered(2)));
  EXPECT_EQ(number_of(kernel.receive(10s).value()), 2u);
}

TEST_P(Cancellation, AfterTheEndItHasNoEffect) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  const auto message = numbered(1);
  Cancellable call;
  kernel.async_call(Bytes(message), call.token());
  EXPECT_FALSE(call.result());
  call.cancel();
  Cancellable send;
  kernel.async_send(Bytes(message), send.token());
  send.cancel();  // accepted already: its outcome goes to the mailbox
  EXPECT_FALSE(send.result());
  EXPECT_TRUE(kernel.receive(10s));
  EXPECT_EQ(kernel.metrics().cancelled, 0u);
}

// The reply and the cancellation race: whoever comes first wins, and no slot is lost.
TEST_P(Cancellation, RacesWithTheReply) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a", {.program = "echo", .in_flight_max = 4});
  const auto message = numbered(1);
  int replied = 0;
  for (int i = 0; i < 500; ++i) {
    Cancellable call;
    kernel.async_call(Bytes(message), call.token());
    for (int spin = 0; spin < i % 50; ++spin) std::this_thread::yield();
    call.cancel();
    const error_code error = call.result();
    replied += error ? 0 : 1;
    ASSERT_TRUE(!error || error == aborted) << error.message();
  }
  EXPECT_TRUE(kernel.call(message));
  const KernelMetrics metrics = kernel.metrics();
  EXPECT_EQ(metrics.replied, static_cast<std::uint64_t>(replied) + 1);
  EXPECT_EQ(metrics.accepted, metrics.replied + metrics.cancelled);
  EXPECT_EQ(metrics.in_flight, 0u);
}

}  // namespace
}  // namespace ringkernel::test
