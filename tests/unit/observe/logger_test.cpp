// The log's end of what happens: nobody waits for a sink, and nothing is lost uncounted.
#include "observe/logger.hpp"

#include <gmock/gmock.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ringkernel::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

/// Called by one thread at a time, and read when it has ended.
class KeptLines : public LogSink {
 public:
  /// `is_held`: the first record waits for `go_on`.
  explicit KeptLines(bool is_held = false) : is_held_(is_held) {}
  void write(const LogRecord& record) override {
    if (std::exchange(is_held_, false)) {
      begun.set_value();
      go_on.get_future().get();
    }
    lines.emplace_back(record.kernel.empty() ? record.text : record.kernel);
    left_out.push_back(record.left_out);
    times.push_back(record.time);
    threads.push_back(std::this_thread::get_id());
  }

  std::promise<void> begun;
  std::promise<void> go_on;
  std::vector<std::string> lines;
  std::vector<std::uint64_t> left_out;
  std::vector<std::chrono::system_clock::time_point> times;
  std::vector<std::thread::id> threads;

 private:
  bool is_held_;
};

std::uint64_t monotonic_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                    std::chrono::nanoseconds(1));
}

Event change(std::string kernel) {
  return {.kernel = std::move(kernel),
          .status = KernelStatus::active,
          .error = {},
          .time_ns = monotonic_ns()};
}

Event failure(std::string kernel) {
  return {.kernel = std::move(kernel),
          .status = {},
          .error = Error(Errc::invalid_argument, "wrong"),
          .time_ns = monotonic_ns()};
}

std::shared_ptr<Logger> logger_of(ServiceThread& service, std::shared_ptr<LogSink> sink) {
  return std::make_shared<Logger>(service, std::move(sink), "7/1", "");
}

TEST(Logger, TellsInOrderOnTheServiceThread) {
  ServiceThread service;
  const auto sink = std::make_shared<KeptLines>();
  const auto logger = logger_of(service, sink);
  service.start();
  logger->tell(LogLevel::info, "opened");
  for (const char* const kernel : {"a", "b", "c"}) logger->push(change(kernel));
  logger->close();
  logger->push(change("too late"));
  logger->end();
  service.finish();
  EXPECT_THAT(sink->lines, ElementsAre("opened", "a", "b", "c", "shut down"));
  for (const std::thread::id thread : sink->threads) EXPECT_NE(thread, std::this_thread::get_id());
}

TEST(Logger, ASinkThatHangsHoldsNobodyUpAndWhatHasNoRoomIsCounted) {
  constexpr std::size_t too_many = 7;
  ServiceThread service;
  const auto sink = std::make_shared<KeptLines>(true);
  const auto logger = logger_of(service, sink);
  service.start();
  logger->push(change("first"));
  sink->begun.get_future().get();
  // The first one keeps its place until it is told.
  for (std::size_t i = 1; i < events_max + too_many; ++i) logger->push(change("more"));
  logger->miss();
  sink->go_on.set_value();
  logger->close();
  logger->end();
  service.finish();
  ASSERT_EQ(sink->lines.size(), events_max + 2);
  EXPECT_EQ(sink->lines[events_max], "more happened than could be told");
  EXPECT_EQ(sink->left_out[events_max], too_many + 1);
  EXPECT_EQ(sink->lines.back(), "shut down");
}

TEST(Logger, EachRecordGivesItsPlaceBackWhenItWasTold) {
  /// Tells another event with its second record, when all places were taken.
  class TellingLines : public LogSink {
   public:
    void write(const LogRecord& record) override {
      if (lines.size() == 1) logger->push(change("one more"));
      lines.emplace_back(record.kernel.empty() ? record.text : record.kernel);
    }
    Logger* logger = nullptr;
    std::vector<std::string> lines;
  };
  ServiceThread service;
  const auto sink = std::make_shared<TellingLines>();
  const auto logger = logger_of(service, sink);
  sink->logger = logger.get();
  for (std::size_t i = 0; i < events_max; ++i) logger->push(change("a"));
  service.start();
  service.finish();
  ASSERT_EQ(sink->lines.size(), events_max + 1) << "with those behind the first events_max";
  EXPECT_EQ(sink->lines.back(), "one more");
}

TEST(Logger, TextsHaveTheirPlaceAmongEventsAndTheirTime) {
  ServiceThread service;
  const auto sink = std::make_shared<KeptLines>();
  const auto logger = logger_of(service, sink);
  logger->tell(LogLevel::info, "opened");
  logger->push(change("a"));
  logger->tell(LogLevel::info, "swapped");
  const auto now = std::chrono::system_clock::now();
  logger->push(change("b"));
  std::this_thread::sleep_for(2ms);
  service.start();
  service.finish();
  ASSERT_THAT(sink->lines, ElementsAre("opened", "a", "swapped", "b"));
  EXPECT_LE(sink->times[2], now);
}

