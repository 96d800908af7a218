#include <gmock/gmock.h>

#include <limits>

#include "support/reference_ops.hpp"
#include "unit/ops/infer_f32.hpp"

namespace ringkernel::test {
namespace {

class ReduceRule : public testing::TestWithParam<Op> {
 protected:
  [[nodiscard]] Result<Inference> reduce(const Shape& shape, IntList axes,
                                         bool keepdims = false) const {
    return infer_f32(GetParam(), {shape}, reducing(axes, keepdims));
  }
};

TEST_P(ReduceRule, DropsOrKeepsEachSubsetOfTheAxes) {
  const Shape shape{2, 3, 4, 5};
  const Values input{shape, std::vector<double>(shape.element_count(), 1.0)};
  for (std::uint32_t mask = 1; mask < 16; ++mask) {
    std::vector<std::int64_t> axes;
    for (std::uint32_t dim = 0; dim < 4; ++dim)
      if (((mask >> dim) & 1u) != 0) axes.push_back(dim);
    for (const bool keepdims : {false, true}) {
      const OpAttributes attributes = reducing(IntList(axes), keepdims);
      const auto result = reduce(shape, attributes.axes, keepdims);
      expect_shape(result, reference(GetParam(), {&input, 1}, attributes).shape);
      EXPECT_EQ(result->attrs.reduce.axis_mask, mask);
      EXPECT_EQ(result->attrs.reduce.keepdims, keepdims ? 1u : 0u);
    }
  }
}

TEST_P(ReduceRule, CountsNegativeAxesFromTheEnd) {
  expect_shape(reduce({2, 3, 4}, {-1}), {2, 3});
  expect_shape(reduce({2, 3, 4}, {-3, 2}, true), {1, 3, 1});
}

TEST_P(ReduceRule, ReducesEverythingToAScalarWithoutAxes) {
  for (const bool keepdims : {false, true}) {
    const auto result = reduce({2, 3, 4}, {}, keepdims);
    expect_shape(result, {});
    EXPECT_EQ(result->attrs.reduce.axis_mask, 7u);
    EXPECT_EQ(result->attrs.reduce.keepdims, 0u);
  }
}

TEST_P(ReduceRule, KeepsAScalarAScalar) {
  expect_shape(reduce({}, {}), {});
  expect_shape(reduce({}, {}, true), {});
}

TEST_P(ReduceRule, ReducesRankEight) {
  expect_shape(reduce({1, 2, 1, 2, 1, 2, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7}), {});
}

TEST_P(ReduceRule, RefusesAxesOutOfRange) {
  expect_error(reduce({2, 3}, {2}), Errc::invalid_axis, {"f32[2, 3]", "axis 2", "[-2, 2)"});
  expect_error(reduce({2, 3}, {0, -3}), Errc::invalid_axis, {"axis -3", "rank 2"});
  expect_error(reduce({2, 3}, {std::int64_t{1} << 40}), Errc::invalid_axis, {"axis 1099511627776"});
}

TEST_P(ReduceRule, RefusesAnyAxisOfAScalar) {
  expect_error(reduce({}, {0}), Errc::invalid_axis, {"axis 0", "rank 0"});
}

TEST_P(ReduceRule, RefusesDuplicatesAfterNormalisation) {
  expect_error(reduce({2, 3}, {1, 1}), Errc::duplicate_axis, {"f32[2, 3]", "axis 1"});
  expect_error(reduce({2, 3}, {1, -1}), Errc::duplicate_axis, {"axis -1"});
}

TEST_P(ReduceRule, RefusesMoreAxesThanAnyRankHas) {
  expect_error(reduce({1, 1, 1, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 0}), Errc::duplicate_axis,
               {"axis 0 names a dim twice"});
}

INSTANTIATE_TEST_SUITE_P(Reductions, ReduceRule, testing::Values(Op::sum, Op::mean, Op::reduce_max),
                         op_name_of);

TEST(SoftmaxRule, KeepsTheShapeAndResolvesItsAxes) {
  const auto result = infer_f32(Op::softmax, {{2, 3, 4}}, reducing({-1}));
  expect_shape(result, {2, 3, 4});
  EXPECT_EQ(result->attrs.reduce.axis_mask, 4u);
  EXPECT_EQ(infer_f32(Op::softmax, {{2, 3}})->attrs.reduce.axis_mask, 3u);
  expect_error(infer_f32(Op::softmax, {{2, 3}}, reducing({2})), Errc::invalid_axis,
               {"softmax(f32[2, 3])", "axis 2"});
  expect_error(infer_f32(Op::softmax, {{2, 3}}, reducing({1, -1})), Errc::duplicate_axis,
               {"axis -1"});
}

TEST(ReduceAllRule, GivesAScalarWhateverTheAttributes) {
  for (const Op op : {Op::sum_all, Op::mean_all}) {
    expect_shape(infer_f32(op, {{2, 3}}), {});
    expect_shape(infer_f32(op, {{}}), {});
    const auto result = infer_f32(op, {{2, 3}}, reducing({0}, true));
    expect_shape(result, {});
    EXPECT_EQ(result->attrs.reduce.axis_mask, 3u);
  }
}

/// Whichever the one that the list has no place for is.
TEST(NineAxes, AreRefusedForTheNinth) {
  const auto sum = [](std::int64_t ninth) {
    OpAttributes attributes;
    attributes.axes = {0, 1, 2, 3, 4, 5, 6, 7, ninth};
    const TensorDesc x{DType::f32, {1, 1, 1, 1, 1, 1, 1, 1}};
    return infer(Op::sum, std::span(&x, 1), attributes);
  };
  EXPECT_TRUE(sum(99).error() == Errc::invalid_axis) << sum(99).error().text();
  EXPECT_THAT(sum(99).error().detail, ::testing::HasSubstr("axis 99 is outside [-8, 8)"));
  EXPECT_TRUE(sum(-9).error() == Errc::invalid_axis);
  EXPECT_TRUE(sum(std::numeric_limits<std::int64_t>::max()).error() == Errc::invalid_axis);
  EXPECT_TRUE(sum(7).error() == Errc::duplicate_axis);
  EXPECT_TRUE(sum(-1).error() == Errc::duplicate_axis);
}

}  // namespace
}  // namespace ringkernel::test
