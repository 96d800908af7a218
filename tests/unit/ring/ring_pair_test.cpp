// Goal: the host's and the device's code agree on full, empty, wrap and padding. Method: every
// case runs for all four pairs of a producer and a consumer, from positions near 2^32, 2^63 and
// 2^64 too.
#include <gtest/gtest.h>

#include <string>

#include "ring_fixture.hpp"

namespace ringkernel::test {
namespace {

constexpr std::uint32_t header_bytes = sizeof(rk_record_header);

template <class ProducerEnd, class ConsumerEnd>
struct Pair {
  using Producer = ProducerEnd;
  using Consumer = ConsumerEnd;
};

struct PairNames {
  template <class P>
  static std::string GetName(int) {
    const bool host_produces = std::is_same_v<typename P::Producer, HostProducerEnd>;
    const bool host_consumes = std::is_same_v<typename P::Consumer, HostConsumerEnd>;
    return std::string(host_produces ? "Host" : "Device") + "To" +
           (host_consumes ? "Host" : "Device");
  }
};

/// A ring with both ends open, at `position`.
template <class P>
struct Link {
  explicit Link(std::uint64_t position) : ring(position), producer(ring), consumer(ring) {}

  /// Moves both sides forward by `bytes`, through the ring, in one record.
  void advance(std::uint32_t bytes) {
    ASSERT_TRUE(producer.push({77, bytes - header_bytes}));
    ASSERT_TRUE(consumer.pop().has_value());
    consumer.release();
  }
  [[nodiscard]] std::uint64_t produced() const { return ring.view().lines->producer.position; }
  [[nodiscard]] std::uint64_t consumed() const { return ring.view().lines->consumer.position; }

