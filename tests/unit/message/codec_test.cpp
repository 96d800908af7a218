// plan and encode: the layout that the device relies on, and bytes equal to the builder's.
#include "message/codec.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <thread>
#include <vector>

#include "ringkernel/ops.hpp"
#include "schemas/message_generated.h"

namespace ringkernel::test {
namespace {

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) + 0.5f;
  return values;
}

struct Encoded {
  codec::Plan plan;
  MessageBuffer bytes;

  explicit Encoded(const Request& request)
      : plan(codec::plan(request).value()), bytes(plan.payload_bytes) {
    codec::encode(plan, request, bytes.data());
  }
  [[nodiscard]] rk_command command() const {
    rk_command result;
    std::memcpy(&result, bytes.data() + plan.command_offset, sizeof(result));
    return result;
  }
  [[nodiscard]] std::span<const std::byte> prefix() const {
    return bytes.span().subspan(plan.prefix_offset, plan.prefix_bytes);
  }
};

/// The same message by the FlatBuffers builder alone, elements included.
std::vector<std::byte> build(const Request& request, const Encoded& encoded) {
  using Bytes = std::vector<std::uint8_t>;
  flatbuffers::FlatBufferBuilder builder;
  const auto vector_of = [&builder](const void* data, std::size_t bytes, std::size_t alignment) {
    const auto* begin = static_cast<const std::uint8_t*>(data);
    const Bytes copy(begin, begin + bytes);
    builder.ForceVectorAlignment(copy.size(), 1, alignment);
    return builder.CreateVector(copy);
  };
  std::vector<flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>>> data(request.input_count);
  for (std::size_t i = request.input_count; i-- > 0;)
    data[i] = vector_of(request.inputs[i].data, request.inputs[i].desc.bytes(), 64);
  const auto prefix = vector_of(encoded.prefix().data(), encoded.prefix().size(), 8);
  std::vector<flatbuffers::Offset<schema::Data>> operands(request.input_count);
  for (std::size_t i = request.input_count; i-- > 0;)
    operands[i] = schema::CreateData(builder, data[i]);
  const auto list = builder.CreateVector(operands);
  const auto command = std::bit_cast<schema::Command>(encoded.command());
  schema::FinishRequestBuffer(builder, schema::CreateRequest(builder, &command, list, prefix));
  const auto* begin = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
  return {begin, begin + builder.GetSize()};
}

TEST(Codec, EncodesByteForByteWhatTheBuilderMakes) {
  const std::vector<float> a = ramp(4096), b = ramp(37);
  const std::span<const float> one(a.data(), 1);
  const std::vector<Request> requests = {
      Request{},
      ops::add(a, a),
      ops::add({{37}, b}, {{1}, one}),
      ops::mul({{}, one}, {{37}, b}),
      ops::matmul({{64, 64}, a}, {{64, 64}, a}),
      ops::relu(b),
      ops::sum({{16, 16, 16}, a}, {0, -1}, true),
      ops::sum_all(b),
      ops::reshape(a, {8, -1}),
      ops::fill({{1}, one}, {3, 5}),
  };
  for (const Request& request : requests) {
    const Encoded encoded(request);
    const std::vector<std::byte> built = build(request, encoded);
    EXPECT_TRUE(std::ranges::equal(encoded.bytes.span(), built))
        << "op " << static_cast<int>(request.op);
  }
}

TEST(Codec, WritesEveryByteOfThePayload) {
  const std::vector<float> a = ramp(37);
  const Request request = ops::add(a, a);
  const codec::Plan plan = codec::plan(request).value();
  MessageBuffer zeros(plan.payload_bytes), ones(plan.payload_bytes);
  std::memset(zeros.data(), 0, zeros.size());
  std::memset(ones.data(), 0xff, ones.size());
  codec::encode(plan, request, zeros.data());
  codec::encode(plan, request, ones.data());
  EXPECT_TRUE(std::ranges::equal(zeros.span(), ones.span()));
}

TEST(Codec, PutsTheCommandWhereThePlanSays) {
  const std::vector<float> a = ramp(6), b = ramp(3);
  const Encoded encoded(ops::add({{2, 3}, a}, b));
  const rk_command command = encoded.command();
  EXPECT_EQ(encoded.plan.command_offset % alignof(rk_command), 0u);
  EXPECT_EQ(command.op, static_cast<rk_u16>(Op::add));
  EXPECT_EQ(command.input_count, 2);
  EXPECT_EQ(command.output_count, 1);
  EXPECT_EQ(command.inputs[0].rank, 2);
  EXPECT_EQ(command.inputs[0].element_count, 6u);
  EXPECT_EQ(command.inputs[0].dims[1], 3u);
  EXPECT_EQ(command.inputs[0].dims[2], 1u) << "extents beyond the rank are 1";
  EXPECT_EQ(command.inputs[1].element_count, 3u);
  EXPECT_EQ(command.inputs[2].place, RK_PLACE_NONE);
  EXPECT_EQ(command.output.element_count, 6u);
  EXPECT_EQ(command.output.dtype, RK_DTYPE_F32);
}

