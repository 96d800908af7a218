#include "ring/producer.hpp"

#include <gtest/gtest.h>

#include "ring_fixture.hpp"

namespace ringkernel::test {
namespace {

void claim_and_commit(Producer& producer, const Message& message) {
  rk_record_header* const header = producer.try_claim(message.payload_bytes);
  ASSERT_NE(header, nullptr);
  fill(header, message);
  producer.commit();
}

TEST(RingProducer, ShowsNothingBeforePublish) {
  const OwnedRing ring;
  Producer producer(ring.view());
  Consumer consumer(ring.view());
  rk_record_header* const header = producer.try_claim(8);
  ASSERT_NE(header, nullptr);
  fill(header, {1, 8});
  EXPECT_EQ(consumer.front(), nullptr);
  producer.commit();
  EXPECT_EQ(consumer.front(), nullptr);
  EXPECT_EQ(producer.position(), 128U);
  EXPECT_EQ(producer.published_position(), 0U);
  producer.publish();
  EXPECT_EQ(producer.published_position(), 128U);
  ASSERT_NE(consumer.front(), nullptr);
  EXPECT_EQ(parse(*consumer.front()), (Message{1, 8}));
}

TEST(RingProducer, PublishesABatchAtOnceAndInOrder) {
  for (const std::uint64_t start : starts) {
    const OwnedRing ring(start);
    Producer producer(ring.view());
    Consumer consumer(ring.view());
    for (std::uint64_t id = 0; id < 10; ++id) claim_and_commit(producer, {id, 100});
    EXPECT_TRUE(consumer.empty());
    producer.publish();
    for (std::uint64_t id = 0; id < 10; ++id) {
      ASSERT_NE(consumer.front(), nullptr);
      EXPECT_EQ(parse(*consumer.front()), (Message{id, 100}));
      consumer.pop();
    }
    EXPECT_TRUE(consumer.empty());
  }
}

TEST(RingProducer, PublishesABatchThatGoesOverThePadding) {
  for (const std::uint64_t start : starts) {
    const OwnedRing ring(start + ring_capacity - 128);
    Producer producer(ring.view());
    Consumer consumer(ring.view());
    claim_and_commit(producer, {1, 0});
    claim_and_commit(producer, {2, 1});
    EXPECT_TRUE(consumer.empty());
    producer.publish();
    ASSERT_NE(consumer.front(), nullptr);
    EXPECT_EQ(parse(*consumer.front()), (Message{1, 0}));
    consumer.pop();
    ASSERT_NE(consumer.front(), nullptr);
    EXPECT_EQ(parse(*consumer.front()), (Message{2, 1}));
    EXPECT_EQ(consumer.position(), start + ring_capacity);
  }
}

TEST(RingProducer, RefusesWhenItsOwnBatchFillsTheRing) {
  const OwnedRing ring;
  Producer producer(ring.view());
  Consumer consumer(ring.view());
  claim_and_commit(producer, {1, ring_record_max - 64});
  claim_and_commit(producer, {2, ring_record_max - 64});
  EXPECT_EQ(producer.try_claim(0), nullptr);
  EXPECT_TRUE(consumer.empty());
  producer.publish();
  ASSERT_NE(consumer.front(), nullptr);
  consumer.pop();
  consumer.release();
  EXPECT_NE(producer.try_claim(0), nullptr);
}

TEST(RingProducer, PublishesWithoutEffectWhenNothingWasCommitted) {
  const OwnedRing ring(640);
  Producer producer(ring.view());
  producer.publish();
  EXPECT_EQ(ring.view().lines->producer.position, 640U);
  ASSERT_NE(producer.try_claim(0), nullptr);
  producer.publish();
  EXPECT_EQ(ring.view().lines->producer.position, 640U);
}

TEST(RingProducer, GivesTheSameBytesAgainAfterAbort) {
  const OwnedRing ring;
  Producer producer(ring.view());
  Consumer consumer(ring.view());
  rk_record_header* const first = producer.try_claim(1000);
  fill(first, {1, 1000});
  producer.abort();
  EXPECT_EQ(producer.position(), 0U);
  EXPECT_EQ(producer.try_claim(10), first);
  fill(first, {2, 10});
  producer.commit();
  producer.publish();
  ASSERT_NE(consumer.front(), nullptr);
  EXPECT_EQ(parse(*consumer.front()), (Message{2, 10}));
  consumer.pop();
  EXPECT_TRUE(consumer.empty());
}

TEST(RingProducer, ForgetsThePaddingOfAnAbortedClaim) {
  for (const std::uint64_t start : starts) {
    const OwnedRing ring(start + ring_capacity - 64);
    Producer producer(ring.view());
    Consumer consumer(ring.view());
    ASSERT_EQ(producer.try_claim(1), ring.view().record(start)) << "padded to index 0";
    producer.abort();
    EXPECT_EQ(producer.position(), start + ring_capacity - 64);
    claim_and_commit(producer, {9, 0});
    producer.publish();
    EXPECT_EQ(ring.view().lines->producer.position, start + ring_capacity);
    ASSERT_NE(consumer.front(), nullptr);
    EXPECT_EQ(parse(*consumer.front()), (Message{9, 0}));
  }
}

TEST(RingProducer, KeepsTheBatchWhenALaterClaimIsAborted) {
  const OwnedRing ring;
  Producer producer(ring.view());
  Consumer consumer(ring.view());
  claim_and_commit(producer, {1, 5});
  ASSERT_NE(producer.try_claim(500), nullptr);
  producer.abort();
  producer.publish();
  ASSERT_NE(consumer.front(), nullptr);
  EXPECT_EQ(parse(*consumer.front()), (Message{1, 5}));
  consumer.pop();
  EXPECT_TRUE(consumer.empty());
}

TEST(RingProducer, AbortsWithoutAClaimHarmlessly) {
  const OwnedRing ring;
  Producer producer(ring.view());
  producer.abort();
  EXPECT_NE(producer.try_claim(0), nullptr);
}

TEST(RingProducer, CountsFreeBytesFromTheConsumersLatestRelease) {
  const OwnedRing ring;
  Producer producer(ring.view());
  Consumer consumer(ring.view());
  EXPECT_EQ(producer.free_bytes(), ring_capacity);
  claim_and_commit(producer, {1, 100});
  EXPECT_EQ(producer.free_bytes(), ring_capacity - 192);
  producer.publish();
  ASSERT_NE(consumer.front(), nullptr);
  consumer.pop();
  EXPECT_EQ(producer.free_bytes(), ring_capacity - 192);
  consumer.release();
  EXPECT_EQ(producer.free_bytes(), ring_capacity);
}

TEST(RingProducer, TreatsAnImpossibleConsumerPositionAsFull) {
  for (const std::uint64_t start : starts) {
    const OwnedRing ring(start);
    const std::uint64_t far = std::uint64_t{1} << 40;
    for (const std::uint64_t position : {start + 64, start - ring_capacity - 64, start + far}) {
      ring.view().lines->consumer.position = position;
      Producer producer(ring.view());
      EXPECT_EQ(producer.try_claim(0), nullptr);
      EXPECT_EQ(producer.free_bytes(), 0U);
    }
  }
}

TEST(RingProducer, LeavesHeaderFieldsToTheCallerExceptLength) {
  const OwnedRing ring;
  Producer producer(ring.view());
  rk_record_header* const header = producer.try_claim(65);
  const rk_record_header filled{.length = 0,
                                .kind = RK_RECORD_REPLY,
                                .flags = 0,
                                .correlation_id = 2,
                                .payload_bytes = 65,
                                .selector = 4,
                                .prefix_offset = 5,
                                .prefix_bytes = 6,
                                .reply_bytes = 7,
                                .fault = 8,
                                .fault_detail = 9,
                                .taken_ticks = 10,
                                .done_ticks = 11};
  *header = filled;
  producer.commit();
  EXPECT_EQ(header->length, 192U);
  header->length = filled.length;
  EXPECT_EQ(std::memcmp(header, &filled, sizeof filled), 0);
}

TEST(RingProducerDeathTest, StopsTheProcessWhenTheContractIsBroken) {
  const OwnedRing ring;
  Producer producer(ring.view());
  EXPECT_DEATH(producer.commit(), "commit without a claim");
  EXPECT_DEATH((void)producer.try_claim(ring_record_max - 63), "larger than the ring takes");
  ASSERT_NE(producer.try_claim(0), nullptr);
  EXPECT_DEATH((void)producer.try_claim(0), "commit or abort a claim");
}

}  // namespace
}  // namespace ringkernel::test
