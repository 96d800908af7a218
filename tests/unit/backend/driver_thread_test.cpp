// The thread that is inside the driver for others, without a driver: jobs in their order, questions
// that are never lost, ends that wait; work that nobody waits for any more; and the ledger of what
// has ended.
#include "backend/opencl/driver_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "backend/opencl/driver_queue.hpp"
#include "backend/opencl/wait_for_driver.hpp"

namespace ringkernel::opencl {
namespace {

using namespace std::chrono_literals;

/// Keeps whoever comes until it is opened, as a driver does that hangs for a while.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++visitors_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
  }
  /// Until somebody is kept here, or was.
  void wait_for_visitor() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return visitors_ != 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  int visitors_ = 0;
};

bool look_at_nothing() { return false; }

TEST(DriverThread, DoesTheJobsOfEachInTheirOrderBeforeItEnds) {
  constexpr std::size_t posters = 4;
  constexpr int jobs = 5000;
  std::vector<std::vector<int>> done(posters);  // the thread's alone, until it has ended
  {
    DriverThread driver(look_at_nothing);
    std::vector<std::thread> threads;
    for (std::size_t poster = 0; poster < posters; ++poster)
      threads.emplace_back([&, poster] {
        for (int job = 0; job < jobs; ++job)
          driver.post([&done, poster, job] { done[poster].push_back(job); });
      });
    for (std::thread& thread : threads) thread.join();
  }
  for (const std::vector<int>& of_one : done) {
    ASSERT_EQ(of_one.size(), static_cast<std::size_t>(jobs));
    for (int job = 0; job < jobs; ++job) ASSERT_EQ(of_one[static_cast<std::size_t>(job)], job);
  }
}

/// Each asks once and waits: a question that was lost would keep it for ever.
TEST(DriverThread, LosesNoQuestion) {
  constexpr int rounds = 5000;
  std::atomic<std::uint64_t> ended{0};  // what a look finds: all that has begun by then
  std::atomic<std::uint64_t> begun{0};
  DriverThread driver([&] {
    ended.store(begun.load());
    return true;
  });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        const std::uint64_t mine = ++begun;
        driver.ask();
        while (ended.load() < mine) std::this_thread::yield();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ended.load(), begun.load());
}

TEST(DriverThread, LooksAgainAndAgainWhileSomebodyWatches) {
  std::atomic<int> looks{0};
  DriverThread driver([&] {
    ++looks;
    return true;
  });
  const DriverThread::Watch watch(driver);
  while (looks.load() < 100) std::this_thread::yield();
}

/// Watches come and go while jobs do, and each finds what was posted before it.
TEST(DriverThread, AWatchFindsTheEndOfWhatWasPostedBeforeIt) {
  constexpr int rounds = 2000;
  std::atomic<std::uint64_t> given{0};
  std::atomic<std::uint64_t> ended{0};
  DriverThread driver([&] {
    ended.store(given.load());
    return false;  // until a job comes
  });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        std::atomic<std::uint64_t> mine{0};
        driver.post([&] { mine.store(++given); });
        const DriverThread::Watch watch(driver);
        while (mine.load() == 0 || ended.load() < mine.load()) std::this_thread::yield();
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(DriverThread, NobodyWaitsForAJobThatHangsAndItsCallIsTold) {
  Gate gate;
  DriverThread driver(look_at_nothing);
  driver.post([&] {
    const InDriver inside("clHang");
    gate.pass();
  });
  gate.wait_for_visitor();
  std::atomic<bool> is_done{false};
  driver.post([&] { is_done.store(true); });
  driver.ask();
  while (driver.stuck_text().empty()) std::this_thread::yield();
  EXPECT_NE(driver.stuck_text().find("has not come back from clHang for"), std::string::npos);
  EXPECT_NE(longest_call_text().find("clHang"), std::string::npos);
  EXPECT_FALSE(is_done.load());
  gate.open();
  while (!is_done.load()) std::this_thread::yield();
  EXPECT_EQ(driver.stuck_text(), "");
}

TEST(WaitForDriver, GivesWhatTheWorkGivesAndItsErrors) {
  const auto value = wait_for_driver(
      "work", 60s, []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); });
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(**value, 7);
  const auto error = wait_for_driver(
      "work", 60s, []() -> Result<void> { return Error(Errc::build_failed, "why"); });
  EXPECT_EQ(error.error(), Errc::build_failed);
  EXPECT_EQ(error.error().detail, "why");
  const auto thrown =
      wait_for_driver("work", 60s, []() -> Result<void> { throw std::bad_alloc(); });
  EXPECT_EQ(thrown.error(), Errc::allocation_failure);
}