TEST(Codec, AlignsEveryOperandToACacheLine) {
  const std::vector<float> a = ramp(1000);
  for (const std::uint32_t count : {1u, 15u, 16u, 17u, 1000u}) {
    const std::span<const float> elements(a.data(), count);
    const Encoded encoded(ops::add(elements, elements));
    for (std::size_t i = 0; i < 2; ++i) {
      const rk_operand operand = encoded.command().inputs[i];
      EXPECT_EQ(operand.offset % RK_RECORD_ALIGN, 0u);
      ASSERT_LE(operand.offset + elements.size_bytes(), encoded.plan.payload_bytes);
      EXPECT_EQ(std::memcmp(encoded.bytes.data() + operand.offset, a.data(), elements.size_bytes()),
                0);
    }
  }
}

TEST(Codec, KeepsASmallRequestSmall) {
  const std::vector<float> a = ramp(16);
  EXPECT_LE(Encoded(ops::add(a, a)).plan.payload_bytes, 640u);
}

TEST(Codec, CarriesAttributesInTheCommand) {
  const std::vector<float> a = ramp(24);
  const rk_command command = Encoded(ops::mean({{2, 3, 4}, a}, {-1, 0}, true)).command();
  EXPECT_EQ(command.attrs.reduce.axis_mask, 0b101u);
  EXPECT_EQ(command.attrs.reduce.keepdims, 1u);
  EXPECT_EQ(command.output.rank, 3);
  EXPECT_EQ(command.output.dims[1], 3u);
}

/// Every byte of a command is different from its neighbours, so a field that moved shows.
TEST(Codec, SchemaCommandHasTheFieldsOfTheProtocolCommand) {
  std::array<std::uint8_t, sizeof(rk_command)> image{};
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<std::uint8_t>(i % 251 + 1);
  const auto protocol = std::bit_cast<rk_command>(image);
  const auto message = std::bit_cast<schema::Command>(image);
  EXPECT_EQ(message.op(), protocol.op);
  EXPECT_EQ(message.input_count(), protocol.input_count);
  EXPECT_EQ(message.output_count(), protocol.output_count);
  EXPECT_EQ(message.flags(), protocol.flags);
  EXPECT_EQ(message.reserved(), protocol.reserved);
  const auto expect_same = [](const schema::Operand& left, const rk_operand& right) {
    EXPECT_EQ(left.offset(), right.offset);
    EXPECT_EQ(left.place(), right.place);
    EXPECT_EQ(left.dtype(), right.dtype);
    EXPECT_EQ(left.rank(), right.rank);
    EXPECT_EQ(left.reserved(), right.binding);
    EXPECT_EQ(left.element_count(), right.element_count);
    for (std::uint32_t dim = 0; dim < RK_RANK_MAX; ++dim)
      EXPECT_EQ(left.dims()->Get(dim), right.dims[dim]);
  };
  expect_same(message.output(), protocol.output);
  for (std::uint32_t i = 0; i < RK_INPUTS_MAX; ++i)
    expect_same(*message.inputs()->Get(i), protocol.inputs[i]);
  for (std::uint32_t i = 0; i < 16; ++i)
    EXPECT_EQ(message.attrs()->Get(i), protocol.attrs.words[i]);
}

TEST(CodecPlan, RefusesAnOperandWithoutElements) {
  const TensorView nothing({DType::f32, {4}}, nullptr);
  EXPECT_EQ(codec::plan(ops::relu(nothing)).error(), Errc::invalid_argument);
}

TEST(CodecPlan, RefusesAnotherNumberOfElementsThanTheShapeHas) {
  const std::vector<float> a = ramp(5);
  const auto result = codec::plan(ops::relu({{2, 3}, a}));
  ASSERT_EQ(result.error(), Errc::invalid_argument);
  EXPECT_EQ(result.error().detail, "operand 0 is f32[2, 3] but 5 elements were given");
}

