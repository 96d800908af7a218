#include "ring/inspect.hpp"

#include <gtest/gtest.h>

#include "ring_fixture.hpp"

namespace ringkernel::test {
namespace {

TEST(RingInspect, ShowsAnEmptyRing) {
  const OwnedRing ring(640);
  const RingPicture picture = inspect(ring.view());
  EXPECT_TRUE(picture.records.empty());
  EXPECT_FALSE(picture.corrupt);
  EXPECT_EQ(to_text(picture), "ring of 4096 bytes: producer 640, consumer 640\n");
}

TEST(RingInspect, ShowsRecordsAndPaddingInOrderAndLeavesThemThere) {
  const OwnedRing ring(ring_capacity - 128);
  HostProducerEnd producer(ring);
  ASSERT_TRUE(producer.push({7, 0}));
  ASSERT_TRUE(producer.push({8, 40}));
  const RingPicture picture = inspect(ring.view());
  EXPECT_EQ(to_text(picture),
            "ring of 4096 bytes: producer 4224, consumer 3968\n"
            "  3968: request, 64 bytes, payload 0, correlation 7\n"
            "  4032: padding, 64 bytes\n"
            "  4096: request, 128 bytes, payload 40, correlation 8\n");
  HostConsumerEnd consumer(ring);
  EXPECT_EQ(consumer.pop(), (Message{7, 0}));
}

TEST(RingInspect, NamesTheFaultOfAReply) {
  const OwnedRing ring;
  HostProducerEnd producer(ring);
  ASSERT_TRUE(producer.push({7, 0}));
  ring.view().record(0)->kind = RK_RECORD_REPLY;
  ring.view().record(0)->fault = 3;
  EXPECT_EQ(to_text(inspect(ring.view())),
            "ring of 4096 bytes: producer 64, consumer 0\n"
            "  0: reply, 64 bytes, payload 0, correlation 7, fault 3\n");
}

TEST(RingInspect, EndsAtTheFirstImpossibleLength) {
  const OwnedRing ring;
  HostProducerEnd producer(ring);
  for (std::uint64_t id = 0; id < 3; ++id) ASSERT_TRUE(producer.push({id, 0}));
  ring.view().record(64)->length = 0;
  const RingPicture picture = inspect(ring.view());
  EXPECT_TRUE(picture.corrupt);
  EXPECT_EQ(picture.records.size(), 2U);
  EXPECT_NE(to_text(picture).find(", corrupt\n"), std::string::npos);
}

TEST(RingInspect, CallsAnImpossibleDistanceCorrupt) {
  const OwnedRing ring;
  ring.view().lines->consumer.position = 64;
  EXPECT_TRUE(inspect(ring.view()).corrupt);
}

}  // namespace
}  // namespace ringkernel::test
