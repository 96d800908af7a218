// No answer is left lying, whoever takes note of it.
#include "mind/answers.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <vector>

namespace ringkernel::mind {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void add(Answers& answers, Ticket op) {
  std::list<Ticket> place{op};
  answers.add(place);
}

TEST(Answers, AreForTheTakerUntilItLeaves) {
  int calls = 0;
  Answers answers([&] { ++calls; });
  answers.begin_taking();
  add(answers, 1);
  add(answers, 2);
  bool leaves = false;
  EXPECT_THAT(answers.take(leaves), ElementsAre(1, 2));
  EXPECT_FALSE(leaves);
  EXPECT_THAT(answers.take(leaves), IsEmpty());
  EXPECT_TRUE(leaves);
  EXPECT_EQ(calls, 0) << "nobody had to be called";
}

TEST(Answers, CallOnceWhereThereIsNoTaker) {
  int calls = 0;
  Answers answers([&] { ++calls; });
  add(answers, 1);
  add(answers, 2);
  EXPECT_EQ(calls, 1);
  answers.begin_taking();
  bool leaves = true;  // with what there is
  EXPECT_THAT(answers.take(leaves), ElementsAre(1, 2));
  add(answers, 3);
  EXPECT_EQ(calls, 2);
  answers.call();
  EXPECT_EQ(calls, 3) << "for what is to be handed out";
}

/// Whoever was called before may be gone.
TEST(Answers, AreLeftToTheThreadThatWaitsAtTheEnd) {
  int calls = 0;
  Answers answers([&] { ++calls; });
  add(answers, 1);
  answers.end_calls();
  answers.wait_for_call();
  answers.begin_taking();
  bool leaves = true;
  EXPECT_THAT(answers.take(leaves), ElementsAre(1));
  std::thread other([&] { add(answers, 2); });
  answers.wait_for_call();
  other.join();
  answers.begin_taking();
  leaves = true;
  EXPECT_THAT(answers.take(leaves), ElementsAre(2));
  answers.call();
  answers.begin_taking();
  answers.wait_for_call();  // a taker that comes between takes the call from nobody
  EXPECT_EQ(calls, 1);
}

// Takers come and go while answers come, and some leave early.
TEST(Answers, AreEachTakenOnceByTakersThatComeAndGo) {
  constexpr Ticket each = 5000;
  constexpr Ticket givers = 3;
  Answers answers([] {});
  answers.end_calls();
  std::vector<std::atomic<int>> taken(each * givers);
  std::atomic<Ticket> count{0};
  const auto take_all = [&](bool leaves_at_once) {
    answers.begin_taking();
    for (bool leaves = false; !leaves;) {
      leaves = leaves_at_once;
      for (const Ticket op : answers.take(leaves)) {
        ++taken[op];
        if (++count == each * givers) answers.call();
      }
    }
  };
  std::vector<std::thread> threads;
  for (Ticket giver = 0; giver < givers; ++giver)
    threads.emplace_back([&, giver] {
      for (Ticket i = 0; i < each; ++i) {
        add(answers, giver * each + i);
        if (giver != 0) take_all(i % 2 == 0);
      }
    });
  while (count != each * givers) {
    answers.wait_for_call();
    take_all(false);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, each * givers);
  for (const std::atomic<int>& times : taken) ASSERT_EQ(times, 1);
}

}  // namespace
}  // namespace ringkernel::mind