TEST(CodecPlan, RefusesThemAlsoAfterAGoodRequestOfTheSameKind) {
  const std::vector<float> a = ramp(6);
  Request request = ops::relu({{2, 3}, a});
  EXPECT_TRUE(codec::plan(request).has_value());
  request.inputs[0].data = nullptr;
  EXPECT_EQ(codec::plan(request).error(), Errc::invalid_argument);
  EXPECT_EQ(codec::plan(ops::relu({{2, 3}, std::span(a).first(5)})).error(),
            Errc::invalid_argument);
}

TEST(CodecPlan, RefusesMoreOperandsThanARequestHolds) {
  Request request;
  request.input_count = 4'000'000'000;
  EXPECT_EQ(codec::plan(request).error(), Errc::arity_mismatch);
}

TEST(CodecPlan, RefusesAListThatRememberedOnlyItsLength) {
  const std::vector<float> a = ramp(1);
  EXPECT_EQ(codec::plan(ops::reshape(a, {1, 1, 1, 1, 1, 1, 1, 1, 1})).error(), Errc::rank_mismatch);
}

TEST(CodecPlan, RefusesARequestThatNoRingTakes) {
  const float element = 1;  // refused before any element is read
  const TensorView huge({DType::f32, {1u << 28}}, &element);
  EXPECT_EQ(codec::plan(ops::sum_all(huge)).error(), Errc::message_too_large);
}

TEST(CodecPlan, RefusesAReplyThatNoRingTakes) {
  const std::vector<float> a = ramp(1);
  EXPECT_EQ(codec::plan(ops::fill(a, {1 << 14, 1 << 14})).error(), Errc::message_too_large);
}

TEST(CodecPlan, PassesOnWhatTheShapeRulesRefuse) {
  const std::vector<float> a = ramp(3), b = ramp(4);
  EXPECT_EQ(codec::plan(ops::add(a, b)).error(), Errc::broadcast_failure);
  EXPECT_EQ(codec::plan(ops::relu(std::span<const float>())).error(), Errc::invalid_dimension);
}

/// The bytes of each request, planned by a thread that has planned nothing before.
std::vector<std::vector<std::byte>> encode_fresh(const std::vector<Request>& requests) {
  std::vector<std::vector<std::byte>> result(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    std::thread([&, i] {
      const Encoded encoded(requests[i]);
      result[i].assign(encoded.bytes.span().begin(), encoded.bytes.span().end());
    }).join();
  }
  return result;
}

/// More kinds than a thread remembers, so that they push each other out.
std::vector<Request> many_kinds(std::span<const float> elements) {
  std::vector<Request> requests;
  for (std::uint32_t rows = 1; rows <= 30; ++rows)
    for (std::uint32_t columns = 1; columns <= 10; ++columns) {
      const TensorView view({rows, columns}, elements.first(rows * columns));
      requests.push_back(ops::add(view, view));
      requests.push_back(ops::sum(view, {0}, columns % 2 == 0));
    }
  return requests;
}

TEST(CodecPlan, GivesTheSameBytesHoweverManyKindsAlternate) {
  const std::vector<float> a = ramp(300);
  const std::vector<Request> requests = many_kinds(a);
  const auto expected = encode_fresh(requests);
  for (std::size_t round = 0; round < 3; ++round)
    for (std::size_t i = 0; i < requests.size(); ++i)
      ASSERT_TRUE(std::ranges::equal(Encoded(requests[i]).bytes.span(), expected[i])) << i;
}

// So many kinds that several of them meet in every place of the cache.
TEST(CodecPlan, TellsKindsApartThatDifferInAttributesOnly) {
  const std::vector<float> a = ramp(16);
  for (std::uint32_t extent = 1; extent <= 500; ++extent) {
    const rk_command command = Encoded(ops::fill({{1}, std::span(a).first(1)}, {extent})).command();
    ASSERT_EQ(command.output.dims[0], extent);
    const TensorView view({4, 4}, a);
    ASSERT_EQ(Encoded(ops::sum(view, {0}, extent % 2 == 0)).command().output.rank,
              extent % 2 == 0 ? 2 : 1);
    ASSERT_EQ(Encoded(ops::sum(view, {extent % 2})).command().attrs.reduce.axis_mask,
              1u << extent % 2);
  }
}

TEST(CodecPlan, ServesSeveralThreadsAtOnce) {
  const std::vector<float> a = ramp(300);
  const std::vector<Request> requests = many_kinds(a);
  const auto expected = encode_fresh(requests);
  std::vector<std::size_t> wrong(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 5 * requests.size(); ++i) {
        const std::size_t at = (i * 7 + t * 131) % requests.size();
        if (!std::ranges::equal(Encoded(requests[at]).bytes.span(), expected[at])) ++wrong[t];
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<std::size_t>(4, 0));
}

}  // namespace
}  // namespace ringkernel::test
