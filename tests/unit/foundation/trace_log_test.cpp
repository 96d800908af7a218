#include "foundation/trace_log.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ringkernel {
namespace {

TraceEvent slice(std::uint64_t number) {
  return TraceEvent::of(TraceKind::slice, number, 1, 2, "core");
}

TEST(TraceLog, GivesEachEventOnceInOrder) {
  TraceLog log;
  std::vector<TraceEvent> events = {slice(99)};
  log.take(events);
  EXPECT_TRUE(events.empty());
  log.note([] { return slice(1); });
  log.keep(slice(2));
  log.take(events);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].id, 1u);
  EXPECT_EQ(events[1].id, 2u);
  EXPECT_STREQ(events[1].name, "core");
  log.take(events);
  EXPECT_TRUE(events.empty());
}

TEST(TraceLog, CountsWhatItHasNoRoomFor) {
  TraceLog log;
  for (std::uint64_t i = 0; i < TraceLog::notes_max; ++i) log.note([&] { return slice(i); });
  log.note([]() -> TraceEvent { throw std::logic_error("made for nobody"); });
  EXPECT_EQ(log.missed(), 1u);
  for (std::uint64_t i = TraceLog::notes_max; i < TraceLog::capacity; ++i) log.keep(slice(i));
  EXPECT_EQ(log.missed(), 1u) << "these have room of their own";
  log.keep(slice(0));
  EXPECT_EQ(log.missed(), 2u);
  std::vector<TraceEvent> events;
  log.take(events);
  EXPECT_EQ(events.size(), TraceLog::capacity);
  log.note([] { return slice(7); });
  EXPECT_EQ(log.missed(), 2u) << "there is room again";
}

/// Who cannot wait leaves his event out, and it is counted: none is lost without a trace.
TEST(TraceLog, LosesNothingUncountedAmongThreads) {
  TraceLog log;
  constexpr std::uint64_t events_each = 20'000;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < events_each; ++i) log.note([&] { return slice(i); });
    });
  std::uint64_t taken = 0;
  std::vector<TraceEvent> events;
  while (taken + log.missed() < 4 * events_each) {
    log.take(events);
    taken += events.size();
  }
  for (std::thread& thread : threads) thread.join();
  log.take(events);
  EXPECT_EQ(taken + events.size() + log.missed(), 4 * events_each);
}

/// Nobody who takes events is in the way of one who notes them.
TEST(TraceLog, LosesNothingWhileItIsTaken) {
  TraceLog log;
  constexpr std::uint64_t all = TraceLog::capacity;
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < all; ++i) log.keep(slice(i));
  });
  std::vector<TraceEvent> events;
  std::uint64_t next = 0;
  while (next < all) {
    log.take(events);
    for (const TraceEvent& event : events) EXPECT_EQ(event.id, next++);
  }
  writer.join();
  EXPECT_EQ(log.missed(), 0u);
}

TEST(TraceLog, CutsNamesThatAreTooLong) {
  const TraceEvent event = TraceEvent::of(TraceKind::state, 0, 0, 0, std::string(1000, 'x'));
  EXPECT_EQ(std::string(event.name).size(), sizeof event.name - 1);
}

}  // namespace
}  // namespace ringkernel