/// What it made, and what it shared, goes when it comes back.
TEST(WaitForDriver, LeavesWorkThatHangsToItsThread) {
  const auto gate = std::make_shared<Gate>();
  auto shared = std::make_shared<int>(1);
  std::weak_ptr<int> kept = shared;
  std::weak_ptr<int> made;
  std::mutex mutex;  // guards `made`
  {
    const auto work = [gate, shared, &made, &mutex]() -> Result<std::shared_ptr<int>> {
      auto result = std::make_shared<int>(2);
      {
        const std::lock_guard lock(mutex);
        made = result;
      }
      const InDriver inside("clHang");
      gate->pass();
      return result;
    };
    const auto late = wait_for_driver("work", 100ms, work);
    ASSERT_TRUE(late.has_error());
    EXPECT_EQ(late.error(), Errc::execution_timeout);
    EXPECT_NE(late.error().detail.find("work has not ended in time"), std::string::npos);
  }
  shared.reset();
  EXPECT_FALSE(kept.expired());
  gate->wait_for_visitor();
  gate->open();
  const auto is_gone = [&](const std::weak_ptr<int>& object) {
    const std::lock_guard lock(mutex);
    return object.expired();
  };
  while (!is_gone(kept) || !is_gone(made)) std::this_thread::yield();
}

/// A driver may call back from several threads. Who reads what the first command wrote must not be
/// told that it has ended before its failure is known.
TEST(Ledger, ACommandEndsWithThoseBeforeIt) {
  Ledger ledger("a copy");
  for (int command = 0; command < 4; ++command) static_cast<void>(ledger.next_ticket());
  ledger.note_end(3, CL_COMPLETE);
  ledger.note_end(2, CL_COMPLETE);
  EXPECT_FALSE(ledger.has_ended(1));
  ledger.note_end(1, CL_OUT_OF_RESOURCES);
  EXPECT_TRUE(ledger.has_ended(3));
  EXPECT_FALSE(ledger.has_ended(4));
  ASSERT_FALSE(ledger.failure());
  EXPECT_EQ(ledger.failure().error().detail, "a copy ended with CL_OUT_OF_RESOURCES (-5)");
  ledger.note_end(2, CL_COMPLETE);  // told again, by the thread
  ledger.note_end(4, CL_COMPLETE);
  EXPECT_TRUE(ledger.have_all_ended());
}

TEST(Ledger, ThreadsThatTellOfCommandsInAnyOrderEndThemAll) {
  constexpr std::uint64_t commands = 2000;
  constexpr std::uint64_t tellers = 4;
  Ledger ledger("a slice");
  for (std::uint64_t command = 0; command < commands; ++command)
    static_cast<void>(ledger.next_ticket());
  std::vector<std::atomic<bool>> told(commands + 1);
  std::vector<std::thread> threads;
  for (std::uint64_t teller = 0; teller < tellers; ++teller)
    threads.emplace_back([&, teller] {
      for (std::uint64_t ticket = 1 + teller; ticket <= commands; ticket += tellers) {
        told[ticket].store(true);
        ledger.note_end(ticket, CL_COMPLETE);
      }
    });
  for (std::uint64_t ticket = 1; ticket <= commands; ++ticket) {
    while (!ledger.has_ended(ticket)) std::this_thread::yield();
    for (std::uint64_t before = ticket > tellers ? ticket - tellers : 1; before <= ticket; ++before)
      ASSERT_TRUE(told[before].load());
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(ledger.have_all_ended());
}

}  // namespace
}  // namespace ringkernel::opencl