TEST(Logger, TellsNothingBehindItsEnd) {
  ServiceThread service;
  const auto sink = std::make_shared<KeptLines>();
  const auto logger = logger_of(service, sink);
  logger->tell(LogLevel::info, "swapped");
  logger->close();
  logger->end_here();
  logger->tell(LogLevel::info, "too late");
  service.start();
  service.finish();
  EXPECT_THAT(sink->lines, ElementsAre("swapped", "shut down"));
}

TEST(Logger, WhatFoundNoRoomIsToldWithTheNextEvent) {
  ServiceThread service;
  const auto sink = std::make_shared<KeptLines>();
  const auto logger = logger_of(service, sink);
  logger->push(change("a"));
  logger->miss();
  logger->push(change("b"));
  service.start();
  service.finish();
  EXPECT_THAT(sink->lines, ElementsAre("a", "more happened than could be told", "b"));
}

/// One of a kind at once, the rest counted.
TEST(Logger, TellsErrorsThatRepeatOnce) {
  ServiceThread service;
  const auto sink = std::make_shared<KeptLines>();
  const auto logger = logger_of(service, sink);
  for (int i = 0; i < 50; ++i) logger->push(failure("a"));
  logger->push(failure("b"));
  logger->close();
  logger->end();
  service.start();
  service.finish();
  EXPECT_THAT(sink->lines, ElementsAre("a", "b", "a", "shut down"));
  EXPECT_THAT(sink->left_out, ElementsAre(0, 0, 48, 0));
}

/// As where the thread is inside a driver.
TEST(Logger, EndsWithoutItsThread) {
  std::promise<void> begun;
  std::promise<void> go_on;
  ServiceThread service;
  boost::asio::post(service.context(), [&] {
    begun.set_value();
    go_on.get_future().get();
  });
  service.start();
  begun.get_future().get();
  const auto sink = std::make_shared<KeptLines>();
  const auto logger = logger_of(service, sink);
  logger->push(change("a"));
  logger->close();
  logger->end_here();
  EXPECT_THAT(sink->lines, ElementsAre("a", "shut down"));
  EXPECT_EQ(sink->threads.front(), std::this_thread::get_id());
  go_on.set_value();
  service.finish();
  EXPECT_EQ(sink->lines.size(), 2u) << "nothing is told twice";
}

TEST(Logger, SaysWhenItHappenedNotWhenItIsTold) {
  ServiceThread service;
  const auto sink = std::make_shared<KeptLines>();
  const auto logger = logger_of(service, sink);
  Event old = change("a");
  old.time_ns -= static_cast<std::uint64_t>(std::chrono::nanoseconds(10min).count());
  const auto now = std::chrono::system_clock::now();
  logger->push(old);
  service.start();
  service.finish();
  ASSERT_EQ(sink->times.size(), 1u);
  EXPECT_LT(sink->times[0], now - 9min);
  EXPECT_GT(sink->times[0], now - 11min);
}

TEST(EventHub, TellsThoseWhoListenUntilItCloses) {
  ServiceThread service;
  const auto sink = std::make_shared<KeptLines>();
  const auto logger = logger_of(service, sink);
  EventHub hub;
  EXPECT_FALSE(hub.has_listeners());
  hub.add(logger);
  EXPECT_TRUE(hub.has_listeners());
  hub.emit(change("a"));
  hub.miss();
  hub.emit(change("b"));
  hub.close();
  EXPECT_FALSE(hub.has_listeners());
  hub.emit(change("too late"));
  logger->end();
  service.start();
  service.finish();
  EXPECT_THAT(sink->lines, ElementsAre("a", "more happened than could be told", "b", "shut down"));
}

/// Its owner lets it go while it is told; its destructor needs the hub's lock.
class LeavingListener final : public EventListener {
 public:
  explicit LeavingListener(EventHub& hub) : hub_(hub) {}
  LeavingListener(const LeavingListener&) = delete;
  LeavingListener& operator=(const LeavingListener&) = delete;
  ~LeavingListener() { hub_.miss(); }
  void push(const Event& event) noexcept override {
    (void)event;
    owner.reset();
  }
  void miss() noexcept override { owner.reset(); }
  void close() noexcept override { owner.reset(); }

  std::shared_ptr<LeavingListener> owner;

 private:
  EventHub& hub_;
};

TEST(EventHub, LetsNoListenerGoWithItsLock) {
  EventHub hub;
  const auto add = [&] {
    const auto listener = std::make_shared<LeavingListener>(hub);
    listener->owner = listener;
    hub.add(listener);
    return std::weak_ptr(listener);
  };
  std::weak_ptr<LeavingListener> listener = add();
  hub.emit(change("a"));
  EXPECT_TRUE(listener.expired());
  listener = add();
  hub.miss();
  EXPECT_TRUE(listener.expired());
  listener = add();
  hub.close();
  EXPECT_TRUE(listener.expired());
}

}  // namespace
}  // namespace ringkernel::detail
