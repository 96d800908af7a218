// Replies: prefix + data, as a device assembles them, and every way in which one can be spoilt.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "message/codec.hpp"
#include "ringkernel/ops.hpp"
#include "schemas/message_generated.h"

namespace ringkernel::test {
namespace {

/// What a device does with a request: copies the prefix, writes `elements` at the output's offset.
MessageBuffer answer(const Request& request, std::span<const float> elements) {
  const codec::Plan plan = codec::plan(request).value();
  MessageBuffer message(plan.payload_bytes);
  codec::encode(plan, request, message.data());
  rk_command command;
  std::memcpy(&command, message.data() + plan.command_offset, sizeof(command));
  MessageBuffer reply(plan.reply_bytes);
  std::memcpy(reply.data(), message.data() + plan.prefix_offset, plan.prefix_bytes);
  EXPECT_EQ(command.output.offset % RK_RECORD_ALIGN, 0u);
  EXPECT_EQ(command.output.offset + elements.size_bytes(), plan.reply_bytes);
  std::ranges::copy(std::as_bytes(elements), reply.data() + command.output.offset);
  return reply;
}

Errc reply_error(std::span<const std::byte> bytes) {
  const auto tensor = codec::read_reply(bytes);
  return tensor ? Errc::ok : static_cast<Errc>(tensor.error().code.value());
}

/// A reply with one thing wrong, from the schema.
std::vector<std::byte> foreign_reply(const schema::TensorInfo& info, std::size_t data_bytes,
                                     const char* identifier = schema::RequestIdentifier()) {
  flatbuffers::FlatBufferBuilder builder;
  const auto data = builder.CreateVector(std::vector<std::uint8_t>(data_bytes));
  builder.Finish(schema::CreateReply(builder, &info, data), identifier);
  const auto* begin = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
  return {begin, begin + builder.GetSize()};
}

schema::TensorInfo info(std::uint8_t dtype, std::uint8_t rank, std::uint16_t reserved,
                        std::uint32_t extent) {
  std::array<std::uint32_t, RK_RANK_MAX> dims{};
  dims.fill(extent);
  return {dtype, rank, reserved, std::span<const std::uint32_t, RK_RANK_MAX>(dims)};
}

class ReadReply : public ::testing::Test {
 protected:
  std::vector<float> a_ = std::vector<float>(16, 1.0f);
  MessageBuffer reply_ = answer(ops::add(a_, a_), std::vector<float>(16, 2.0f));
};

TEST_F(ReadReply, GivesTheTensorInPlace) {
  const TensorView tensor = codec::read_reply(reply_.span()).value();
  EXPECT_EQ(tensor.desc, (TensorDesc{DType::f32, {16}}));
  EXPECT_TRUE(std::ranges::equal(tensor.floats(), std::vector<float>(16, 2.0f)));
  EXPECT_EQ(static_cast<const std::byte*>(tensor.data), reply_.data() + 64);
}

TEST_F(ReadReply, KeepsASmallReplySmall) { EXPECT_EQ(reply_.size(), 128u); }

TEST_F(ReadReply, GivesAScalarOfRankZero) {
  const std::vector<float> sum{16};
  const MessageBuffer reply = answer(ops::sum_all(a_), sum);
  const TensorView tensor = codec::read_reply(reply.span()).value();
  EXPECT_EQ(tensor.desc.shape.rank(), 0u);
  EXPECT_EQ(tensor.floats()[0], 16.0f);
}

TEST_F(ReadReply, GivesNoTensorForAnOpWithoutOutput) {
  const codec::Plan plan = codec::plan(Request{}).value();
  MessageBuffer message(plan.payload_bytes);
  codec::encode(plan, Request{}, message.data());
  const auto reply = message.span().subspan(plan.prefix_offset, plan.prefix_bytes);
  EXPECT_EQ(plan.reply_bytes, plan.prefix_bytes);
  EXPECT_EQ(codec::read_reply(reply).value().desc.dtype, DType::none);
}

// What the plan of the request spares is the verification, never the look at the bytes.
TEST_F(ReadReply, ThatThePlanAskedForIsWhatVerifyingFinds) {
  const Request request = ops::add(a_, a_);
  const codec::Plan plan = codec::plan(request).value();
  const TensorView verified = codec::read_reply(reply_.span()).value();
  ASSERT_TRUE(codec::is_reply_to(plan, reply_.span()));
  EXPECT_EQ(codec::reply_of(plan), verified.desc);
  EXPECT_EQ(reply_.data() + plan.prefix_bytes, verified.data);
  for (std::size_t i = 0; i < plan.prefix_bytes; ++i) {
    reply_.data()[i] ^= std::byte{0x40};
    EXPECT_FALSE(codec::is_reply_to(plan, reply_.span())) << "byte " << i;
    reply_.data()[i] ^= std::byte{0x40};
  }
  const std::vector<std::byte> cut(reply_.data(), reply_.data() + reply_.size() - 1);
  EXPECT_FALSE(codec::is_reply_to(plan, cut));
  EXPECT_FALSE(codec::is_reply_to(plan, {}));
}

TEST_F(ReadReply, ThatThePlanAskedForHasNoTensorForAnOpWithoutOutput) {
  const codec::Plan plan = codec::plan(Request{}).value();
  MessageBuffer message(plan.payload_bytes);
  codec::encode(plan, Request{}, message.data());
  const auto reply = message.span().subspan(plan.prefix_offset, plan.prefix_bytes);
  EXPECT_TRUE(codec::is_reply_to(plan, reply));
  EXPECT_EQ(codec::reply_of(plan).dtype, DType::none);
}

TEST_F(ReadReply, RefusesEveryTruncation) {
  for (std::size_t length = 0; length < reply_.size(); ++length) {
    const std::vector<std::byte> cut(reply_.data(), reply_.data() + length);
    EXPECT_EQ(reply_error(cut), Errc::truncated_message) << "cut after " << length;
  }
}

TEST_F(ReadReply, RefusesAnotherFileIdentifier) {
  EXPECT_EQ(reply_error(foreign_reply(info(RK_DTYPE_F32, 1, 0, 4), 16)), Errc::ok);
  EXPECT_EQ(reply_error(foreign_reply(info(RK_DTYPE_F32, 1, 0, 4), 16, "NOPE")),
            Errc::malformed_message);
}

TEST_F(ReadReply, RefusesAnUnknownElementType) {
  EXPECT_EQ(reply_error(foreign_reply(info(9, 1, 0, 4), 16)), Errc::malformed_message);
}

TEST_F(ReadReply, RefusesARankBeyondTheLimit) {
  EXPECT_EQ(reply_error(foreign_reply(info(RK_DTYPE_F32, 9, 0, 1), 4)), Errc::malformed_message);
}

TEST_F(ReadReply, RefusesReservedBitsThatAreNotZero) {
  EXPECT_EQ(reply_error(foreign_reply(info(RK_DTYPE_F32, 1, 1, 4), 16)), Errc::malformed_message);
}

TEST_F(ReadReply, RefusesAnExtentOfZero) {
  EXPECT_EQ(reply_error(foreign_reply(info(RK_DTYPE_F32, 1, 0, 0), 0)), Errc::malformed_message);
}

TEST_F(ReadReply, RefusesMoreElementsThanCanBeCounted) {
  EXPECT_EQ(reply_error(foreign_reply(info(RK_DTYPE_F32, 8, 0, 0x10000), 16)),
            Errc::malformed_message);
}

TEST_F(ReadReply, RefusesDataOfAnotherLengthThanTheShape) {
  EXPECT_EQ(reply_error(foreign_reply(info(RK_DTYPE_F32, 1, 0, 4), 12)), Errc::malformed_message);
  EXPECT_EQ(reply_error(foreign_reply(info(RK_DTYPE_F32, 1, 0, 4), 20)), Errc::malformed_message);
}

}  // namespace
}  // namespace ringkernel::test
