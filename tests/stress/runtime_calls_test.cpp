// Calls from many callers at once, threads and coroutines, some cancelled, some with deadlines that
// nobody can keep: each ends exactly once, with its own data, and leaves nothing behind.
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <list>
#include <thread>

#include "support/backends.hpp"
#include "support/stress.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr std::uint64_t calls_full = 1'000'000;
constexpr std::uint64_t caller_count = 256;
constexpr std::uint64_t thread_count = 32;  // of the callers; the others are coroutines
constexpr std::size_t context_count = 2;    // io_contexts that the coroutines share, a thread each
constexpr std::size_t called_kernel_count = 4;

/// How the calls ended, as the callers saw it.
struct Outcomes {
  std::atomic<std::uint64_t> replied{0};
  std::atomic<std::uint64_t> expired{0};
  std::atomic<std::uint64_t> cancelled{0};
  std::atomic<std::uint64_t> wrong_data{0};
  std::atomic<std::uint64_t> other{0};

  void count(error_code error, const Reply& reply, std::uint64_t number) {
    if (!error && number_of(reply) == number)
      ++replied;
    else if (!error)
      ++wrong_data;
    else if (error == Errc::deadline_exceeded)
      ++expired;
    else if (error == asio::error::operation_aborted)
      ++cancelled;
    else
      ++other;
  }
};

/// One in twenty has a deadline that the device may or may not meet.
std::chrono::nanoseconds any_timeout(Dice& dice) {
  if (!dice.hits(5)) return 120s;
  return std::chrono::nanoseconds(1 + dice.below(300'000));
}

class Callers {
 public:
  Callers(std::vector<Kernel> kernels, std::uint64_t calls_each, std::uint64_t seed)
      : kernels_(std::move(kernels)), calls_each_(calls_each), seed_(seed) {}

  void run() {
    std::vector<std::thread> threads;
    for (std::uint64_t caller = 0; caller < thread_count; ++caller)
      threads.emplace_back([this, caller] { call_from_thread(caller); });
    std::list<asio::io_context> contexts;
    for (std::size_t i = 0; i < context_count; ++i) contexts.emplace_back(1);
    auto context = contexts.begin();
    for (std::uint64_t caller = thread_count; caller < caller_count; ++caller) {
      asio::co_spawn(*context, call_from_coroutine(caller), asio::detached);
      if (++context == contexts.end()) context = contexts.begin();
    }
    for (asio::io_context& each : contexts) threads.emplace_back([&each] { each.run(); });
    for (std::thread& thread : threads) thread.join();
  }

  [[nodiscard]] const Outcomes& outcomes() const { return outcomes_; }

 private:
  void call_from_thread(std::uint64_t caller) {
    Dice dice(seed_, caller);
    for (std::uint64_t i = 0; i < calls_each_; ++i) {
      const std::uint64_t number = caller << 32 | i;
      const auto message = numbered(number);
      const auto reply = any_kernel(dice).call(Bytes(message), any_timeout(dice));
      if (reply)
        outcomes_.count({}, *reply, number);
      else
        outcomes_.count(reply.error().code, Reply(), number);
    }
  }

  asio::awaitable<void> call_from_coroutine(std::uint64_t caller) {
    Dice dice(seed_, caller);
    const auto executor = co_await asio::this_coro::executor;
    for (std::uint64_t i = 0; i < calls_each_; ++i) {
      const std::uint64_t number = caller << 32 | i;
      const auto message = numbered(number);
      asio::cancellation_signal signal;
      // Runs when this coroutine is suspended: the call is under way, or over.
      const bool cancels = dice.hits(1);
      bool cancelled = !cancels;
      if (cancels)
        asio::post(executor, [&] {
          signal.emit(asio::cancellation_type::total);
          cancelled = true;
        });
      auto [error, reply] = co_await any_kernel(dice).async_call(
          Bytes(message), SendOptions{.timeout = any_timeout(dice)},
          asio::bind_cancellation_slot(signal.slot(), asio::as_tuple(asio::use_awaitable)));
      outcomes_.count(error, reply, number);
      while (!cancelled) co_await asio::post(executor, asio::use_awaitable);
    }
  }

  Kernel& any_kernel(Dice& dice) { return kernels_[dice.below(kernels_.size())]; }

  std::vector<Kernel> kernels_;
  const std::uint64_t calls_each_;
  const std::uint64_t seed_;
  Outcomes outcomes_;
};

RK_ON_EACH_BACKEND(RuntimeCalls);

TEST_P(RuntimeCalls, EachEndsOnceWithItsOwnDataAndLeavesNoSlotBehind) {
  const std::uint64_t seed = announce_seed();
  auto runtime = open();
  std::vector<Kernel> kernels;
  for (std::size_t i = 0; i < called_kernel_count; ++i)
    kernels.push_back(active(runtime, "k" + std::to_string(i),
                             {.program = "echo",
                              .input_bytes = 8192,
                              .output_bytes = 8192,
                              .in_flight_max = 48,
                              .queue_max = 16}));
  const std::uint64_t calls_each = scaled((calls_full + caller_count - 1) / caller_count, 20);
  Callers callers(kernels, calls_each, seed);
  callers.run();

  const Outcomes& seen = callers.outcomes();
  std::cout << "replied " << seen.replied << ", expired " << seen.expired << ", cancelled "
            << seen.cancelled << '\n';
  EXPECT_EQ(seen.wrong_data, 0u);
  EXPECT_EQ(seen.other, 0u);
  EXPECT_EQ(seen.replied + seen.expired + seen.cancelled, calls_each * caller_count);
  std::uint64_t replied = 0;
  for (Kernel& kernel : kernels) {
    EXPECT_EQ(kernel.metrics().in_flight, 0u);
    EXPECT_EQ(kernel.metrics().queued, 0u);
    // A message behind all others: what the device still had to answer has been counted.
    EXPECT_TRUE(kernel.call(numbered(0), 60s));
    const KernelMetrics metrics = kernel.metrics();
    EXPECT_EQ(metrics.accepted, metrics.replied + metrics.failed);
    EXPECT_EQ(metrics.messages_out, metrics.replied + metrics.late);
    replied += metrics.replied - 1;
    kernel.terminate().value();
    EXPECT_EQ(kernel.metrics().accepted, metrics.accepted);
  }
  EXPECT_EQ(replied, seen.replied);
}

}  // namespace
}  // namespace ringkernel::test
