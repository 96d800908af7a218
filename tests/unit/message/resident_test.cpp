// Requests with resident tensors: what lies in the message, what only the command names.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "message/codec.hpp"
#include "ringkernel/ops.hpp"
#include "schemas/message_generated.h"

namespace ringkernel::test {
namespace {

constexpr codec::Offsets offsets{1024, 2048, 3072, 4096};

TensorView resident(Shape shape, TensorId id) {
  TensorView view({DType::f32, shape}, nullptr);
  view.tensor = id;
  return view;
}

/// A request as it goes into a ring.
struct EncodedInPlace {
  codec::Plan plan;
  MessageBuffer bytes;
  rk_command command{};

  explicit EncodedInPlace(const Request& request)
      : plan(codec::plan(request).value()), bytes(plan.payload_bytes) {
    std::memset(bytes.data(), 0xee, bytes.size());
    codec::encode(plan, request, bytes.data());
    codec::place(plan, offsets, bytes.data());
    std::memcpy(&command, bytes.data() + plan.command_offset, sizeof command);
  }
  [[nodiscard]] const schema::Request* root() const {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
    flatbuffers::Verifier verifier(begin, bytes.size());
    return schema::VerifyRequestBuffer(verifier) ? schema::GetRequest(begin) : nullptr;
  }
};

TEST(ResidentRequest, NamesItsTensorsByTheirPlaceInTheArena) {
  const std::vector<float> x(32, 1.5f);
  const TensorView w = resident({32, 1000}, 7);
  const EncodedInPlace encoded(ops::matmul({{1, 32}, x}, w));
  ASSERT_NE(encoded.root(), nullptr);
  EXPECT_LT(encoded.plan.payload_bytes, 1024u);
  EXPECT_EQ(encoded.plan.residents, 2u);

  EXPECT_EQ(encoded.command.inputs[0].place, RK_PLACE_MESSAGE);
  EXPECT_EQ(std::memcmp(encoded.bytes.data() + encoded.command.inputs[0].offset, x.data(), 128), 0);
  EXPECT_EQ(encoded.command.inputs[1].place, RK_PLACE_ARENA);
  EXPECT_EQ(encoded.command.inputs[1].offset, offsets[1]);
  EXPECT_EQ(encoded.command.inputs[1].element_count, 32'000u);
  EXPECT_EQ(encoded.root()->operands()->Get(1)->bytes(), nullptr);
  EXPECT_EQ(encoded.command.output.place, RK_PLACE_MESSAGE);
  EXPECT_EQ(encoded.plan.reply_bytes, encoded.plan.prefix_bytes + 4000);
}

TEST(ResidentRequest, WithAResidentResultGetsAReplyWithoutData) {
  const TensorView a = resident({1 << 20}, 7);
  const EncodedInPlace encoded(ops::add(a, a).into(a));
  ASSERT_NE(encoded.root(), nullptr);
  EXPECT_EQ(encoded.command.output.place, RK_PLACE_ARENA);
  EXPECT_EQ(encoded.command.output.offset, offsets[inputs_max]);
  EXPECT_EQ(encoded.command.output.element_count, 1u << 20);
  EXPECT_EQ(codec::result_of(encoded.plan), a.desc);
  ASSERT_EQ(encoded.plan.reply_bytes, encoded.plan.prefix_bytes);
  const TensorView reply =
      codec::read_reply(
          encoded.bytes.span().subspan(encoded.plan.prefix_offset, encoded.plan.prefix_bytes))
          .value();
  EXPECT_EQ(reply.desc.dtype, DType::none);
}

TEST(ResidentRequest, IsNotTakenForAnInlineOneOfTheSameShapes) {
  const std::vector<float> x(16, 1);
  const TensorView a = resident({16}, 7);
  const Request inline_request = ops::add(x, x);
  for (const Request& request : {inline_request, ops::add(a, x), ops::add(x, a), ops::add(a, a),
                                 inline_request.into(a), inline_request}) {
    const EncodedInPlace encoded(request);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_EQ(encoded.command.inputs[i].place,
                request.inputs[i].tensor != 0 ? RK_PLACE_ARENA : RK_PLACE_MESSAGE);
    EXPECT_EQ(encoded.command.output.place,
              request.output != 0 ? RK_PLACE_ARENA : RK_PLACE_MESSAGE);
  }
  // Another tensor of the same shape is the same kind.
  EXPECT_EQ(codec::plan(ops::add(a, x)).value().skeleton,
            codec::plan(ops::add(resident({16}, 8), x)).value().skeleton);
}

TEST(ResidentRequest, StillNeedsTheElementsOfItsInlineOperands) {
  const TensorView a = resident({4}, 7);
  const TensorView nothing({DType::f32, {4}}, nullptr);
  EXPECT_EQ(codec::plan(ops::add(a, nothing)).error(), Errc::invalid_argument);
  const std::vector<float> x(4);
  ASSERT_TRUE(codec::plan(ops::add(a, x)));
  EXPECT_EQ(codec::plan(ops::add(a, nothing)).error(), Errc::invalid_argument);
}

}  // namespace
}  // namespace ringkernel::test
