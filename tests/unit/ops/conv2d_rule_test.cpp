#include <gtest/gtest.h>

#include "unit/ops/infer_f32.hpp"

namespace ringkernel::test {
namespace {

constexpr std::int64_t four_billion = std::int64_t{1} << 32;

Result<Inference> conv2d(const Shape& images, const Shape& filter, const OpAttributes& attributes) {
  return infer_f32(Op::conv2d, {images, filter}, attributes);
}

void expect_pads(const Result<Inference>& result, const std::array<rk_u32, 4>& pads) {
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_EQ(std::to_array(result->attrs.conv2d.pads), pads);
}

TEST(Conv2dRule, SlidesWithoutPadding) {
  expect_shape(conv2d({2, 5, 7, 3}, {3, 2, 3, 8}, sliding({1, 1})), {2, 3, 6, 8});
  expect_shape(conv2d({1, 5, 7, 1}, {5, 7, 1, 1}, sliding({1, 1})), {1, 1, 1, 1});
}

TEST(Conv2dRule, LeavesOutWhatAStrideDoesNotReach) {
  expect_shape(conv2d({1, 8, 9, 1}, {3, 3, 1, 1}, sliding({2, 3})), {1, 3, 3, 1});
}

TEST(Conv2dRule, PadsBothSidesAlikeForTheSameShapeAtStrideOne) {
  const auto result = conv2d({1, 5, 7, 1}, {3, 5, 1, 1}, sliding({1, 1}, Padding::same));
  expect_shape(result, {1, 5, 7, 1});
  expect_pads(result, {1, 1, 2, 2});
}

TEST(Conv2dRule, PutsTheOddZeroBehind) {
  const auto result = conv2d({1, 4, 6, 1}, {2, 3, 1, 1}, sliding({1, 2}, Padding::same));
  expect_shape(result, {1, 4, 3, 1});
  expect_pads(result, {0, 1, 0, 1});
}

TEST(Conv2dRule, PadsNothingWhereTheStrideSkipsMoreThanTheFilterReaches) {
  const auto result = conv2d({1, 7, 9, 1}, {1, 2, 1, 1}, sliding({3, 4}, Padding::same));
  expect_shape(result, {1, 3, 3, 1});
  expect_pads(result, {0, 0, 0, 1});
}

TEST(Conv2dRule, TakesFourPads) {
  const auto result =
      conv2d({1, 2, 2, 1}, {3, 3, 1, 1}, sliding({1, 1}, Padding::custom, {1, 2, 0, 3}));
  expect_shape(result, {1, 3, 3, 1});
  expect_pads(result, {1, 2, 0, 3});
  EXPECT_EQ(result->attrs.conv2d.strides[0], 1u);
  EXPECT_EQ(result->attrs.conv2d.strides[1], 1u);
}

TEST(Conv2dRule, RefusesOtherRanks) {
  expect_error(conv2d({5, 7, 3}, {3, 2, 3, 8}, sliding({1, 1})), Errc::rank_mismatch,
               {"conv2d(f32[5, 7, 3], f32[3, 2, 3, 8])", "ranks 3 and 4"});
  expect_error(conv2d({1, 5, 7, 3}, {1, 3, 2, 3, 8}, sliding({1, 1})), Errc::rank_mismatch,
               {"ranks 4 and 5"});
}

TEST(Conv2dRule, RefusesOtherChannels) {
  expect_error(conv2d({1, 5, 7, 3}, {3, 2, 4, 8}, sliding({1, 1})), Errc::channel_mismatch,
               {"conv2d(f32[1, 5, 7, 3]", "3 channels", "takes 4"});
}

TEST(Conv2dRule, DividesChannelsAndOutputsIntoGroups) {
  const auto result = conv2d({2, 5, 7, 6}, {3, 2, 3, 8}, grouped(2, sliding({1, 1})));
  expect_shape(result, {2, 3, 6, 8});
  EXPECT_EQ(result->attrs.conv2d.groups, 2u);
  const auto depthwise = conv2d({1, 4, 4, 6}, {3, 3, 1, 6}, grouped(6, sliding({1, 1})));
  expect_shape(depthwise, {1, 2, 2, 6});
  EXPECT_EQ(conv2d({1, 3, 3, 3}, {1, 1, 3, 1}, sliding({1, 1}))->attrs.conv2d.groups, 1u);
}

TEST(Conv2dRule, RefusesChannelsThatAreNotThoseOfTheGroups) {
  expect_error(conv2d({1, 5, 7, 6}, {3, 2, 6, 8}, grouped(2, sliding({1, 1}))),
               Errc::channel_mismatch, {"6 channels", "takes 6 in each of 2 groups"});
  expect_error(conv2d({1, 5, 7, 7}, {3, 2, 3, 8}, grouped(2, sliding({1, 1}))),
               Errc::channel_mismatch, {"7 channels", "takes 3 in each of 2 groups"});
}

TEST(Conv2dRule, RefusesGroupsThatDoNotDivideTheOutputs) {
  for (const std::int64_t groups : {std::int64_t{4}, std::int64_t{0}, std::int64_t{-1},
                                    std::numeric_limits<std::int64_t>::min(), four_billion})
    expect_error(conv2d({1, 5, 7, 8}, {3, 2, 2, 6}, grouped(groups, sliding({1, 1}))),
                 Errc::invalid_argument,
                 {"conv2d", std::to_string(groups) + " groups do not divide 6 outputs"});
}

TEST(Conv2dRule, RefusesStridesThatAreNotTwoPositiveNumbers) {
  for (const auto& [strides, text] :
       {std::pair{IntList{}, "[]"}, std::pair{IntList{1}, "[1]"},
        std::pair{IntList{1, 0}, "[1, 0]"}, std::pair{IntList{-1, 1}, "[-1, 1]"},
        std::pair{IntList{1, 1, 1}, "[1, 1, 1]"},
        std::pair{IntList{four_billion, 1}, "[4294967296, 1]"}})
    expect_error(conv2d({1, 5, 7, 3}, {3, 2, 3, 8}, sliding(strides)), Errc::invalid_stride,
                 {"conv2d", text});
}

TEST(Conv2dRule, RefusesPadsThatAreNotFourNumbersFromZeroOn) {
  for (const IntList& pads : {IntList{}, IntList{1, 1}, IntList{0, 0, 0, -1},
                              IntList{0, 0, 0, four_billion}, IntList{0, 0, 0, 0, 0}})
    expect_error(conv2d({1, 5, 7, 3}, {3, 2, 3, 8}, sliding({1, 1}, Padding::custom, pads)),
                 Errc::invalid_argument, {"conv2d", "four numbers"});
}

TEST(Conv2dRule, RefusesPadsThatMakeAnImageTooLarge) {
  expect_error(conv2d({1, 5, 7, 3}, {3, 2, 3, 8},
                      sliding({1, 1}, Padding::custom, {four_billion - 1, 0, 0, 0})),
               Errc::invalid_argument, {"4294967300 rows", "limit is 4294967295"});
}

TEST(Conv2dRule, IgnoresPadsUnlessPaddingIsCustom) {
  expect_shape(conv2d({1, 5, 7, 3}, {3, 2, 3, 8}, sliding({1, 1}, Padding::valid, {-1})),
               {1, 3, 6, 8});
}

TEST(Conv2dRule, RefusesAFilterLargerThanThePaddedImage) {
  expect_error(conv2d({1, 2, 7, 3}, {3, 2, 3, 8}, sliding({1, 1})), Errc::dimension_mismatch,
               {"conv2d", "3 rows", "padded image 2"});
  expect_error(conv2d({1, 5, 1, 3}, {3, 4, 3, 8}, sliding({1, 1}, Padding::custom, {0, 0, 1, 1})),
               Errc::dimension_mismatch, {"4 columns", "padded image 3"});
}

TEST(Conv2dRule, RefusesAResultThatIsTooLarge) {
  expect_error(conv2d({65536, 1, 1, 1}, {1, 1, 1, 65536}, sliding({1, 1})),
               Errc::allocation_failure, {"conv2d", "4294967295"});
}

}  // namespace
}  // namespace ringkernel::test
