// The sending half by itself: no demultiplexer takes outcomes here.
#include "bridge/channel/send_queue.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::bridge::test {
namespace {

using ::testing::ElementsAre;

class SendQueueTest : public SimulatedBridge {
 protected:
  /// On the rings of a channel that runs and is not used otherwise.
  void open(const ChannelLimits& limits = {}) {
    const std::uint32_t kernel = make_channel()->kernel();
    shared = std::make_unique<ChannelShared>(executor, kernel, limits, clock, wakes);
    queue = std::make_unique<SendQueue>(*shared, input_ring, output_ring);
  }
  Result<Submission> put(int value, std::uint32_t bytes = large, std::int32_t priority = 0) {
    return queue->submit(envelope(bytes, no_deadline, priority), Receiver::mailbox, nullptr,
                         Executor::Wake::launch, ended,
                         [&](std::byte* to) { std::memset(to, value, bytes); });
  }
  std::uint64_t messages_in() { return executor.telemetry(shared->kernel).messages_in; }
  std::uint64_t queued() const { return shared->demand.queued.load(); }

  std::unique_ptr<ChannelShared> shared;
  std::unique_ptr<SendQueue> queue;
  SendQueue::Ended ended;
};

TEST_F(SendQueueTest, FillsTheRingThenTheQueueThenHasNoRoom) {
  open({.queue_max = 1});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(put(i)->room, Room::found);
  EXPECT_EQ(queued(), 1u);
  EXPECT_EQ(put(3)->room, Room::none);
  EXPECT_EQ(shared->counts.accepted.load(), 3u);
  EXPECT_EQ(shared->pending.in_use(), 3u);
  EXPECT_EQ(ended.count, 0u);
}

TEST_F(SendQueueTest, AnEndOfRoomInFlightGivesTheRecordBack) {
  open({.in_flight_max = 1});
  const MessageId id = put(0, 64)->id;
  EXPECT_EQ(put(1, 64)->room, Room::none);
  bool asleep = false;
  shared->pending.release(*shared->pending.claim(id, &asleep));
  EXPECT_EQ(put(2, 64)->room, Room::found);
  device.work();
  EXPECT_EQ(messages_in(), 2u);
}

TEST_F(SendQueueTest, AdvancesTheQueueWhenTheRingHasRoom) {
  open();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(put(i));
  EXPECT_EQ(queue->advance(clock.now, ended), 0u);
  device.work();
  EXPECT_EQ(queue->advance(clock.now, ended), 2u);
  queue->advanced();
  EXPECT_EQ(queued(), 0u);
  EXPECT_EQ(device.launched.size(), 1u) << "a slice takes what has moved";
}

TEST_F(SendQueueTest, NamesTheMessageThatMadeRoom) {
  open({.queue_max = 1, .policy = Policy::drop_oldest});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(put(i));
  const MessageId oldest = put(2)->id;
  ASSERT_TRUE(put(3));
  ASSERT_EQ(ended.count, 1u);
  EXPECT_EQ(ended.ids[0], oldest);
  EXPECT_TRUE(ended.dropped);
}

TEST_F(SendQueueTest, NamesTheMessagesThatExpiredInTheQueue) {
  open();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(put(i));
  const MessageId late = queue
                             ->submit(envelope(large, clock.now + 5), Receiver::mailbox, nullptr,
                                      Executor::Wake::launch, ended, [](std::byte*) {})
                             ->id;
  clock.now += 5;
  EXPECT_EQ(queue->advance(clock.now, ended), 1u);
  ASSERT_EQ(ended.count, 1u);
  EXPECT_EQ(ended.ids[0], late);
  EXPECT_FALSE(ended.dropped);
}

TEST_F(SendQueueTest, ABatchEndsWhereTheRingIsFull) {
  open();
  const Envelope one = envelope(large);
  const auto describe = [&](std::size_t) -> Result<const Envelope*> { return &one; };
  const auto write = [](std::size_t, std::byte*) {};
  EXPECT_EQ(queue->submit_batch(5, describe, write).value(), 2u);
  EXPECT_EQ(queue->submit_batch(5, describe, write).value(), 0u);
  EXPECT_EQ(shared->pending.in_use(), 2u) << "unused slots are given back";
}

TEST_F(SendQueueTest, AWaiterForRoomIsHelpedFirstAndWokenByRoom) {
  open({.in_flight_max = 1});
  const MessageId id = put(0, 64)->id;
  int helped = 0;
  EXPECT_EQ(queue->wait_for_room(no_deadline, 0, [&] { ++helped; }).error(), Errc::queue_full);
  EXPECT_EQ(helped, 1);
  EXPECT_EQ(shared->demand.room_waiters.load(), 0u);

  std::thread waiter([&] { EXPECT_TRUE(queue->wait_for_room(no_deadline, no_deadline, [] {})); });
  while (shared->demand.room_waiters.load() == 0) std::this_thread::yield();
  bool asleep = false;
  shared->pending.release(*shared->pending.claim(id, &asleep));
  queue->room_made();
  waiter.join();
}

TEST_F(SendQueueTest, WhoWaitsIsAdmittedWhenAPlaceInFlightIsFree) {
  open({.in_flight_max = 1});
  const MessageId id = put(0, 64)->id;
  std::vector<Result<MessageId>> admitted;
  (void)queue->submit_later(
      envelope(64), Receiver::mailbox, nullptr, payload(1, 64),
      [&](Result<MessageId> result) { admitted.push_back(std::move(result)); }, no_deadline);
  EXPECT_EQ(queue->advance(clock.now, ended), 0u);
  EXPECT_TRUE(admitted.empty());
  bool asleep = false;
  shared->pending.release(*shared->pending.claim(id, &asleep));
  EXPECT_EQ(queue->advance(clock.now, ended), 2u) << "into the queue, and on into the ring";
  ASSERT_EQ(admitted.size(), 1u);
  EXPECT_TRUE(shared->pending.armed(admitted[0].value()));
}

TEST_F(SendQueueTest, AClosedQueueRefusesAndForgets) {
  open({.queue_max = 1});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(put(i));
  std::vector<Result<MessageId>> admitted;
  (void)queue->submit_later(
      envelope(large), Receiver::mailbox, nullptr, payload(3, large),
      [&](Result<MessageId> id) { admitted.push_back(std::move(id)); }, no_deadline);
  EXPECT_EQ(queued(), 2u);
  queue->close(Error(Errc::kernel_terminated, "the test"));
  ASSERT_EQ(admitted.size(), 1u);
  EXPECT_EQ(admitted[0].error(), Errc::kernel_terminated);
  EXPECT_EQ(put(4).error(), Errc::kernel_terminated);
  EXPECT_TRUE(queue->try_retire());
  EXPECT_EQ(queued(), 0u);
}

TEST_F(SendQueueTest, TheBridgeLearnsTheEarliestDeadlineOfThoseWhoWait) {
  open({.in_flight_max = 1});
  ASSERT_TRUE(put(0, 64));
  for (const std::uint64_t after_ns : {30u, 20u})
    (void)queue->submit_later(
        envelope(64, clock.now + after_ns), Receiver::mailbox, nullptr, payload(1, 64),
        [](Result<MessageId>) {}, no_deadline);
  EXPECT_EQ(shared->demand.next_deadline_ns(), clock.now + 20);
  shared->demand.forget_deadline();
  EXPECT_TRUE(queue->note_deadlines());
  EXPECT_EQ(shared->demand.next_deadline_ns(), clock.now + 20);
  queue->close(Error(Errc::kernel_terminated, "the test"));
}

}  // namespace
}  // namespace ringkernel::bridge::test