  OwnedRing ring;
  typename P::Producer producer;
  typename P::Consumer consumer;
};

template <class P>
class RingPair : public testing::Test {
 protected:
  /// Runs `body` with a link for each start.
  template <class Body>
  static void from_every_start(const Body& body) {
    for (const std::uint64_t start : starts) {
      SCOPED_TRACE("start " + std::to_string(start));
      Link<P> link(start);
      body(link, start);
    }
  }
};

using Pairs =
    testing::Types<Pair<HostProducerEnd, HostConsumerEnd>, Pair<HostProducerEnd, DeviceConsumerEnd>,
                   Pair<DeviceProducerEnd, HostConsumerEnd>,
                   Pair<DeviceProducerEnd, DeviceConsumerEnd>>;
TYPED_TEST_SUITE(RingPair, Pairs, PairNames);

TYPED_TEST(RingPair, GivesNothingWhenEmpty) {
  this->from_every_start([](auto& link, std::uint64_t start) {
    EXPECT_FALSE(link.consumer.pop().has_value());
    EXPECT_FALSE(link.consumer.broken());
    EXPECT_EQ(link.produced(), start);
    EXPECT_EQ(link.consumed(), start);
  });
}

TYPED_TEST(RingPair, DeliversARecordIntactAndOnce) {
  this->from_every_start([](auto& link, std::uint64_t start) {
    const Message message{1234567890123, 100};
    ASSERT_TRUE(link.producer.push(message));
    EXPECT_EQ(link.produced(), start + 192) << "64 of header, 100 of payload, rounded up to 64";
    EXPECT_EQ(link.consumer.pop(), message);
    EXPECT_EQ(link.consumer.pop(), std::nullopt);
    link.consumer.release();
    EXPECT_EQ(link.consumed(), start + 192);
  });
}

TYPED_TEST(RingPair, IsFullWhenEveryByteIsPublishedAndNotBefore) {
  this->from_every_start([](auto& link, std::uint64_t start) {
    for (std::uint32_t i = 0; i < ring_capacity / header_bytes; ++i) {
      ASSERT_TRUE(link.producer.push({i, 0})) << i;
    }
    EXPECT_EQ(link.produced(), start + ring_capacity);
    EXPECT_FALSE(link.producer.push({99, 0}));
    EXPECT_EQ(link.produced(), start + ring_capacity);
    for (std::uint32_t i = 0; i < ring_capacity / header_bytes; ++i) {
      EXPECT_EQ(link.consumer.pop(), (Message{i, 0}));
    }
    EXPECT_EQ(link.consumer.pop(), std::nullopt);
  });
}

TYPED_TEST(RingPair, ReusesSpaceAfterReleaseAndNotAfterPop) {
  this->from_every_start([](auto& link, std::uint64_t) {
    ASSERT_TRUE(link.producer.push({1, ring_record_max - header_bytes}));
    ASSERT_TRUE(link.producer.push({2, ring_record_max - header_bytes}));
    ASSERT_TRUE(link.consumer.pop().has_value());
    EXPECT_FALSE(link.producer.push({3, 0})) << "popped, but not released";
    link.consumer.release();
    EXPECT_TRUE(link.producer.push({3, 0}));
    EXPECT_EQ(link.consumer.pop(), (Message{2, ring_record_max - header_bytes}));
    EXPECT_EQ(link.consumer.pop(), (Message{3, 0}));
  });
}

TYPED_TEST(RingPair, NeedsNoPaddingWhenARecordEndsExactlyAtTheEnd) {
  this->from_every_start([](auto& link, std::uint64_t start) {
    link.advance(ring_record_max);
    ASSERT_TRUE(link.producer.push({5, ring_record_max - header_bytes}));
    EXPECT_EQ(link.produced(), start + ring_capacity);
    ASSERT_TRUE(link.producer.push({6, 0}));
    EXPECT_EQ(link.produced(), start + ring_capacity + header_bytes);
    EXPECT_EQ(link.consumer.pop(), (Message{5, ring_record_max - header_bytes}));
    EXPECT_EQ(link.consumer.pop(), (Message{6, 0}));
  });
}

TYPED_TEST(RingPair, PadsToTheEndWhenARecordIsOneLineTooLong) {
  this->from_every_start([](auto& link, std::uint64_t start) {
    link.advance(ring_record_max);
    link.advance(header_bytes);
    ASSERT_TRUE(link.producer.push({5, ring_record_max - header_bytes}));
    EXPECT_EQ(link.produced(), start + ring_capacity + ring_record_max);
    EXPECT_EQ(link.ring.view().record(start + ring_record_max + header_bytes)->kind,
              RK_RECORD_PADDING);
    EXPECT_EQ(link.consumer.pop(), (Message{5, ring_record_max - header_bytes}));
    link.consumer.release();
    EXPECT_EQ(link.consumed(), start + ring_capacity + ring_record_max);
  });
}

TYPED_TEST(RingPair, PadsWithTheShortestPaddingOfOneLine) {
  this->from_every_start([](auto& link, std::uint64_t start) {
    link.advance(ring_record_max);
    link.advance(ring_record_max - header_bytes);
    ASSERT_TRUE(link.producer.push({5, 1}));
    EXPECT_EQ(link.produced(), start + ring_capacity + 2 * header_bytes);
    EXPECT_EQ(link.consumer.pop(), (Message{5, 1}));
  });
}

// The record alone would fit at the start of the data; with its padding it does not.
TYPED_TEST(RingPair, CountsPaddingAsUsedSpace) {
  this->from_every_start([](auto& link, std::uint64_t) {
    link.advance(ring_record_max);
    ASSERT_TRUE(link.producer.push({1, ring_record_max - 2 * header_bytes}));
    // 64 bytes are free before the end and ring_record_max at the start.
    EXPECT_TRUE(link.producer.push({2, ring_record_max - header_bytes}));
    EXPECT_FALSE(link.producer.push({3, 0}));
    EXPECT_EQ(link.consumer.pop(), (Message{1, ring_record_max - 2 * header_bytes}));
    link.consumer.release();
    EXPECT_TRUE(link.producer.push({3, 0}));
    EXPECT_EQ(link.consumer.pop(), (Message{2, ring_record_max - header_bytes}));
    link.consumer.release();
    EXPECT_EQ(link.consumer.pop(), (Message{3, 0}));
  });
}

TYPED_TEST(RingPair, RefusesARecordWhoseStartBehindThePaddingIsStillInUse) {
  this->from_every_start([](auto& link, std::uint64_t start) {
    ASSERT_TRUE(link.producer.push({1, ring_record_max - header_bytes}));
    ASSERT_TRUE(link.producer.push({2, ring_record_max - 2 * header_bytes}));
    const std::uint64_t before = link.produced();
    EXPECT_FALSE(link.producer.push({3, 1}));
    EXPECT_EQ(link.produced(), before);
    EXPECT_EQ(link.consumer.pop(), (Message{1, ring_record_max - header_bytes}));
    link.consumer.release();
    EXPECT_TRUE(link.producer.push({3, 1}));
    EXPECT_EQ(link.produced(), start + ring_capacity + 2 * header_bytes);
    EXPECT_EQ(link.consumer.pop(), (Message{2, ring_record_max - 2 * header_bytes}));
    EXPECT_EQ(link.consumer.pop(), (Message{3, 1}));
  });
}

// The reason why the longest record is half the ring_capacity (protocol/ring.h).
TYPED_TEST(RingPair, TakesTheLongestRecordWheneverItIsEmpty) {
  for (const std::uint64_t start : starts) {
    for (std::uint64_t index = 0; index < ring_capacity; index += RK_RECORD_ALIGN) {
      Link<TypeParam> link(start + index);
      ASSERT_TRUE(link.producer.push({index, ring_record_max - header_bytes})) << index;
      ASSERT_EQ(link.consumer.pop(), (Message{index, ring_record_max - header_bytes})) << index;
    }
  }
}

// Many laps with sizes that visit every residue: fill until refused, drain a part, compare.
TYPED_TEST(RingPair, KeepsEveryMessageInOrderOverManyLaps) {
  this->from_every_start([](auto& link, std::uint64_t start) {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    const auto message = [](std::uint64_t id) {
      return Message{id, static_cast<std::uint32_t>((id * 2654435761U) %
                                                    (ring_record_max - header_bytes + 1))};
    };
    while (received < 2000) {
      while (link.producer.push(message(sent))) ++sent;
      for (std::uint64_t n = 0; n <= received % 3 && received < sent; ++n, ++received) {
        ASSERT_EQ(link.consumer.pop(), message(received));
      }
      link.consumer.release();
    }
    EXPECT_GT(link.consumed() - start, 100 * ring_capacity);
  });
}

TYPED_TEST(RingPair, GoesOnWhereFormerEndsStopped) {
  this->from_every_start([](auto& link, std::uint64_t) {
    ASSERT_TRUE(link.producer.push({1, 10}));
    ASSERT_TRUE(link.producer.push({2, 20}));
    ASSERT_EQ(link.consumer.pop(), (Message{1, 10}));
    link.consumer.release();
    typename TypeParam::Producer producer(link.ring);
    typename TypeParam::Consumer consumer(link.ring);
    ASSERT_TRUE(producer.push({3, 30}));
    EXPECT_EQ(consumer.pop(), (Message{2, 20}));
    EXPECT_EQ(consumer.pop(), (Message{3, 30}));
  });
}

/// A change to the one published record, or to the producer's position, that no sound ring shows.
struct Damage {
  const char* name;
  void (*apply)(const RingView& ring, std::uint64_t start);
};

constexpr Damage damages[] = {
    {"length zero", [](const RingView& ring, std::uint64_t at) { ring.record(at)->length = 0; }},
    {"length below the header",
     [](const RingView& ring, std::uint64_t at) { ring.record(at)->length = 32; }},
    {"length not a multiple of 64",
     [](const RingView& ring, std::uint64_t at) { ring.record(at)->length = 96; }},
    {"length beyond the producer",
     [](const RingView& ring, std::uint64_t at) { ring.record(at)->length = 192; }},
    {"length of four gigabytes",
     [](const RingView& ring, std::uint64_t at) { ring.record(at)->length = 0xffffffc0; }},
    {"length beyond the end",
     [](const RingView& ring, std::uint64_t at) {
       ring.record(at)->length = ring_capacity + 64;
       ring.lines->producer.position = at + 2 * ring_capacity;
     }},
    {"padding of length zero",
     [](const RingView& ring, std::uint64_t at) {
       ring.record(at)->length = 0;
       ring.record(at)->kind = RK_RECORD_PADDING;
     }},
    {"position moved within a record",
     [](const RingView& ring, std::uint64_t at) { ring.lines->producer.position = at + 64; }},
};

TYPED_TEST(RingPair, RefusesADamagedRecordForGood) {
  for (const Damage& damage : damages) {
    this->from_every_start([&](auto& link, std::uint64_t start) {
      SCOPED_TRACE(damage.name);
      ASSERT_TRUE(link.producer.push({1, 64}));
      damage.apply(link.ring.view(), start);
      EXPECT_EQ(link.consumer.pop(), std::nullopt);
      EXPECT_TRUE(link.consumer.broken());
      EXPECT_EQ(link.consumer.pop(), std::nullopt);
      link.consumer.release();
      EXPECT_EQ(link.consumed(), start) << "a damaged record is not given back";
    });
  }
}

}  // namespace
}  // namespace ringkernel::test
