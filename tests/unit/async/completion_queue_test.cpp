#include "ringkernel/completion_queue.hpp"

#include <gmock/gmock.h>
#include <poll.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ringkernel::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using ::testing::ElementsAre;

class CompletionQueueTest : public ::testing::Test {
 protected:
  [[nodiscard]] bool is_readable() const {
    pollfd waited{.fd = queue_->descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&waited, 1, 0) == 1;
  }
  /// A handler that notes its number.
  void put(int number) {
    asio::post(queue_->get_executor(), [this, number] { ran_.push_back(number); });
  }

  const std::unique_ptr<CompletionQueue> queue_ = CompletionQueue::open().value();
  std::vector<int> ran_;
};

TEST_F(CompletionQueueTest, RunsHandlersInOrderInTheThreadThatPolls) {
  EXPECT_EQ(queue_->poll(), 0u);
  EXPECT_FALSE(is_readable());
  const std::thread::id here = std::this_thread::get_id();
  std::thread other([&] {
    asio::post(queue_->get_executor(), [&] { EXPECT_EQ(std::this_thread::get_id(), here); });
    put(1);
    put(2);
  });
  other.join();
  EXPECT_TRUE(ran_.empty());
  EXPECT_EQ(queue_->size(), 3u);
  EXPECT_TRUE(is_readable());
  EXPECT_EQ(queue_->poll(), 3u);
  EXPECT_THAT(ran_, ElementsAre(1, 2));
  EXPECT_FALSE(is_readable());
}

TEST_F(CompletionQueueTest, RunsNothingInsideWhatPutsIt) {
  asio::dispatch(queue_->get_executor(), [&] {
    put(1);
    asio::dispatch(queue_->get_executor(), [&] { ran_.push_back(2); });
    ran_.push_back(0);
  });
  EXPECT_TRUE(ran_.empty());
  EXPECT_EQ(queue_->poll(), 3u) << "what comes meanwhile is run too";
  EXPECT_THAT(ran_, ElementsAre(0, 1, 2));
  EXPECT_FALSE(is_readable());
}

TEST_F(CompletionQueueTest, IsReadableUntilNothingIsFound) {
  put(1);
  put(2);
  EXPECT_TRUE(queue_->poll_one());
  EXPECT_TRUE(is_readable()) << "one is left";
  EXPECT_TRUE(queue_->poll_one());
  EXPECT_FALSE(queue_->poll_one());
  EXPECT_FALSE(is_readable());
  put(3);
  EXPECT_TRUE(is_readable());
  EXPECT_TRUE(queue_->poll_one());
  put(4);  // before anybody has found nothing
  EXPECT_TRUE(is_readable());
  EXPECT_EQ(queue_->poll(), 1u);
  EXPECT_FALSE(is_readable());
}

TEST_F(CompletionQueueTest, WhatEndsWhileItIsInitiatedCostsTheDescriptorNothing) {
  EXPECT_EQ(queue_->poll_behind([&] {
    put(1);
    EXPECT_FALSE(is_readable());
  }),
            1u);
  EXPECT_THAT(ran_, ElementsAre(1));
  EXPECT_EQ(queue_->poll_behind([] {}), 0u);
  put(2);
  EXPECT_TRUE(is_readable()) << "nobody attends any more";
  EXPECT_EQ(queue_->poll_behind([&] { put(3); }), 2u);
  EXPECT_FALSE(is_readable());
}

TEST_F(CompletionQueueTest, WhatAnInitiationThrowsComesOutAndNothingIsLost) {
  const auto failing = [&] {
    put(1);
    throw std::runtime_error("no");
  };
  EXPECT_THROW(queue_->poll_behind(failing), std::runtime_error);
  EXPECT_TRUE(ran_.empty());
  EXPECT_TRUE(is_readable());
  put(2);
  EXPECT_EQ(queue_->poll(), 2u);
  EXPECT_THAT(ran_, ElementsAre(1, 2));
}

TEST_F(CompletionQueueTest, WhatAHandlerThrowsComesOutAndTheOthersStay) {
  put(1);
  asio::post(queue_->get_executor(), [] { throw std::runtime_error("no"); });
  put(2);
  EXPECT_THROW(queue_->poll(), std::runtime_error);
  EXPECT_THAT(ran_, ElementsAre(1));
  EXPECT_TRUE(is_readable());
  EXPECT_EQ(queue_->poll(), 1u);
  EXPECT_THAT(ran_, ElementsAre(1, 2));
  asio::post(queue_->get_executor(), [] { throw std::runtime_error("no"); });
  EXPECT_THROW(queue_->poll_one(), std::runtime_error);
  EXPECT_FALSE(queue_->poll_one());
  EXPECT_FALSE(is_readable());
}

/// After a throw nobody attends: what comes then tells the descriptor again.
TEST_F(CompletionQueueTest, ATaskAfterOneThatThrewIsTold) {
  asio::post(queue_->get_executor(), [] { throw std::runtime_error("no"); });
  EXPECT_THROW(queue_->poll(), std::runtime_error);
  EXPECT_FALSE(queue_->poll_one());
  put(1);
  EXPECT_TRUE(is_readable());
}

TEST_F(CompletionQueueTest, WaitsForAHandler) {
  EXPECT_FALSE(queue_->wait_for(0ns));
  EXPECT_FALSE(queue_->wait_for(1ns));
  EXPECT_EQ(queue_->run_for(1us), 0u);
  put(1);
  EXPECT_TRUE(queue_->poll_one());
  EXPECT_FALSE(queue_->wait_for(1us)) << "readable, and nothing there";
  std::thread other([&] { put(2); });
  EXPECT_EQ(queue_->run_for(-1ns), 1u);
  other.join();
  EXPECT_THAT(ran_, ElementsAre(1, 2));
}

TEST_F(CompletionQueueTest, DestroysUncalledWhatHasNotRun) {
  auto queue = CompletionQueue::open().value();
  const auto life = std::make_shared<int>(0);
  asio::post(queue->get_executor(), [&, life] { ran_.push_back(1); });
  EXPECT_EQ(life.use_count(), 2);
  queue.reset();
  EXPECT_EQ(life.use_count(), 1);
  EXPECT_TRUE(ran_.empty());
}

TEST_F(CompletionQueueTest, EndsCoroutinesThatHaveNotRunOut) {
  auto queue = CompletionQueue::open().value();
  const auto life = std::make_shared<int>(0);
  const auto waits = [](CompletionQueue& on, std::shared_ptr<int>) -> asio::awaitable<void> {
    co_await asio::post(on.get_executor(), asio::use_awaitable);
  };
  asio::co_spawn(queue->get_executor(), waits(*queue, life), asio::detached);
  ASSERT_TRUE(queue->poll_one());  // it waits now, and its end is there to be run
  asio::co_spawn(queue->get_executor(), waits(*queue, life), asio::detached);
  EXPECT_GT(life.use_count(), 1);
  queue.reset();
  EXPECT_EQ(life.use_count(), 1);
}

TEST_F(CompletionQueueTest, RunsCoroutines) {
  const auto numbers = [&]() -> asio::awaitable<void> {
    ran_.push_back(1);
    co_await asio::post(queue_->get_executor(), asio::use_awaitable);
    ran_.push_back(2);
  };
  asio::co_spawn(queue_->get_executor(), numbers(), asio::detached);
  EXPECT_TRUE(ran_.empty());
  queue_->poll();
  EXPECT_THAT(ran_, ElementsAre(1, 2));
}

}  // namespace
}  // namespace ringkernel::test
