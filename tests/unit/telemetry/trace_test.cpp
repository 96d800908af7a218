// The events that a counters file keeps: in order, whole, each once, and the last ones.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "sample_metrics.hpp"
#include "support/stress.hpp"
#include "support/temp_folder.hpp"
#include "telemetry/counters_reader.hpp"
#include "telemetry/counters_writer.hpp"

namespace ringkernel::telemetry {
namespace {

using namespace std::chrono_literals;
using ringkernel::testing::event_of;
using ringkernel::testing::is_whole;

class Trace : public ::testing::Test {
 protected:
  /// Events `begin` to `end` - 1.
  void append(std::uint64_t begin, std::uint64_t end) {
    std::vector<TraceEvent> events;
    for (std::uint64_t number = begin; number < end; ++number) events.push_back(event_of(number));
    writer_->append(events, 0);
  }
  static void expect_events(const std::vector<TraceEvent>& events, std::uint64_t begin,
                            std::uint64_t end) {
    ASSERT_EQ(events.size(), end - begin);
    for (const TraceEvent& event : events) {
      EXPECT_TRUE(is_whole(event));
      EXPECT_EQ(event.id, begin++);
    }
  }

  testing::TempFolder folder_;
  std::unique_ptr<CountersWriter> writer_ = [this] {
    const auto own = folder_.path() / "own";
    std::filesystem::create_directory(own);
    return CountersWriter::create(own, 100ms).value();
  }();
  CountersReader reader_ = CountersReader::open(writer_->path()).value();
};

TEST_F(Trace, IsReadFromWhereOneLeftOff) {
  std::uint64_t from = 0;
  EXPECT_TRUE(reader_.trace(from).empty());
  append(0, 10);
  expect_events(reader_.trace(from), 0, 10);
  EXPECT_TRUE(reader_.trace(from).empty());
  append(10, 11);
  expect_events(reader_.trace(from), 10, 11);
  EXPECT_EQ(from, 11u);
}

TEST_F(Trace, KeepsTheLastEvents) {
  for (std::uint64_t round = 0; round < 5; ++round) append(round * 3000, (round + 1) * 3000);
  std::uint64_t from = 0;
  expect_events(reader_.trace(from), 15'000 - trace_events_max, 15'000);
  EXPECT_EQ(from, 15'000u);
}

TEST_F(Trace, SaysHowManyWereLeftOut) {
  writer_->append({}, 17);
  EXPECT_EQ(reader_.trace_missed(), 17u);
}

/// Beside a writer that laps the reader all the time.
TEST_F(Trace, HasNoTornEvents) {
  std::atomic<bool> enough{false};
  std::thread writer([&] {
    for (std::uint64_t number = 0; !enough.load(std::memory_order_relaxed); number += 1000)
      append(number, number + 1000);
  });
  const std::uint64_t wanted = test::scaled(1'000'000);
  std::uint64_t seen = 0;
  std::uint64_t lapped = 0;
  std::uint64_t from = 0;
  while (seen < wanted) {
    const std::uint64_t expected = from;
    const std::vector<TraceEvent> events = reader_.trace(from);
    std::uint64_t number = from - events.size();
    ASSERT_GE(number, expected) << "each once";
    lapped += number != expected;
    for (const TraceEvent& event : events) {
      ASSERT_TRUE(is_whole(event)) << event.id;
      ASSERT_EQ(event.id, number++);
    }
    seen += events.size();
  }
  enough = true;
  writer.join();
  std::cout << "lapped " << lapped << " times\n";
}

}  // namespace
}  // namespace ringkernel::telemetry
