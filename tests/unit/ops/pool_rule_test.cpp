#include <gtest/gtest.h>

#include "unit/ops/infer_f32.hpp"

namespace ringkernel::test {
namespace {

Result<Inference> max_pool(const Shape& images, const IntList& window,
                           const OpAttributes& attributes) {
  return infer_f32(Op::max_pool, {images}, pooling(window, attributes));
}

TEST(PoolRule, SlidesWithoutPadding) {
  expect_shape(max_pool({2, 5, 7, 3}, {3, 2}, sliding({1, 1})), {2, 3, 6, 3});
  expect_shape(max_pool({2, 5, 7, 3}, {2, 2}, sliding({2, 2})), {2, 2, 3, 3});
  expect_shape(max_pool({1, 5, 7, 20}, {5, 7}, sliding({3, 9})), {1, 1, 1, 20});
}

TEST(PoolRule, PadsAsConv2dDoes) {
  const auto same = max_pool({1, 4, 6, 1}, {2, 3}, sliding({1, 2}, Padding::same));
  expect_shape(same, {1, 4, 3, 1});
  EXPECT_EQ(std::to_array(same->attrs.pool.pads), (std::array<rk_u32, 4>{0, 1, 0, 1}));
  const auto custom =
      max_pool({1, 3, 3, 1}, {3, 2}, sliding({1, 2}, Padding::custom, {2, 1, 0, 1}));
  expect_shape(custom, {1, 4, 2, 1});
  EXPECT_EQ(std::to_array(custom->attrs.pool.pads), (std::array<rk_u32, 4>{2, 1, 0, 1}));
  EXPECT_EQ(std::to_array(custom->attrs.pool.window), (std::array<rk_u32, 2>{3, 2}));
  EXPECT_EQ(std::to_array(custom->attrs.pool.strides), (std::array<rk_u32, 2>{1, 2}));
}

TEST(PoolRule, RefusesOtherRanks) {
  expect_error(max_pool({5, 7, 3}, {1, 1}, sliding({1, 1})), Errc::rank_mismatch,
               {"max_pool(f32[5, 7, 3])", "got rank 3"});
}

TEST(PoolRule, RefusesAWindowThatIsNotTwoPositiveNumbers) {
  for (const IntList& window :
       {IntList{}, IntList{1}, IntList{1, 0}, IntList{-1, 1}, IntList{1, 1, 1}})
    expect_error(max_pool({1, 5, 7, 3}, window, sliding({1, 1})), Errc::invalid_argument,
                 {"max_pool", "the window", "two positive numbers"});
}

TEST(PoolRule, RefusesStridesAndPadsAsConv2dDoes) {
  expect_error(max_pool({1, 5, 7, 3}, {2, 2}, sliding({1})), Errc::invalid_stride, {"[1]"});
  expect_error(max_pool({1, 5, 7, 3}, {2, 2}, sliding({1, 1}, Padding::custom, {0, 0, 0, -1})),
               Errc::invalid_argument, {"four numbers"});
}

TEST(PoolRule, RefusesAWindowLargerThanThePaddedImage) {
  expect_error(max_pool({1, 2, 7, 3}, {3, 2}, sliding({1, 1})), Errc::dimension_mismatch,
               {"the window has 3 rows", "padded image 2"});
}

// A window could lie in the padding alone, and would have no largest element.
TEST(PoolRule, RefusesPadsThatAreNotLessThanTheWindow) {
  expect_error(max_pool({1, 5, 7, 3}, {2, 4}, sliding({1, 1}, Padding::custom, {0, 2, 0, 0})),
               Errc::invalid_argument, {"a pad of 2", "the window's 2 rows"});
  expect_error(max_pool({1, 5, 7, 3}, {2, 4}, sliding({1, 1}, Padding::custom, {1, 1, 4, 0})),
               Errc::invalid_argument, {"a pad of 4", "the window's 4 columns"});
}

}  // namespace
}  // namespace ringkernel::test
