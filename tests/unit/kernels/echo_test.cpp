#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "unit/kernels/hand_built_message.hpp"

namespace ringkernel::test {
namespace {

struct alignas(64) Line {
  rk_u8 bytes[64];
};

class Echo : public testing::Test {
 protected:
  Echo() {
    std::iota(payload(), payload() + sizeof payload_, rk_u8{1});
    std::fill_n(reply(), sizeof reply_, rk_u8{0xa5});
  }

  rk_u8* payload() { return payload_[0].bytes; }
  rk_u8* reply() { return reply_[0].bytes; }
  MessageMemory memory(rk_u32 payload_bytes, rk_u32 reply_bytes) {
    return {payload(), payload_bytes, 0, reply(), reply_bytes, nullptr, 0};
  }

  Line payload_[4];
  Line reply_[5];
};

TEST_F(Echo, RepliesWithTheBytesOfThePayloadAndNoMore) {
  for (const Programs& programs : available_programs())
    for (const rk_u32 bytes : {0u, 1u, 3u, 4u, 63u, 64u, 65u, 127u, 128u, 200u, 256u}) {
      std::fill_n(reply(), sizeof reply_, rk_u8{0xa5});
      EXPECT_EQ(programs.echo(memory(bytes, bytes), 0, 1), success);
      EXPECT_TRUE(std::equal(payload(), payload() + bytes, reply())) << bytes;
      EXPECT_TRUE(std::all_of(reply() + bytes, reply() + sizeof reply_, [](rk_u8 byte) {
        return byte == 0xa5;
      })) << bytes;
    }
}

TEST_F(Echo, RefusesAReplyOfAnotherSize) {
  for (const Programs& programs : available_programs())
    for (const rk_u32 reply_bytes : {0u, 63u, 65u, 128u}) {
      EXPECT_EQ(programs.echo(memory(64, reply_bytes), 0, 1), refusal(Errc::reply_too_small, 64));
      EXPECT_EQ(*std::max_element(reply(), reply() + sizeof reply_), 0xa5);
    }
}

}  // namespace
}  // namespace ringkernel::test
