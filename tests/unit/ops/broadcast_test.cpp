// Elementwise rules: binary ops broadcast, unary ones keep the shape.
#include <gtest/gtest.h>

#include "unit/ops/infer_f32.hpp"

namespace ringkernel::test {
namespace {

class Broadcast : public testing::TestWithParam<Op> {
 protected:
  /// Both orders of the operands give `expected`.
  void expect_broadcast(const Shape& a, const Shape& b, const Shape& expected) const {
    expect_shape(infer_f32(GetParam(), {a, b}), expected);
    expect_shape(infer_f32(GetParam(), {b, a}), expected);
  }
};

TEST_P(Broadcast, KeepsEqualShapes) { expect_broadcast({3, 4}, {3, 4}, {3, 4}); }

TEST_P(Broadcast, SpreadsAScalarOverAnyShape) {
  expect_broadcast({}, {3, 4, 5}, {3, 4, 5});
  expect_broadcast({}, {}, {});
}

TEST_P(Broadcast, SpreadsExtentOne) {
  expect_broadcast({1, 5}, {3, 5}, {3, 5});
  expect_broadcast({3, 1, 5}, {1, 4, 5}, {3, 4, 5});
}

TEST_P(Broadcast, AlignsShapesAtTheRight) {
  expect_broadcast({5}, {3, 4, 5}, {3, 4, 5});
  expect_broadcast({4, 1}, {3, 4, 5}, {3, 4, 5});
}

TEST_P(Broadcast, IsTheIdentityWithOnes) {
  expect_broadcast({3, 4, 5}, {1, 1, 1}, {3, 4, 5});
  expect_broadcast({1}, {1, 1, 1}, {1, 1, 1});
}

TEST_P(Broadcast, TakesTheHighestRank) {
  expect_broadcast({1, 2, 1, 2, 1, 2, 1, 2}, {3, 1}, {1, 2, 1, 2, 1, 2, 3, 2});
}

TEST_P(Broadcast, NamesTheFailingDimAndBothExtents) {
  const std::string name = op_name(GetParam());
  expect_error(infer_f32(GetParam(), {{3, 4}, {3, 5}}), Errc::broadcast_failure,
               {name, "f32[3, 4]", "f32[3, 5]", "extents 4 and 5 at aligned dim 1"});
}

TEST_P(Broadcast, CountsTheFailingDimInTheAlignedShape) {
  expect_error(infer_f32(GetParam(), {{4, 5}, {2, 3, 5}}), Errc::broadcast_failure,
               {"extents 4 and 3 at aligned dim 1"});
  expect_error(infer_f32(GetParam(), {{2, 3, 5}, {4}}), Errc::broadcast_failure,
               {"extents 5 and 4 at aligned dim 2"});
}

TEST_P(Broadcast, RefusesAResultThatIsTooLarge) {
  expect_error(infer_f32(GetParam(), {{65536, 1}, {1, 65536}}), Errc::allocation_failure,
               {"f32[65536, 1]", "f32[1, 65536]", "4294967295"});
}

INSTANTIATE_TEST_SUITE_P(BinaryOps, Broadcast,
                         testing::Values(Op::add, Op::mul, Op::sub, Op::div, Op::max, Op::min),
                         op_name_of);

TEST(UnaryRule, KeepsTheShape) {
  for (const Op op : {Op::relu, Op::neg, Op::exp, Op::log, Op::sqrt, Op::copy}) {
    expect_shape(infer_f32(op, {{}}), {});
    expect_shape(infer_f32(op, {{2, 1, 3}}), {2, 1, 3});
  }
}

TEST(CompareRule, BroadcastsToI32) {
  const OpAttributes attributes = comparing(Comparison::less_equal);
  const auto result = infer_f32(Op::compare, {{3, 1}, {4}}, attributes);
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_EQ(result->output, (TensorDesc{DType::i32, {3, 4}}));
  EXPECT_EQ(result->attrs.compare.comparison, RK_COMPARE_LESS_EQUAL);
  expect_error(infer_f32(Op::compare, {{3}, {4}}, attributes), Errc::broadcast_failure,
               {"compare(f32[3], f32[4])", "extents 3 and 4 at aligned dim 0"});
}

TEST(CompareRule, RefusesWhatIsNoComparison) {
  const auto none = static_cast<Comparison>(4);
  expect_error(infer_f32(Op::compare, {{3}, {3}}, comparing(none)), Errc::invalid_argument,
               {"compare(f32[3], f32[3])", "no comparison has the number 4"});
}

TEST(SelectRule, BroadcastsAllThree) {
  const auto select = [](const Shape& condition, const Shape& a, const Shape& b) {
    const TensorDesc inputs[] = {{DType::i32, condition}, {DType::f32, a}, {DType::f32, b}};
    return infer(Op::select, inputs, {});
  };
  expect_shape(select({2, 1, 1}, {3, 1}, {4}), {2, 3, 4});
  expect_shape(select({}, {}, {}), {});
  expect_error(select({2}, {3}, {}), Errc::broadcast_failure, {"select(i32[2], f32[3], f32[])"});
  expect_error(select({}, {2}, {3}), Errc::broadcast_failure, {"extents 2 and 3"});
  expect_error(select({65536, 1}, {1, 65536}, {}), Errc::allocation_failure, {"4294967295"});
}

TEST(SelectRule, TakesConditionsOfI32Alone) {
  for (const DType dtype : {DType::f32, DType::i64}) {
    const TensorDesc inputs[] = {{dtype, {2}}, {DType::f32, {2}}, {DType::f32, {2}}};
    expect_error(infer(Op::select, inputs, {}), Errc::invalid_dtype,
                 {"select", std::string("the condition is ") + name(dtype), "supported: i32"});
  }
}

TEST(CastRule, GivesTheTypeThatIsNamed) {
  const auto result = infer_f32(Op::cast, {{2, 3}}, casting(DType::i64));
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_EQ(result->output, (TensorDesc{DType::i64, {2, 3}}));
  EXPECT_EQ(result->attrs.cast.dtype, RK_DTYPE_I64);
}

TEST(CastRule, RefusesWhatIsNoType) {
  expect_error(infer_f32(Op::cast, {{2}}), Errc::invalid_dtype,
               {"cast(f32[2])", "to element type none", "f32, i32, i64"});
}

}  // namespace
}  // namespace ringkernel::test
