// The threads of a runtime that messages do not wait for.
#include "async/service_thread.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <boost/asio/post.hpp>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "async/service_task.hpp"

namespace ringkernel::detail {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

TEST(ServiceThread, RunsWhatIsPostedOnOneThreadOfItsOwn) {
  ServiceThread service;
  std::vector<std::thread::id> threads;
  for (int i = 0; i < 3; ++i)
    asio::post(service.context(), [&] { threads.push_back(std::this_thread::get_id()); });
  EXPECT_TRUE(threads.empty()) << "there is no thread yet";
  service.start();
  service.start();
  service.finish();
  ASSERT_EQ(threads.size(), 3u);
  EXPECT_NE(threads[0], std::this_thread::get_id());
  EXPECT_EQ(threads[0], threads[1]);
  EXPECT_EQ(threads[0], threads[2]);
}

TEST(ServiceThread, WaitsForMoreUntilItIsToEnd) {
  std::array<std::promise<void>, 3> done;
  ServiceThread service;
  service.start();
  for (std::promise<void>& one : done) {
    asio::post(service.context(), [&] { one.set_value(); });
    one.get_future().get();
  }
  int runs = 0;
  asio::post(service.context(), [&] {
    asio::post(service.context(), [&] { ++runs; });
    ++runs;
  });
  service.finish();
  EXPECT_EQ(runs, 2) << "with what comes of it";
  service.finish();
}

TEST(ServiceThread, DestroysWhatHasNotBegun) {
  const auto kept = std::make_shared<int>(0);
  {
    std::promise<void> begun;
    std::promise<void> go_on;
    ServiceThread service;
    asio::post(service.context(), [&] {
      begun.set_value();
      go_on.get_future().get();
    });
    service.start();
    begun.get_future().get();
    asio::post(service.context(), [kept] { ++*kept; });
    service.context().stop();  // as the destructor does, before it waits
    go_on.set_value();
  }
  EXPECT_EQ(*kept, 0);
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(ServiceThread, RepeatsItsDutyBesideWhatIsPosted) {
  std::atomic<int> rounds{0};
  std::promise<void> third;
  std::promise<void> posted;
  ServiceThread service;
  service.repeat(1ms, [&] {
    if (++rounds == 3) third.set_value();
  });
  service.start();
  third.get_future().get();
  asio::post(service.context(), [&] { posted.set_value(); });
  posted.get_future().get();
}

TEST(ServiceThread, ServesOthersBetweenThePartsOfItsDuty) {
  std::promise<void> over;
  std::vector<int> order;
  ServiceThread service;
  service.serve_others();  // nothing: there is no duty
  asio::post(service.context(), [&] {
    service.serve_others();  // nothing: whoever is served does not serve
    order.push_back(1);
    throw std::bad_alloc();
  });
  asio::post(service.context(), [&] { order.push_back(2); });
  service.repeat(1h, [&] {
    service.serve_others();
    order.push_back(3);
    asio::post(service.context(), [&] { order.push_back(4); });
    service.serve_others();
    over.set_value();  // twice would throw
  });
  service.start();
  over.get_future().get();
  service.finish();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST(ServiceThread, WhoPostsItselfForEverDoesNotKeepADutyFromItsEnd) {
  std::promise<void> over;
  ServiceThread service;
  std::function<void()> again = [&] { asio::post(service.context(), again); };
  asio::post(service.context(), again);
  service.repeat(1h, [&] {
    service.serve_others();
    over.set_value();
  });
  service.start();
  over.get_future().get();
  service.context().stop();
  service.finish();
}

TEST(ServiceThread, DoesNotWaitForThePeriodToBeginOrToEnd) {
  std::promise<void> first;
  std::promise<void> posted;
  ServiceThread service;
  service.repeat(1h, [&] { first.set_value(); });  // twice would throw
  service.start();
  first.get_future().get();
  asio::post(service.context(), [&] { posted.set_value(); });
  posted.get_future().get();
}

TEST(ServiceThread, OutlivesALackOfMemory) {
  std::atomic<int> rounds{0};
  std::promise<void> second;
  ServiceThread service;
  service.repeat(1ms, [&] {
    if (++rounds == 2) second.set_value();
    throw std::bad_alloc();
  });
  asio::post(service.context(), [] { throw std::bad_alloc(); });
  bool has_run = false;
  asio::post(service.context(), [&] { has_run = true; });
  service.start();
  second.get_future().get();
  service.finish();
  EXPECT_TRUE(has_run);
}

class CountingTask final : public ServiceTask {
 public:
  using ServiceTask::ServiceTask;
  ~CountingTask() = default;
  std::atomic<int> given{0};
  int runs = 0;
  int seen = 0;
  int repeats = 0;

 private:
  void run() noexcept override {
    ++runs;
    seen += given.exchange(0, std::memory_order_relaxed);
    if (repeats-- > 0) post();
  }
};

TEST(ServiceTask, RunsOnceForAllThatAskedBefore) {
  ServiceThread service;
  const auto task = std::make_shared<CountingTask>(service);
  for (int i = 0; i < 3; ++i) task->post();
  service.start();
  service.finish();
  EXPECT_EQ(task->runs, 1);
}

TEST(ServiceTask, RunsAgainIfItIsAskedMeanwhile) {
  ServiceThread service;
  const auto task = std::make_shared<CountingTask>(service);
  task->repeats = 2;
  task->post();
  service.start();
  service.finish();
  EXPECT_EQ(task->runs, 3);
}

/// Whatever was given before a `post` has been seen when the thread has ended.
TEST(ServiceTask, ForgetsNobodyAmongThreads) {
  constexpr int each = 5000;
  ServiceThread service;
  const auto task = std::make_shared<CountingTask>(service);
  service.start();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i < each; ++i) {
        task->given.fetch_add(1, std::memory_order_relaxed);
        task->post();
      }
    });
  for (std::thread& thread : threads) thread.join();
  service.finish();
  EXPECT_EQ(task->seen, 3 * each);
}

TEST(ServiceTask, IsKeptWhileItIsPosted) {
  std::weak_ptr<CountingTask> weak;
  {
    ServiceThread service;
    {
      const auto task = std::make_shared<CountingTask>(service);
      weak = task;
      task->post();
    }
    EXPECT_FALSE(weak.expired());
  }
  EXPECT_TRUE(weak.expired()) << "with what has not begun";
}

}  // namespace
}  // namespace ringkernel::detail
