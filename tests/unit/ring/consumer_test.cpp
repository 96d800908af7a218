#include "ring/consumer.hpp"

#include <gtest/gtest.h>

#include "ring_fixture.hpp"

namespace ringkernel::test {
namespace {

TEST(RingConsumer, GivesTheSameFrontUntilPop) {
  const OwnedRing ring;
  HostProducerEnd producer(ring);
  Consumer consumer(ring.view());
  ASSERT_TRUE(producer.push({1, 3}));
  ASSERT_TRUE(producer.push({2, 3}));
  const rk_record_header* const first = consumer.front();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(consumer.front(), first);
  consumer.pop();
  ASSERT_NE(consumer.front(), nullptr);
  EXPECT_NE(consumer.front(), first);
}

TEST(RingConsumer, ReleasesEverythingPoppedWithOneStore) {
  const OwnedRing ring;
  HostProducerEnd producer(ring);
  Consumer consumer(ring.view());
  for (std::uint64_t id = 0; id < 5; ++id) ASSERT_TRUE(producer.push({id, 0}));
  for (int n = 0; n < 3; ++n) {
    ASSERT_NE(consumer.front(), nullptr);
    consumer.pop();
  }
  EXPECT_EQ(ring.view().lines->consumer.position, 0U);
  ASSERT_NE(consumer.front(), nullptr) << "a front that was not popped is not released";
  consumer.release();
  EXPECT_EQ(ring.view().lines->consumer.position, 3U * 64U);
  EXPECT_EQ(consumer.position(), 3U * 64U);
}

TEST(RingConsumer, TellsEmptyFromWaiting) {
  for (const std::uint64_t start : starts) {
    const OwnedRing ring(start + ring_capacity - 64);
    HostProducerEnd producer(ring);
    Consumer consumer(ring.view());
    EXPECT_TRUE(consumer.empty());
    ASSERT_TRUE(producer.push({1, 0}));
    EXPECT_FALSE(consumer.empty());
    ASSERT_NE(consumer.front(), nullptr);
    EXPECT_FALSE(consumer.empty());
    consumer.pop();
    EXPECT_TRUE(consumer.empty());
  }
}

TEST(RingConsumer, SeesRecordsThatComeAfterItWasEmpty) {
  const OwnedRing ring;
  HostProducerEnd producer(ring);
  Consumer consumer(ring.view());
  EXPECT_EQ(consumer.front(), nullptr);
  ASSERT_TRUE(producer.push({4, 0}));
  ASSERT_NE(consumer.front(), nullptr);
  EXPECT_EQ(parse(*consumer.front()), (Message{4, 0}));
}

TEST(RingConsumer, AddsThePaddingToTheNextRelease) {
  const OwnedRing ring(ring_capacity - 64);
  HostProducerEnd producer(ring);
  Consumer consumer(ring.view());
  ASSERT_TRUE(producer.push({4, 1}));
  ASSERT_NE(consumer.front(), nullptr);
  consumer.pop();
  consumer.release();
  EXPECT_EQ(ring.view().lines->consumer.position, ring_capacity + 128U);
}

TEST(RingConsumer, RefusesARecordThatNobodyCommitted) {
  const OwnedRing ring;
  HostProducerEnd producer(ring);
  Consumer consumer(ring.view());
  ASSERT_TRUE(producer.push({1, 0}));
  ring.view().record(0)->kind = RK_RECORD_NONE;
  EXPECT_EQ(consumer.front(), nullptr);
  EXPECT_TRUE(consumer.corrupt());
}

TEST(RingConsumer, RefusesAPayloadLongerThanItsRecord) {
  const OwnedRing ring;
  HostProducerEnd producer(ring);
  ASSERT_TRUE(producer.push({1, 64}));
  ring.view().record(0)->payload_bytes = 64;
  Consumer sound(ring.view());
  EXPECT_NE(sound.front(), nullptr);
  ring.view().record(0)->payload_bytes = 65;
  Consumer consumer(ring.view());
  EXPECT_EQ(consumer.front(), nullptr);
  EXPECT_TRUE(consumer.corrupt());
}

TEST(RingConsumer, RefusesAProducerMoreThanALapAhead) {
  const OwnedRing ring;
  HostProducerEnd producer(ring);
  ASSERT_TRUE(producer.push({1, 0}));
  for (const std::uint64_t position : {std::uint64_t{ring_capacity} + 64, ~std::uint64_t{63}}) {
    ring.view().lines->producer.position = position;
    Consumer consumer(ring.view());
    EXPECT_EQ(consumer.front(), nullptr);
    EXPECT_TRUE(consumer.corrupt());
  }
}

TEST(RingConsumer, GivesTheRecordsBeforeADamagedOne) {
  const OwnedRing ring;
  HostProducerEnd producer(ring);
  Consumer consumer(ring.view());
  ASSERT_TRUE(producer.push({1, 0}));
  ASSERT_TRUE(producer.push({2, 0}));
  ring.view().record(64)->length = 0;
  ASSERT_NE(consumer.front(), nullptr);
  consumer.pop();
  EXPECT_EQ(consumer.front(), nullptr);
  EXPECT_TRUE(consumer.corrupt());
  consumer.release();
  EXPECT_EQ(ring.view().lines->consumer.position, 64U);
}

TEST(RingConsumerDeathTest, StopsTheProcessOnPopWithoutFront) {
  const OwnedRing ring;
  HostProducerEnd producer(ring);
  Consumer consumer(ring.view());
  EXPECT_DEATH(consumer.pop(), "pop without a front record");
  ASSERT_TRUE(producer.push({1, 0}));
  EXPECT_DEATH(consumer.pop(), "pop without a front record");
}

}  // namespace
}  // namespace ringkernel::test
