// A service whose coroutines talk to ring kernels from the user's own io_context: concurrent calls,
// a stream of plain messages, and a call that is given up after a while. Exit code 0 if all went
// well.
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdio>
#include <exception>
#include <vector>

#include "ringkernel/ringkernel.hpp"

namespace asio = boost::asio;
namespace rk = ringkernel;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

namespace {

constexpr int clients = 4;
constexpr int requests_per_client = 100;
constexpr int samples = 20;

/// What the coroutines report. All of them run on the one thread of the io_context.
struct Tally {
  int answers = 0;
  int samples_in_order = 0;
  bool gave_up = false;
};

/// Two calls, the second on the first one's reply; or why not, with the text that `call` gives.
asio::awaitable<rk::Result<float>> sum_of_squares(rk::Kernel kernel, rk::TensorView x) {
  const auto result = rk::as_result(asio::use_awaitable);
  RK_CO_TRY(squares, co_await kernel.async_call(rk::ops::mul(x, x), result));
  RK_CO_TRY(sum, co_await kernel.async_call(rk::ops::sum_all(squares.tensor()), result));
  co_return sum.floats()[0];
}

/// One client, whose error ends the service.
asio::awaitable<void> client(rk::Kernel kernel, float number, Tally& tally) {
  for (int i = 0; i < requests_per_client; ++i) {
    const std::array x{number, number + 1.0f, static_cast<float>(i)};
    const float sum = (co_await sum_of_squares(kernel, x)).value();
    if (sum == x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) ++tally.answers;
  }
}

/// Sends samples without waiting for results ...
asio::awaitable<void> sensor(rk::Kernel kernel) {
  for (int i = 0; i < samples; ++i) {
    const std::array sample{static_cast<float>(i), -1.0f};
    co_await kernel.async_send(rk::ops::relu(sample), asio::use_awaitable);
  }
}

/// ... which another coroutine receives in the order in which they were sent.
asio::awaitable<void> recorder(rk::Kernel kernel, Tally& tally) {
  for (int i = 0; i < samples; ++i) {
    const rk::Reply reply = co_await kernel.async_receive(asio::use_awaitable);
    if (reply.floats()[0] == static_cast<float>(i)) ++tally.samples_in_order;
  }
}

/// Whichever comes first wins, the other is cancelled. This kernel is deactivated: it takes
/// messages and runs none, so the timer wins; the call ends with operation_aborted.
asio::awaitable<void> impatient(rk::Kernel idle, Tally& tally) {
  const std::array x{1.0f};
  asio::steady_timer timer(co_await asio::this_coro::executor, 20ms);
  const auto winner = co_await (idle.async_call(rk::ops::relu(x), asio::use_awaitable) ||
                                timer.async_wait(asio::use_awaitable));
  tally.gave_up = winner.index() == 1 && idle.metrics().cancelled == 1;
}

asio::awaitable<void> serve(rk::RingKernelRuntime& runtime, Tally& tally) {
  const auto launch = [&](const char* id) {
    return runtime.async_launch(id, {.auto_activate = true}, asio::use_awaitable);
  };
  rk::Kernel math = co_await launch("math");
  rk::Kernel stream = co_await launch("stream");
  rk::Kernel idle = co_await launch("idle");
  co_await idle.async_deactivate(asio::use_awaitable);

  static_assert(clients == 4);
  co_await (client(math, 1.0f, tally) && client(math, 2.0f, tally) && client(math, 3.0f, tally) &&
            client(math, 4.0f, tally) && sensor(stream) && recorder(stream, tally) &&
            impatient(idle, tally));

  for (rk::Kernel kernel : {math, stream, idle})
    co_await kernel.async_terminate({.drain = true}, asio::use_awaitable);
}

}  // namespace

int main() try {
  // In this order the runtime goes first, and what then is under way ends on the context's terms;
  // the other way round the context destroys coroutines that still wait.
  Tally tally;
  asio::io_context context(1);
  rk::RingKernelRuntime runtime = rk::RingKernelRuntime::builder().build().value();
  asio::co_spawn(context, serve(runtime, tally), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);  // leaves context.run()
  });
  context.run();

  std::printf("%d of %d answers right\n", tally.answers, clients * requests_per_client);
  std::printf("%d of %d samples in order\n", tally.samples_in_order, samples);
  std::printf("impatient call %s\n", tally.gave_up ? "cancelled by its timer" : "NOT cancelled");
  const bool good = tally.answers == clients * requests_per_client &&
                    tally.samples_in_order == samples && tally.gave_up;
  return good && runtime.kernels().empty() ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "coroutine_service: %s\n", error.what());
  return 1;
}
