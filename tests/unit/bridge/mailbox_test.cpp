// The mailbox by itself: outcomes, receivers, threads that wait.
#include "bridge/channel/mailbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "bridge/counting.hpp"

namespace ringkernel::bridge::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Given = std::vector<std::pair<Completion*, MessageId>>;

/// Somebody who is told apart by the address.
class NamedCompletion final : public Completion {
 public:
  void complete(Outcome) noexcept override {}
};

class MailboxTest : public ::testing::Test {
 protected:
  /// What receivers are given while `ids` are put in.
  Given put(std::vector<MessageId> ids) {
    Given given;
    box.put(ids,
            [&](Completion& completion, MessageId id) { given.emplace_back(&completion, id); });
    return given;
  }
  Mailbox::Added add(Completion& completion, std::uint64_t deadline_ns = no_deadline) {
    Mailbox::Receivings receiving{{0, deadline_ns, &completion}};
    return box.add(receiving);
  }
  std::vector<MessageId> take(std::size_t count) {
    std::vector<MessageId> ids(count);
    ids.resize(box.take(ids).value());
    return ids;
  }

  static constexpr std::uint64_t no_deadline = ~std::uint64_t{0};
  std::atomic<std::uint64_t> waiting{0};
  Mailbox box{8, waiting};
  NamedCompletion first, second;
};

TEST_F(MailboxTest, GivesOutcomesInTheirOrderAndNoMoreThanAsked) {
  EXPECT_THAT(put({1, 2, 3}), IsEmpty());
  EXPECT_EQ(box.size(), 3u);
  EXPECT_THAT(take(2), ElementsAre(1, 2));
  EXPECT_THAT(take(2), ElementsAre(3));
  EXPECT_THAT(take(2), IsEmpty());
}

TEST_F(MailboxTest, KeepsAsManyAsItHasPlacesAndUsesThemAgain) {
  for (int round = 0; round < 3; ++round) {
    put({1, 2, 3, 4, 5, 6, 7, 8});
    EXPECT_THAT(take(9), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  }
}

TEST_F(MailboxTest, ServesReceiversInTheirOrderAndKeepsTheRest) {
  EXPECT_TRUE(add(first).waits());
  EXPECT_TRUE(add(second).waits());
  EXPECT_EQ(waiting, 2u);
  EXPECT_THAT(put({5, 6, 7}), ElementsAre(std::pair(&first, 5), std::pair(&second, 6)));
  EXPECT_EQ(waiting, 0u);
  EXPECT_THAT(take(8), ElementsAre(7));
}

TEST_F(MailboxTest, AReceiverTakesWhatIsThere) {
  put({5, 6});
  const Mailbox::Added added = add(first);
  EXPECT_EQ(added.id, 5u);
  EXPECT_FALSE(added.waits());
  EXPECT_EQ(waiting, 0u);
  EXPECT_EQ(box.size(), 1u);
}

TEST_F(MailboxTest, ARemovedReceiverIsNotServed) {
  const std::uint64_t ticket = add(first).ticket;
  EXPECT_NE(add(second).ticket, ticket);
  EXPECT_TRUE(box.remove(ticket));
  EXPECT_FALSE(box.remove(ticket));
  EXPECT_EQ(waiting, 1u);
  EXPECT_THAT(put({5}), ElementsAre(std::pair(&second, 5)));
}

TEST_F(MailboxTest, TakesOutWhoseTimeIsOverAndNotesTheOthers) {
  (void)add(first, 10);
  (void)add(second, 11);
  std::vector<std::uint64_t> noted;
  const auto overdue = box.take_overdue(10, [&](std::uint64_t ns) { noted.push_back(ns); });
  ASSERT_EQ(overdue.size(), 1u);
  EXPECT_EQ(overdue.front().completion, &first);
  EXPECT_THAT(noted, ElementsAre(11));
  EXPECT_EQ(waiting, 1u);
}

TEST_F(MailboxTest, AClosedBoxGivesWhatItHasAndThenTheReason) {
  (void)add(first);
  const Mailbox::Receivings left = box.close(Error(Errc::kernel_terminated, "the test"));
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.front().completion, &first);
  EXPECT_EQ(waiting, 0u);
  put({5});
  EXPECT_THAT(take(1), ElementsAre(5));
  std::array<MessageId, 1> none{};
  EXPECT_EQ(box.take(none).error(), Errc::kernel_terminated);
  const Mailbox::Added added = add(second);
  ASSERT_TRUE(added.closed);
  EXPECT_EQ(*added.closed, Errc::kernel_terminated);
  EXPECT_FALSE(added.waits());
}

TEST_F(MailboxTest, WaitingEndsWithAnOutcomeWithTheEndOrInVain) {
  EXPECT_FALSE(box.wait(std::chrono::nanoseconds(0)));
  put({5});
  EXPECT_TRUE(box.wait(std::chrono::nanoseconds(0)));
  EXPECT_THAT(take(1), ElementsAre(5));
  (void)box.close(Error(Errc::kernel_terminated, ""));
  EXPECT_TRUE(box.wait({}));
}

TEST_F(MailboxTest, AThreadThatWaitsIsWoken) {
  for (const bool ends : {false, true}) {
    std::thread waiter([&] {
      const Counted counted(waiting);
      EXPECT_TRUE(box.wait({}));
    });
    while (waiting == 0) std::this_thread::yield();
    if (ends)
      (void)box.close(Error(Errc::kernel_terminated, ""));
    else
      put({5});
    waiter.join();
    if (!ends) {
      EXPECT_THAT(take(1), ElementsAre(5));
    }
  }
}

}  // namespace
}  // namespace ringkernel::bridge::test
