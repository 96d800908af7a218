#include "bridge/channel/pending.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace ringkernel::bridge::test {
namespace {

MessageId take(Pending& pending) {
  return pending.acquire(Receiver::waiter, ~std::uint64_t{0}, nullptr).value();
}

TEST(Pending, GivesEachSlotOnceAndThenNone) {
  Pending pending(4);
  std::set<MessageId> ids;
  for (int i = 0; i < 4; ++i) ids.insert(take(pending));
  EXPECT_EQ(ids.size(), 4u);
  EXPECT_FALSE(ids.contains(0));
  EXPECT_FALSE(pending.available());
  EXPECT_FALSE(pending.acquire(Receiver::waiter, 0, nullptr));
  EXPECT_EQ(pending.in_use(), 4u);
}

TEST(Pending, OneClaimWins) {
  Pending pending(1);
  const MessageId id = take(pending);
  bool asleep = true;
  EXPECT_TRUE(pending.armed(id));
  EXPECT_NE(pending.claim(id, &asleep), nullptr);
  EXPECT_FALSE(asleep);
  EXPECT_FALSE(pending.armed(id));
  EXPECT_EQ(pending.claim(id, &asleep), nullptr);
}

// The reply to a message that was given up must not reach the message that has its slot by then.
TEST(Pending, AnOldIdNeverFindsTheSlotsNextMessage) {
  Pending pending(1);
  const MessageId old = take(pending);
  bool asleep = false;
  pending.release(*pending.claim(old, &asleep));
  const MessageId young = take(pending);
  EXPECT_NE(old, young);
  EXPECT_EQ(old & 0xffff, young & 0xffff);
  EXPECT_EQ(pending.claim(old, &asleep), nullptr);
  EXPECT_NE(pending.claim(young, &asleep), nullptr);
}

TEST(Pending, SlotsThatComeBackAreGivenOutAgainEachOnce) {
  Pending pending(6);
  bool asleep = false;
  std::vector<MessageId> held;
  for (unsigned turn = 0; turn < 1000; ++turn) {
    while (held.size() < 6) held.push_back(take(pending));
    EXPECT_FALSE(pending.available());
    std::set<MessageId> indices;
    for (const MessageId id : held) indices.insert(id & 0xffff);
    ASSERT_EQ(indices.size(), 6u) << "a slot was given out twice";
    // Some alone, some together, in changing order.
    std::rotate(held.begin(), held.begin() + turn % 6, held.end());
    pending.release(*pending.claim(held.back(), &asleep));
    held.pop_back();
    {
      Pending::Chain chain(pending);
      for (unsigned i = 0; i < turn % 5; ++i) {
        chain.release(*pending.claim(held.back(), &asleep));
        held.pop_back();
      }
    }
    EXPECT_TRUE(pending.available());
    EXPECT_EQ(pending.in_use(), held.size());
  }
}

// One thread takes, several give back: with ThreadSanitizer this is the free list's proof.
TEST(Pending, SlotsComeBackFromManyThreads) {
  constexpr std::size_t threads = 3;
  constexpr int messages = 3'000;
  Pending pending(16);
  std::array<std::atomic<MessageId>, threads> handed{};  // 0: give me one
  std::vector<std::thread> releasers;
  for (auto& box : handed)
    releasers.emplace_back([&] {
      for (int i = 0; i < messages; ++i) {
        MessageId id = 0;
        while ((id = box.load(std::memory_order_acquire)) == 0) std::this_thread::yield();
        box.store(0, std::memory_order_release);
        bool asleep = false;
        Slot* const slot = pending.claim(id, &asleep);
        if (i % 2 == 0) {
          pending.release(*slot);
        } else {
          Pending::Chain chain(pending);
          chain.release(*slot);
        }
      }
    });
  std::array<int, threads> left{};
  left.fill(messages);
  for (bool more = true; more; std::this_thread::yield()) {
    more = false;
    for (std::size_t i = 0; i < threads; ++i) {
      more |= left[i] != 0;
      if (left[i] == 0 || handed[i].load(std::memory_order_acquire) != 0) continue;
      if (const auto id = pending.acquire(Receiver::waiter, 0, nullptr)) {
        handed[i].store(*id, std::memory_order_release);
        --left[i];
      }
    }
  }
  for (std::thread& releaser : releasers) releaser.join();
  EXPECT_EQ(pending.in_use(), 0u);
}

TEST(Pending, AnIdFromNowhereFindsNothing) {
  Pending pending(2);
  (void)take(pending);
  bool asleep = false;
  for (const MessageId id : {MessageId{0}, MessageId{1}, MessageId{0xffff}, ~MessageId{0},
                             MessageId{1} << 16 | 1, MessageId{1} << 16 | 2})
    EXPECT_EQ(pending.claim(id, &asleep), nullptr) << id;
}

TEST(Pending, AFinishedSlotIsDoneUntilItIsReleased) {
  Pending pending(1);
  const MessageId id = take(pending);
  bool asleep = false;
  Slot* const slot = pending.claim(id, &asleep);
  EXPECT_FALSE(pending.done(id));
  pending.finish(*slot, asleep);
  EXPECT_TRUE(pending.done(id));
  EXPECT_EQ(pending.in_use(), 1u);
  pending.release(*slot);
  EXPECT_FALSE(pending.done(id));
  EXPECT_EQ(pending.in_use(), 0u);
}

TEST(Pending, ASleeperIsWokenByTheFinish) {
  Pending pending(1);
  const MessageId id = take(pending);
  EXPECT_TRUE(pending.sleep(id));
  bool asleep = false;
  Slot* const slot = pending.claim(id, &asleep);
  EXPECT_TRUE(asleep);
  EXPECT_FALSE(pending.stay_awake(id));
  EXPECT_FALSE(slot->wake_up.try_acquire());
  pending.finish(*slot, asleep);
  EXPECT_TRUE(slot->wake_up.try_acquire());
}

TEST(Pending, WhoStaysAwakeGetsNoToken) {
  Pending pending(1);
  const MessageId id = take(pending);
  EXPECT_TRUE(pending.sleep(id));
  EXPECT_TRUE(pending.stay_awake(id));
  bool asleep = true;
  Slot* const slot = pending.claim(id, &asleep);
  pending.finish(*slot, asleep);
  EXPECT_FALSE(slot->wake_up.try_acquire());
  EXPECT_FALSE(pending.sleep(id));
}

TEST(Pending, AVisitSeesTheArmedAndTheSleepingOnly) {
  Pending pending(8);
  const MessageId armed = take(pending);
  const MessageId sleeping = take(pending);
  const MessageId claimed = take(pending);
  const MessageId released = take(pending);
  EXPECT_TRUE(pending.sleep(sleeping));
  bool asleep = false;
  EXPECT_NE(pending.claim(claimed, &asleep), nullptr);
  pending.release(*pending.claim(released, &asleep));
  std::set<MessageId> seen;
  pending.for_each_armed([&](MessageId id, Slot&) { seen.insert(id); });
  EXPECT_EQ(seen, (std::set{armed, sleeping}));
}

}  // namespace
}  // namespace ringkernel::bridge::test
