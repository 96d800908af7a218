// Request::from_bytes: what a foreign client may send, and one test per way to get it wrong.
#include <gmock/gmock.h>

#include <functional>

#include "message/codec.hpp"
#include "ringkernel/ops.hpp"
#include "unit/message/foreign_request.hpp"

namespace ringkernel::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Errc error_after(ForeignRequest request, const std::function<void(ForeignRequest&)>& spoil) {
  spoil(request);
  return read_error(request.bytes());
}

TEST(RequestFromBytes, AcceptsARequestThatAClientBuiltFromTheSchema) {
  const Bytes bytes = ForeignRequest::add().bytes();
  const Request request = Request::from_bytes(bytes).value();
  EXPECT_EQ(request.op, Op::add);
  ASSERT_EQ(request.input_count, 2u);
  EXPECT_EQ(request.inputs[0].desc, (TensorDesc{DType::f32, {2, 3}}));
  EXPECT_THAT(request.inputs[0].floats(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(request.inputs[1].floats(), ElementsAre(10, 20, 30));
}

TEST(RequestFromBytes, BorrowsTheOperandsInsteadOfCopyingThem) {
  const Bytes bytes = ForeignRequest::add().bytes();
  const Request request = Request::from_bytes(bytes).value();
  const auto* data = static_cast<const std::byte*>(request.inputs[0].data);
  EXPECT_TRUE(data >= bytes.data() && data < bytes.data() + bytes.size());
}

TEST(RequestFromBytes, TurnsTheAxisMaskIntoAxes) {
  ForeignRequest foreign = ForeignRequest::unary(Op::sum, {2, 3, 4});
  foreign.command.attrs.reduce = {.axis_mask = 0b101, .keepdims = 1};
  const Bytes bytes = foreign.bytes();
  const Request request = Request::from_bytes(bytes).value();
  EXPECT_THAT(request.attributes.axes.values(), ElementsAre(0, 2));
  EXPECT_TRUE(request.attributes.keepdims);
}

TEST(RequestFromBytes, TurnsThePadsOfConv2dIntoCustomPadding) {
  ForeignRequest foreign = ForeignRequest::unary(Op::conv2d, {1, 2, 2, 1});
  foreign.command.input_count = 2;
  foreign.command.inputs[1] = operand({1, 1, 1, 1});
  foreign.operands.push_back({1});
  foreign.command.attrs.conv2d = {.strides = {1, 2}, .pads = {0, 1, 2, 3}, .groups = 0};
  const Bytes bytes = foreign.bytes();
  const Request request = Request::from_bytes(bytes).value();
  EXPECT_THAT(request.attributes.strides.values(), ElementsAre(1, 2));
  EXPECT_EQ(request.attributes.padding, Padding::custom);
  EXPECT_THAT(request.attributes.pads.values(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(request.attributes.groups, 1);
}

TEST(RequestFromBytes, TakesTheWindowOfMaxPool) {
  ForeignRequest foreign = ForeignRequest::unary(Op::max_pool, {1, 4, 4, 1});
  foreign.command.attrs.pool = {.window = {2, 3}, .strides = {1, 2}, .pads = {0, 1, 2, 0}};
  const Bytes bytes = foreign.bytes();
  const Request request = Request::from_bytes(bytes).value();
  EXPECT_THAT(request.attributes.window.values(), ElementsAre(2, 3));
  EXPECT_THAT(request.attributes.strides.values(), ElementsAre(1, 2));
  EXPECT_EQ(request.attributes.padding, Padding::custom);
  EXPECT_THAT(request.attributes.pads.values(), ElementsAre(0, 1, 2, 0));
}

TEST(RequestFromBytes, TakesAnEmptyAxisMaskForAllAxes) {
  const Bytes bytes = ForeignRequest::unary(Op::sum, {2, 3, 4}).bytes();
  const Request request = Request::from_bytes(bytes).value();
  EXPECT_EQ(codec::check(request).value().attrs.reduce.axis_mask, 0b111u);
}

TEST(RequestFromBytes, TakesTheNewShapeFromTheStatedOutput) {
  ForeignRequest foreign = ForeignRequest::unary(Op::reshape, {2, 6});
  foreign.command.output = operand({3, 4});
  const Bytes bytes = foreign.bytes();
  EXPECT_THAT(Request::from_bytes(bytes).value().attributes.shape.values(), ElementsAre(3, 4));
}

TEST(RequestFromBytes, AcceptsAnOpWithoutOperands) {
  const ForeignRequest noop;
  EXPECT_EQ(read_error(noop.bytes()), Errc::ok);
}

TEST(RequestFromBytes, AcceptsWhatEncodeMade) {
  const std::vector<float> a{1, 2, 3, 4, 5, 6};
  const Request request = ops::sum({{2, 3}, a}, {-1}, true);
  const codec::Plan plan = codec::plan(request).value();
  MessageBuffer message(plan.payload_bytes);
  codec::encode(plan, request, message.data());
  const Request read = Request::from_bytes(message.span()).value();
  const codec::Plan again = codec::plan(read).value();
  MessageBuffer copy(again.payload_bytes);
  codec::encode(again, read, copy.data());
  EXPECT_TRUE(std::ranges::equal(message.span(), copy.span()));
}

TEST(RequestFromBytes, RefusesTooFewBytesForAnyMessage) {
  const Bytes bytes = ForeignRequest::add().bytes();
  for (std::size_t length = 0; length < 8; ++length)
    EXPECT_EQ(read_error(std::span(bytes).first(length)), Errc::truncated_message) << length;
}

// Every cut is noticed as a cut, at whatever byte; only the last operand's end makes it whole.
TEST(RequestFromBytes, RefusesEveryTruncationAsTruncated) {
  const std::vector<float> a(16, 1.0f);
  const Request request = ops::add(a, a);
  const codec::Plan plan = codec::plan(request).value();
  MessageBuffer whole(plan.payload_bytes);
  codec::encode(plan, request, whole.data());
  for (std::size_t length = 0; length < plan.payload_bytes; ++length) {
    const Bytes cut(whole.data(), whole.data() + length);
    EXPECT_EQ(read_error(cut), Errc::truncated_message) << "cut after " << length;
  }
}

TEST(RequestFromBytes, NamesThePartThatWasCut) {
  const Bytes bytes = ForeignRequest::add().bytes();
  EXPECT_THAT(read_detail(std::span(bytes).first(bytes.size() - 20)),
              HasSubstr("root.operands[0].bytes ends at byte"));
}

TEST(RequestFromBytes, RefusesMoreBytesThanAnyRingTakesBeforeReadingThem) {
  const Bytes bytes = ForeignRequest::add().bytes();
  EXPECT_EQ(read_error({bytes.data(), codec::message_bytes_max + 1}), Errc::message_too_large);
}

TEST(RequestFromBytes, RefusesBytesAtAnOddAddress) {
  Bytes shifted(1);
  const Bytes bytes = ForeignRequest::add().bytes();
  shifted.insert(shifted.end(), bytes.begin(), bytes.end());
  EXPECT_EQ(read_error(std::span(shifted).subspan(1)), Errc::invalid_argument);
}

TEST(RequestFromBytes, RefusesAnotherFileIdentifier) {
  const Bytes bytes = ForeignRequest::add().bytes("RKM9");
  EXPECT_EQ(read_error(bytes), Errc::malformed_message);
  EXPECT_THAT(read_detail(bytes), HasSubstr("RKM1"));
}

TEST(RequestFromBytes, RefusesAMessageWithoutACommand) {
  flatbuffers::FlatBufferBuilder builder;
  const auto start = builder.StartTable();
  builder.Finish(flatbuffers::Offset<schema::Request>(builder.EndTable(start)),
                 schema::RequestIdentifier());
  EXPECT_EQ(read_error(to_bytes(builder)), Errc::malformed_message);
}

TEST(RequestFromBytes, RefusesAnOffsetThatNoMessageCouldHold) {
  Bytes bytes = ForeignRequest::add().bytes();
  const std::uint32_t root = 0x7fffffff;
  std::memcpy(bytes.data(), &root, sizeof(root));
  EXPECT_EQ(read_error(bytes), Errc::malformed_message);
}

TEST(RequestFromBytes, RefusesMoreTablesThanTheLimit) {
  ForeignRequest request = ForeignRequest::add();
  request.operands.assign(verifier_tables_max, {1.0f});
  EXPECT_EQ(read_error(request.bytes()), Errc::malformed_message);
  EXPECT_THAT(read_detail(request.bytes()), HasSubstr("1000 tables"));
}

TEST(RequestFromBytes, RefusesATableThatStatesToBeLargerThanTheMessage) {
  Bytes bytes = ForeignRequest::add().bytes();
  std::uint32_t root = 0;
  std::int32_t to_vtable = 0;
  std::memcpy(&root, bytes.data(), sizeof(root));
  std::memcpy(&to_vtable, &bytes[root], sizeof(to_vtable));
  const std::uint16_t table_bytes = 0xfff0;
  const auto vtable = static_cast<std::size_t>(std::int64_t{root} - to_vtable);
  std::memcpy(&bytes[vtable + sizeof(table_bytes)], &table_bytes, sizeof(table_bytes));
  EXPECT_EQ(read_error(bytes), Errc::truncated_message);
}

/// A table with one field more than the schema knows.
flatbuffers::uoffset_t finish_with_extra_field(flatbuffers::FlatBufferBuilder& builder,
                                               flatbuffers::uoffset_t start,
                                               flatbuffers::voffset_t field) {
  builder.AddElement<std::uint32_t>(flatbuffers::FieldIndexToOffset(field), 7, 0);
  return builder.EndTable(start);
}

TEST(RequestFromBytes, RefusesAnUnknownFieldOfTheRequest) {
  flatbuffers::FlatBufferBuilder builder;
  const auto command = std::bit_cast<schema::Command>(rk_command{});
  const auto start = builder.StartTable();
  builder.AddStruct(schema::Request::VT_COMMAND, &command);
  builder.Finish(flatbuffers::Offset<schema::Request>(finish_with_extra_field(builder, start, 3)),
                 schema::RequestIdentifier());
  EXPECT_EQ(read_error(to_bytes(builder)), Errc::unknown_field);
  EXPECT_THAT(read_detail(to_bytes(builder)), HasSubstr("root sets field 3"));
}

TEST(RequestFromBytes, RefusesAnUnknownFieldOfAnOperand) {
  flatbuffers::FlatBufferBuilder builder;
  const auto bytes = builder.CreateVector(std::vector<std::uint8_t>(4));
  const auto start = builder.StartTable();
  builder.AddOffset(schema::Data::VT_BYTES, bytes);
  const auto data = flatbuffers::Offset<schema::Data>(finish_with_extra_field(builder, start, 1));
  const auto list = builder.CreateVector(&data, 1);
  const auto command = std::bit_cast<schema::Command>(ForeignRequest::unary(Op::relu, {1}).command);
  schema::FinishRequestBuffer(builder, schema::CreateRequest(builder, &command, list));
  EXPECT_EQ(read_error(to_bytes(builder)), Errc::unknown_field);
  EXPECT_THAT(read_detail(to_bytes(builder)), HasSubstr("root.operands[0] sets field 1"));
}

TEST(RequestFromBytes, RefusesAnUnknownOp) {
  const auto spoil = [](ForeignRequest& request) { request.command.op = 4711; };
  EXPECT_EQ(error_after(ForeignRequest::add(), spoil), Errc::unsupported_operation);
}

TEST(RequestFromBytes, RefusesReservedPartsThatAreNotZero) {
  const auto flags = [](ForeignRequest& request) { request.command.flags = 1; };
  const auto word = [](ForeignRequest& request) { request.command.reserved = 1; };
  const auto byte = [](ForeignRequest& request) { request.command.inputs[1].binding = 1; };
  EXPECT_EQ(error_after(ForeignRequest::add(), flags), Errc::unknown_field);
  EXPECT_EQ(error_after(ForeignRequest::add(), word), Errc::unknown_field);
  EXPECT_EQ(error_after(ForeignRequest::add(), byte), Errc::unknown_field);
}

TEST(RequestFromBytes, RefusesAnAttributeThatTheOpDoesNotHave) {
  const auto spoil = [](ForeignRequest& request) { request.command.attrs.words[5] = 1; };
  EXPECT_EQ(error_after(ForeignRequest::add(), spoil), Errc::unknown_field);
  EXPECT_EQ(error_after(ForeignRequest::unary(Op::sum, {2, 2}), spoil), Errc::unknown_field);
}

TEST(RequestFromBytes, RefusesAnotherNumberOfOperandsThanTheCommandHas) {
  const auto spoil = [](ForeignRequest& request) { request.operands.pop_back(); };
  EXPECT_EQ(error_after(ForeignRequest::add(), spoil), Errc::arity_mismatch);
}

TEST(RequestFromBytes, RefusesMoreOperandsThanACommandHolds) {
  const auto spoil = [](ForeignRequest& request) {
    request.command.input_count = 4;
    request.operands.resize(4, {1.0f});
  };
  EXPECT_EQ(error_after(ForeignRequest::add(), spoil), Errc::arity_mismatch);
}

TEST(RequestFromBytes, RefusesANumberOfOperandsThatTheOpDoesNotTake) {
  const auto spoil = [](ForeignRequest& request) {
    request.command.op = static_cast<rk_u16>(Op::relu);
  };
  EXPECT_EQ(error_after(ForeignRequest::add(), spoil), Errc::arity_mismatch);
}

TEST(RequestFromBytes, RefusesAnInputBeyondTheirCount) {
  const auto spoil = [](ForeignRequest& request) { request.command.inputs[2] = operand({3}); };
  EXPECT_EQ(error_after(ForeignRequest::add(), spoil), Errc::arity_mismatch);
}

TEST(RequestFromBytes, RefusesAnUnknownElementType) {
  const auto unknown = [](ForeignRequest& request) { request.command.inputs[0].dtype = 9; };
  const auto none = [](ForeignRequest& request) { request.command.inputs[0].dtype = 0; };
  EXPECT_EQ(error_after(ForeignRequest::add(), unknown), Errc::invalid_dtype);
  EXPECT_EQ(error_after(ForeignRequest::add(), none), Errc::invalid_dtype);
}

TEST(RequestFromBytes, RefusesOperandsOfDifferentElementTypes) {
  const auto spoil = [](ForeignRequest& request) {
    request.command.inputs[1].dtype = RK_DTYPE_I32;
  };
  EXPECT_EQ(error_after(ForeignRequest::add(), spoil), Errc::dtype_mismatch);
}

TEST(RequestFromBytes, RefusesARankBeyondTheLimit) {
  const auto spoil = [](ForeignRequest& request) { request.command.inputs[0].rank = 9; };
  EXPECT_EQ(error_after(ForeignRequest::add(), spoil), Errc::rank_mismatch);
}

TEST(RequestFromBytes, RefusesExtentsBeyondTheRank) {
  const auto spoil = [](ForeignRequest& request) { request.command.inputs[0].dims[2] = 5; };
  EXPECT_EQ(error_after(ForeignRequest::add(), spoil), Errc::rank_mismatch);
}

TEST(RequestFromBytes, RefusesARankThatTheOpDoesNotTake) {
  ForeignRequest request = ForeignRequest::add();
  request.command.op = static_cast<rk_u16>(Op::matmul);
  EXPECT_EQ(read_error(request.bytes()), Errc::rank_mismatch);
}

TEST(RequestFromBytes, RefusesAnExtentOfZero) {
  const auto spoil = [](ForeignRequest& request) { request.command.inputs[0].dims[1] = 0; };
  EXPECT_EQ(error_after(ForeignRequest::add(), spoil), Errc::invalid_dimension);
}

TEST(RequestFromBytes, RefusesMoreElementsThanCanBeCounted) {
  const auto spoil = [](ForeignRequest& request) {
    request.command.inputs[0] = operand({0x10000, 0x10000, 0x10000});
  };
  EXPECT_EQ(error_after(ForeignRequest::add(), spoil), Errc::allocation_failure);
}

TEST(RequestFromBytes, RefusesDataOfAnotherLengthThanTheShape) {
  const auto shorter = [](ForeignRequest& request) { request.operands[0].pop_back(); };
  const auto longer = [](ForeignRequest& request) { request.operands[1].push_back(0); };
  EXPECT_EQ(error_after(ForeignRequest::add(), shorter), Errc::element_count_mismatch);
  EXPECT_EQ(error_after(ForeignRequest::add(), longer), Errc::element_count_mismatch);
}

TEST(RequestFromBytes, RefusesAStatedCountThatIsNotTheShapes) {
  const auto spoil = [](ForeignRequest& request) { request.command.inputs[0].element_count = 7; };
  EXPECT_EQ(error_after(ForeignRequest::add(), spoil), Errc::element_count_mismatch);
}

TEST(RequestFromBytes, RefusesAnOperandThatIsNotInTheMessage) {
  const auto spoil = [](ForeignRequest& request) {
    request.command.inputs[0].place = RK_PLACE_ARENA;
  };
  const auto output = [](ForeignRequest& request) {
    request.command.output = operand({2, 3});
    request.command.output.place = RK_PLACE_ARENA;
  };
  EXPECT_EQ(error_after(ForeignRequest::add(), spoil), Errc::unsupported);
  EXPECT_EQ(error_after(ForeignRequest::add(), output), Errc::unsupported);
}

TEST(RequestFromBytes, RefusesShapesThatCannotBeBroadcast) {
  const auto spoil = [](ForeignRequest& request) {
    request.command.inputs[1] = operand({4});
    request.operands[1] = {1, 2, 3, 4};
  };
  EXPECT_EQ(error_after(ForeignRequest::add(), spoil), Errc::broadcast_failure);
}

TEST(RequestFromBytes, RefusesAnAxisBeyondTheRank) {
  const auto near = [](ForeignRequest& request) {
    request.command.attrs.reduce.axis_mask = 1u << 2;
  };
  const auto far = [](ForeignRequest& request) {
    request.command.attrs.reduce.axis_mask = 0xffffffff;
  };
  EXPECT_EQ(error_after(ForeignRequest::unary(Op::sum, {2, 2}), near), Errc::invalid_axis);
  EXPECT_EQ(error_after(ForeignRequest::unary(Op::sum, {2, 2}), far), Errc::invalid_axis);
}

TEST(RequestFromBytes, RefusesAReshapeToAnotherNumberOfElements) {
  const auto spoil = [](ForeignRequest& request) { request.command.output = operand({5}); };
  EXPECT_EQ(error_after(ForeignRequest::unary(Op::reshape, {2, 2}), spoil),
            Errc::element_count_mismatch);
}

TEST(RequestFromBytes, RefusesAStatedOutputThatTheOpDoesNotGive) {
  const auto right = [](ForeignRequest& request) { request.command.output = operand({2, 3}); };
  const auto wrong = [](ForeignRequest& request) { request.command.output = operand({3, 2}); };
  const auto untyped = [](ForeignRequest& request) { request.command.output = operand({2, 3}, 0); };
  EXPECT_EQ(error_after(ForeignRequest::add(), right), Errc::ok);
  EXPECT_EQ(error_after(ForeignRequest::add(), untyped), Errc::invalid_dtype);
  EXPECT_EQ(error_after(ForeignRequest::add(), wrong), Errc::dimension_mismatch);
}

}  // namespace
}  // namespace ringkernel::test
