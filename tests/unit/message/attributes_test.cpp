// Attributes and element types on their way through a message: what a client states in the record
// of its op, and what our own encoding says.
#include <gmock/gmock.h>

#include "message/codec.hpp"
#include "ringkernel/ops.hpp"
#include "unit/message/foreign_request.hpp"

namespace ringkernel::test {
namespace {

using ::testing::ElementsAre;

OpAttributes read_attributes(const ForeignRequest& foreign) {
  const Bytes bytes = foreign.bytes();
  return Request::from_bytes(bytes).value().attributes;
}

TEST(ForeignAttributes, ExpandDimsAndSqueezeHaveAMask) {
  ForeignRequest foreign = ForeignRequest::unary(Op::expand_dims, {2, 3});
  foreign.command.attrs.axes.axis_mask = 0b1001;
  EXPECT_THAT(read_attributes(foreign).axes.values(), ElementsAre(0, 3));
  foreign = ForeignRequest::unary(Op::squeeze, {1, 3, 1});
  foreign.command.attrs.axes.axis_mask = 0b100;
  EXPECT_THAT(read_attributes(foreign).axes.values(), ElementsAre(2));
}

TEST(ForeignAttributes, TransposeHasAnEntryForEachDim) {
  ForeignRequest foreign = ForeignRequest::unary(Op::transpose, {2, 3, 4});
  foreign.command.attrs.transpose = {{2, 0, 1}};
  EXPECT_THAT(read_attributes(foreign).permutation.values(), ElementsAre(2, 0, 1));
  foreign.command.attrs.transpose = {{2, 0, 1, 3}};
  EXPECT_EQ(read_error(foreign.bytes()), Errc::unknown_field);
  foreign.command.attrs.transpose = {};
  EXPECT_EQ(read_error(foreign.bytes()), Errc::invalid_permutation);
}

TEST(ForeignAttributes, IndexHasAnEntryForEachDim) {
  ForeignRequest foreign = ForeignRequest::unary(Op::index, {2, 3});
  foreign.command.attrs.index = {{1, 2}};
  EXPECT_THAT(read_attributes(foreign).indices.values(), ElementsAre(1, 2));
  foreign.command.attrs.index = {{1, 3}};
  EXPECT_EQ(read_error(foreign.bytes()), Errc::out_of_bounds);
}

TEST(ForeignAttributes, SliceEndsWhereItsStatedOutputEnds) {
  ForeignRequest foreign = ForeignRequest::unary(Op::slice, {4, 10});
  foreign.command.attrs.slice = {{1, 2}, {1, 3}};
  foreign.command.output = operand({2, 3});
  const SliceRanges ranges = read_attributes(foreign).slice;
  EXPECT_THAT(ranges.starts.values(), ElementsAre(1, 2));
  EXPECT_THAT(ranges.ends.values(), ElementsAre(3, 9));
  EXPECT_THAT(ranges.steps.values(), ElementsAre(1, 3));
}

TEST(ForeignAttributes, SliceIsRefusedWithoutItsOutputOrItsSteps) {
  ForeignRequest foreign = ForeignRequest::unary(Op::slice, {10});
  foreign.command.attrs.slice = {{2}, {3}};
  EXPECT_EQ(read_error(foreign.bytes()), Errc::invalid_dimension);
  foreign.command.output = operand({4});
  EXPECT_EQ(read_error(foreign.bytes()), Errc::out_of_bounds);
  foreign.command.output = operand({3, 1});
  EXPECT_EQ(read_error(foreign.bytes()), Errc::dimension_mismatch);
  foreign.command.output = operand({3});
  foreign.command.attrs.slice.steps[0] = 0;
  EXPECT_EQ(read_error(foreign.bytes()), Errc::invalid_slice_step);
}

TEST(ForeignAttributes, PadHasTwoCountsForEachDim) {
  ForeignRequest foreign = ForeignRequest::add();
  foreign.command.op = static_cast<rk_u16>(Op::pad);
  const std::size_t rank = foreign.command.inputs[0].rank;
  std::array<std::int64_t, rank_max> low{}, high{};
  for (rk_u32 dim = 0; dim < rank; ++dim) {
    low[dim] = foreign.command.attrs.pad.low[dim] = 1 + dim % 2;
    high[dim] = foreign.command.attrs.pad.high[dim] = 3 * dim;
  }
  const OpAttributes attributes = read_attributes(foreign);
  EXPECT_EQ(attributes.low, IntList(std::span<const std::int64_t>(low).first(rank)));
  EXPECT_EQ(attributes.high, IntList(std::span<const std::int64_t>(high).first(rank)));
  foreign.command.attrs.pad.high[rank] = 1;
  EXPECT_EQ(read_error(foreign.bytes()), Errc::unknown_field);
}

TEST(ForeignAttributes, CompareAndCastHaveANumber) {
  ForeignRequest foreign = ForeignRequest::add();
  foreign.command.op = static_cast<rk_u16>(Op::compare);
  foreign.command.attrs.compare.comparison = RK_COMPARE_LESS;
  EXPECT_EQ(read_attributes(foreign).comparison, Comparison::less);
  for (const rk_u32 none : {4u, 256u, ~0u}) {
    foreign.command.attrs.compare.comparison = none;
    EXPECT_EQ(read_error(foreign.bytes()), Errc::invalid_argument);
  }
  foreign = ForeignRequest::unary(Op::cast, {2, 3});
  foreign.command.attrs.cast.dtype = RK_DTYPE_I64;
  EXPECT_EQ(read_attributes(foreign).dtype, DType::i64);
  for (const rk_u32 none : {0u, 4u, 257u, ~0u}) {
    foreign.command.attrs.cast.dtype = none;
    EXPECT_EQ(read_error(foreign.bytes()), Errc::invalid_dtype);
  }
}

MessageBuffer encode(const Request& request) {
  const codec::Plan plan = codec::plan(request).value();
  MessageBuffer message(plan.payload_bytes);
  codec::encode(plan, request, message.data());
  return message;
}

TEST(OwnAttributes, AreReadAsTheyWereWritten) {
  const std::vector<float> x(24, 1.0f);
  const std::vector<std::int32_t> narrow{1, 0, 1};
  const std::vector<std::int64_t> wide(24, -1);
  const TensorView tensor(Shape{2, 3, 4}, x);
  const Request requests[] = {
      ops::mean_all(tensor),
      ops::dot({{6, 4}, x}, std::span(x).first(4)),
      ops::expand_dims(tensor, {4, 1}),
      ops::squeeze({{1, 24, 1}, x}),
      ops::squeeze({{1, 24, 1}, x}, {2}),
      ops::transpose(tensor, {1, 2, 0}),
      ops::index(tensor, {1, 2, 3}),
      ops::slice(tensor, {.starts = {1, 1, 0}, .ends = {2, 3, 4}, .steps = {9, 1, 2}}),
      ops::gather(tensor, narrow),
      ops::add(wide, wide),
      ops::fill(wide, {5}),
      ops::max(wide, wide),
      ops::reduce_max(tensor, {-1}, true),
      ops::compare(tensor, tensor, Comparison::less_equal),
      ops::select(narrow, std::span(x).first(3), std::span(x).first(1)),
      ops::cast(tensor, DType::i64),
      ops::concat(tensor, tensor, -2),
      ops::pad(tensor, std::span(x).first(1), {0, 1, 2}, {3, 0, 1}),
      ops::pad(wide, std::span(wide).first(1), {2}, {0}),
  };
  for (const Request& request : requests) {
    const MessageBuffer message = encode(request);
    const auto read = Request::from_bytes(message.span());
    ASSERT_TRUE(read) << read.error().text();
    const MessageBuffer again = encode(*read);
    EXPECT_TRUE(std::ranges::equal(message.span(), again.span()))
        << find_op(static_cast<std::uint16_t>(request.op))->name;
  }
}

// Requests of one kind share their constant bytes: none of these are of one kind.
TEST(OwnAttributes, TellKindsApart) {
  const std::vector<float> x(24, 1.0f);
  const TensorView cube(Shape{2, 3, 4}, x);
  const TensorView square(Shape{4, 6}, x);
  const std::pair<Request, Request> pairs[] = {
      {ops::transpose(cube, {1, 2, 0}), ops::transpose(cube, {2, 0, 1})},
      {ops::index(cube, {1, 2, 3}), ops::index(cube, {1, 2, 2})},
      {ops::slice(square, {{0, 0}, {2, 2}, {1, 1}}), ops::slice(square, {{1, 0}, {3, 2}, {1, 1}})},
      {ops::slice(square, {{0, 0}, {4, 2}, {2, 1}}), ops::slice(square, {{0, 0}, {4, 2}, {3, 1}})},
      {ops::compare(cube, cube, Comparison::less), ops::compare(cube, cube, Comparison::equal)},
      {ops::cast(cube, DType::i32), ops::cast(cube, DType::f32)},
      {ops::concat(square, square, 0), ops::concat(square, square, 1)},
      {ops::pad(square, square, {0, 1}, {0, 0}), ops::pad(square, square, {0, 0}, {0, 1})},
      {ops::pad(square, square, {1, 0}, {0, 0}), ops::pad(square, square, {2, 0}, {0, 0})},
  };
  for (const auto& [one, other] : pairs)
    EXPECT_FALSE(std::ranges::equal(encode(one).span(), encode(other).span()))
        << find_op(static_cast<std::uint16_t>(one.op))->name;
}

TEST(TensorView, TakesElementsOfEachType) {
  const std::vector<std::int32_t> narrow{1, 2, 3};
  const std::array<std::int64_t, 4> wide{1, 2, 3, 4};
  const TensorView vector = narrow;
  EXPECT_EQ(vector.desc, (TensorDesc{DType::i32, {3}}));
  EXPECT_THAT(vector.elements<std::int32_t>(), ElementsAre(1, 2, 3));
  const TensorView matrix({2, 2}, wide);
  EXPECT_EQ(matrix.desc, (TensorDesc{DType::i64, {2, 2}}));
  EXPECT_THAT(matrix.elements<std::int64_t>(), ElementsAre(1, 2, 3, 4));
}

TEST(TensorView, GivesNoElementsOfAnotherType) {
  const std::vector<std::int32_t> narrow{1, 2, 3};
  const TensorView vector = narrow;
  EXPECT_TRUE(vector.floats().empty());
  EXPECT_TRUE(vector.elements<std::int64_t>().empty());
}

}  // namespace
}  // namespace ringkernel::test
