// Executors of several work-groups hold as many compute units.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "backend/opencl/residency.hpp"

namespace ringkernel::opencl {
namespace {

struct Member final : Residency::Member {
  bool try_returned() override { return returned; }
  bool try_ask_to_leave(std::uint32_t slice) override {
    if (!can_be_asked) return false;
    asked_slice = slice;
    if (returns_when_asked) returned = true;
    return true;
  }
  bool was_told() override { return true; }

  bool returned = false;
  bool returns_when_asked = false;
  std::atomic<bool> can_be_asked = true;
  std::uint32_t asked_slice = 0;
};

constexpr std::size_t limit = 5;

TEST(Residency, KeepsExecutorsWhoseWorkGroupsFit) {
  Residency residency;
  Member three;
  Member two;
  EXPECT_TRUE(residency.try_launch(three, 7, 3, limit));
  EXPECT_TRUE(residency.try_launch(two, 8, 2, limit));
  EXPECT_TRUE(residency.try_launch(three, 9, 3, limit));  // the same executor's next slice
  EXPECT_EQ(three.asked_slice, 0u);
  EXPECT_EQ(two.asked_slice, 0u);
}

TEST(Residency, AsksAsManyToLeaveAsItNeedsUnits) {
  Residency residency;
  Member first;
  Member second;
  Member third;
  Member wide;
  EXPECT_TRUE(residency.try_launch(first, 7, 2, limit));
  EXPECT_TRUE(residency.try_launch(second, 8, 2, limit));
  EXPECT_TRUE(residency.try_launch(third, 9, 1, limit));
  EXPECT_TRUE(residency.try_launch(wide, 10, 4, limit));
  EXPECT_EQ(first.asked_slice, 7u);
  EXPECT_EQ(second.asked_slice, 8u);
  EXPECT_EQ(third.asked_slice, 0u) << "one unit is left";
}

TEST(Residency, AllOfThemMakeRoomForOneThatNeedsEveryUnit) {
  Residency residency;
  Member first;
  Member returned;
  Member widest;
  EXPECT_TRUE(residency.try_launch(returned, 6, 3, limit));
  returned.returned = true;
  EXPECT_TRUE(residency.try_launch(first, 7, 1, limit));
  EXPECT_TRUE(residency.try_launch(widest, 8, limit, limit));
  EXPECT_EQ(first.asked_slice, 7u);
  EXPECT_EQ(returned.asked_slice, 0u) << "it is gone";
}

// What asked its last slice is still on its way: changed now, the word would be copied half.
TEST(Residency, AsksAgainWhoeverCouldNotBeAsked) {
  Residency residency;
  Member resident;
  Member waits;
  EXPECT_TRUE(residency.try_launch(resident, 7, limit, limit));
  resident.can_be_asked = false;
  EXPECT_FALSE(residency.try_launch(waits, 8, 1, limit));
  EXPECT_EQ(resident.asked_slice, 0u);
  resident.can_be_asked = true;
  EXPECT_TRUE(residency.try_launch(waits, 8, 1, limit));
  EXPECT_EQ(resident.asked_slice, 7u);
}

// A driver that builds only while nothing runs would wait for a busy slice for ever.
TEST(Residency, AHoldHasAllLeaveAndKeepsThemOut) {
  Residency residency;
  Member resident;
  EXPECT_TRUE(residency.try_launch(resident, 7, 1, limit));
  resident.can_be_asked = false;
  resident.returns_when_asked = true;
  std::thread soon([&resident] { resident.can_be_asked = true; });
  {
    const Residency::Hold hold(&residency);
    EXPECT_EQ(resident.asked_slice, 7u);
    EXPECT_TRUE(resident.returned);
    EXPECT_FALSE(residency.try_launch(resident, 8, 1, limit));
    const Residency::Hold another(&residency);
  }
  soon.join();
  EXPECT_TRUE(residency.try_launch(resident, 8, 1, limit));
}

TEST(Residency, AHoldGoesOnWhereAnOpTakesLong) {
  Residency residency;
  Member busy;
  EXPECT_TRUE(residency.try_launch(busy, 7, 1, limit));
  const Residency::Hold hold(&residency, std::chrono::milliseconds(1));
  EXPECT_EQ(busy.asked_slice, 7u);
}

}  // namespace
}  // namespace ringkernel::opencl
