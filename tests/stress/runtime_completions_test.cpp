// One queue into which several threads complete while another one, or several, wait for its
// descriptor: nothing is lost, and nobody waits for what is there.
#include <poll.h>

#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "ringkernel/completion_queue.hpp"
#include "support/backends.hpp"
#include "support/stress.hpp"

namespace ringkernel::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr std::uint64_t posts_full = 400'000;
constexpr std::uint64_t poster_count = 4;
constexpr std::uint64_t queue_calls_full = 50'000;
constexpr auto forever = 60s;  // whoever waits as long has been forgotten

/// As an event loop does it.
bool wait_for_descriptor(const CompletionQueue& queue) {
  pollfd waited{.fd = queue.descriptor(), .events = POLLIN, .revents = 0};
  return ::poll(&waited, 1, static_cast<int>(std::chrono::milliseconds(forever).count())) == 1;
}

class Posters {
 public:
  /// Each posts `each` handlers, that count, in bursts, and waits now and then until all that it
  /// posted have run: then the queue is empty, and the next one has to be told.
  Posters(CompletionQueue& queue, std::uint64_t each, std::uint64_t seed) {
    for (std::uint64_t i = 0; i < poster_count; ++i)
      threads_.emplace_back([this, &queue, each, seed, i] {
        Dice dice(seed, i);
        std::atomic<std::uint64_t> mine{0};
        for (std::uint64_t posted = 1; posted <= each; ++posted) {
          asio::post(queue.get_executor(), [this, &mine] {
            ran_.fetch_add(1);
            mine.fetch_add(1);
          });
          if (dice.hits(20) || posted == each)
            while (mine.load() != posted) std::this_thread::yield();
        }
      });
  }
  Posters(const Posters&) = delete;
  Posters& operator=(const Posters&) = delete;
  ~Posters() {
    for (std::thread& thread : threads_) thread.join();
  }
  [[nodiscard]] std::uint64_t ran() const { return ran_.load(); }

 private:
  std::atomic<std::uint64_t> ran_{0};
  std::vector<std::thread> threads_;
};

TEST(CompletionQueueStress, OneThreadPollsAndLosesNothing) {
  const std::uint64_t seed = announce_seed();
  const std::uint64_t each = scaled(posts_full, 400) / poster_count;
  const auto queue = CompletionQueue::open().value();
  Posters posters(*queue, each, seed);
  Dice dice(seed, poster_count);
  std::uint64_t own = 0, own_ran = 0;
  while (posters.ran() < each * poster_count) {
    ASSERT_TRUE(wait_for_descriptor(*queue))
        << posters.ran() << " ran, " << queue->size() << " wait";
    switch (dice.below(4)) {
      case 0: queue->poll(); break;
      case 1: (void)queue->poll_one(); break;
      case 2:
        while (queue->poll_one()) {
        }
        break;
      default:
        ++own;
        queue->poll_behind([&] { asio::post(queue->get_executor(), [&] { ++own_ran; }); });
    }
  }
  queue->poll();
  EXPECT_EQ(own_ran, own);
}

TEST(CompletionQueueStress, SeveralThreadsPollAndLoseNothing) {
  const std::uint64_t seed = announce_seed();
  const std::uint64_t each = scaled(posts_full, 400) / poster_count;
  const auto queue = CompletionQueue::open().value();
  Posters posters(*queue, each, seed);
  std::atomic<bool> is_lost{false};
  std::vector<std::thread> pollers;
  for (std::uint64_t i = 0; i < 3; ++i)
    pollers.emplace_back([&, i] {
      Dice dice(seed, 100 + i);
      const auto begin = std::chrono::steady_clock::now();
      while (posters.ran() < each * poster_count && !is_lost) {
        if (queue->wait_for(1ms)) {  // another one may have run it
          dice.hits(50) ? (void)queue->poll() : (void)queue->poll_one();
        } else if (std::chrono::steady_clock::now() - begin > 10 * forever) {
          is_lost = true;
        }
      }
    });
  for (std::thread& poller : pollers) poller.join();
  EXPECT_FALSE(is_lost);
  EXPECT_EQ(posters.ran(), each * poster_count);
}

/// Calls whose replies other threads find, among them ones whose kernels are served by a thread of
/// the runtime; a few are cancelled by nobody: each handler runs once, in this thread.
TEST(CompletionQueueStress, CallsOfManyThreadsEndInOne) {
  const std::uint64_t count = scaled(queue_calls_full, 200) / poster_count;
  auto runtime = RingKernelRuntime::builder().backend("native").build().value();
  const auto queue = CompletionQueue::open().value();
  std::atomic<std::uint64_t> failed{0};
  std::atomic<std::uint64_t> wrong_thread{0};
  std::uint64_t ended = 0;  // this thread's
  const std::thread::id here = std::this_thread::get_id();
  std::vector<std::thread> callers;
  for (std::uint64_t i = 0; i < poster_count; ++i)
    callers.emplace_back([&, i] {
      Kernel kernel = runtime.launch("caller " + std::to_string(i), {.program = "echo"}).value();
      kernel.activate().value();
      for (std::uint64_t call = 0; call < count; ++call) {
        const std::uint64_t number = i * count + call;
        kernel.async_call(Bytes(std::as_bytes(std::span(&number, 1))),
                          // A timeout of its own: the initiating thread does not run it.
                          {.timeout = call % 3 == 0 ? 120s : 0s},
                          asio::bind_executor(queue->get_executor(),
                                              [&, number](error_code error, const Reply& reply) {
                                                if (std::this_thread::get_id() != here)
                                                  ++wrong_thread;
                                                if (error || number_of(reply) != number) ++failed;
                                                ++ended;
                                              }));
      }
    });
  while (ended < count * poster_count) {
    ASSERT_TRUE(wait_for_descriptor(*queue)) << ended << " ended";
    queue->poll();
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failed, 0u);
  EXPECT_EQ(wrong_thread, 0u);
  EXPECT_FALSE(queue->poll_one());
}

}  // namespace
}  // namespace ringkernel::test
