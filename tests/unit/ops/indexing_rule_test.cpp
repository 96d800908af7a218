// Rules that pick elements: index, slice, gather; and pad, which adds some around them.
#include <gtest/gtest.h>

#include "unit/ops/infer_f32.hpp"

namespace ringkernel::test {
namespace {

Result<Inference> index(const Shape& shape, IntList indices) {
  return infer_f32(Op::index, {shape}, indexing(indices));
}
Result<Inference> slice(const Shape& shape, const SliceRanges& ranges) {
  return infer_f32(Op::slice, {shape}, slicing(ranges));
}
Result<Inference> pad(const Shape& shape, IntList low, IntList high) {
  return infer_f32(Op::pad, {shape, {}}, enclosing(low, high));
}
Result<Inference> gather(const Shape& shape, const Shape& indices) {
  const TensorDesc inputs[] = {{DType::f32, shape}, {DType::i32, indices}};
  return infer(Op::gather, inputs, {});
}

constexpr std::int64_t far = std::int64_t{1} << 40;

TEST(IndexRule, GivesAScalar) {
  const auto result = index({2, 3}, {1, 2});
  expect_shape(result, {});
  EXPECT_EQ(result->attrs.index.indices[0], 1u);
  EXPECT_EQ(result->attrs.index.indices[1], 2u);
  expect_shape(index({}, {}), {});
}

TEST(IndexRule, NeedsOneIndexForEachDim) {
  expect_error(index({2, 3}, {1}), Errc::index_count_mismatch,
               {"index(f32[2, 3])", "1 indices for rank 2"});
  expect_error(index({2, 3}, {1, 2, 0}), Errc::index_count_mismatch, {"3 indices"});
  expect_error(index({}, {0}), Errc::index_count_mismatch, {"rank 0"});
}

TEST(IndexRule, RefusesIndicesOutOfRange) {
  expect_error(index({2, 3}, {0, 3}), Errc::out_of_bounds,
               {"index(f32[2, 3])", "index 3 in dim 1 is outside [0, 3)"});
  expect_error(index({2, 3}, {-1, 0}), Errc::out_of_bounds, {"index -1 in dim 0"});
  expect_error(index({2, 3}, {far, 0}), Errc::out_of_bounds, {"index 1099511627776 in dim 0"});
}

TEST(SliceRule, CountsTheStepsThatFit) {
  expect_shape(slice({10}, {.starts = {0}, .ends = {10}, .steps = {1}}), {10});
  expect_shape(slice({10}, {.starts = {1}, .ends = {10}, .steps = {3}}), {3});
  expect_shape(slice({10}, {.starts = {0}, .ends = {10}, .steps = {3}}), {4});
  expect_shape(slice({10}, {.starts = {9}, .ends = {10}, .steps = {far}}), {1});
  expect_shape(slice({4, 6}, {.starts = {1, 0}, .ends = {3, 6}, .steps = {1, 2}}), {2, 3});
  expect_shape(slice({}, {}), {});
}

TEST(SliceRule, RefusesNegativeBounds) {
  expect_error(slice({10}, {.starts = {-4}, .ends = {5}, .steps = {2}}), Errc::out_of_bounds,
               {"slice(f32[10])", "start -4 in dim 0 is negative"});
  expect_error(slice({3, 4}, {.starts = {0, 0}, .ends = {3, -1}, .steps = {1, 1}}),
               Errc::out_of_bounds, {"end -1 in dim 1 is negative"});
}

TEST(SliceRule, NeedsOneEntryOfEachListForEachDim) {
  expect_error(slice({2, 3}, {.starts = {0}, .ends = {2, 3}, .steps = {1, 1}}),
               Errc::slice_count_mismatch,
               {"slice(f32[2, 3])", "1 starts, 2 ends and 2 steps for rank 2"});
  expect_error(slice({2, 3}, {.starts = {0, 0}, .ends = {2}, .steps = {1, 1}}),
               Errc::slice_count_mismatch, {"2 starts, 1 ends and 2 steps"});
  expect_error(slice({2, 3}, {.starts = {0, 0}, .ends = {2, 3}, .steps = {1, 1, 1}}),
               Errc::slice_count_mismatch, {"2 starts, 2 ends and 3 steps"});
}

TEST(SliceRule, RefusesStepsThatAreNotPositive) {
  expect_error(slice({2, 3}, {.starts = {0, 0}, .ends = {2, 3}, .steps = {1, 0}}),
               Errc::invalid_slice_step, {"slice(f32[2, 3])", "step 0 in dim 1"});
  expect_error(slice({2, 3}, {.starts = {0, 0}, .ends = {2, 3}, .steps = {-1, 1}}),
               Errc::invalid_slice_step, {"step -1 in dim 0"});
}

TEST(SliceRule, RefusesBoundsBeyondTheExtent) {
  expect_error(slice({4}, {.starts = {0}, .ends = {5}, .steps = {1}}), Errc::out_of_bounds,
               {"slice(f32[4])", "end 5 in dim 0 lies beyond its extent 4"});
  expect_error(slice({4}, {.starts = {far}, .ends = {4}, .steps = {1}}), Errc::out_of_bounds,
               {"start 1099511627776 in dim 0 lies beyond its extent 4"});
}

TEST(SliceRule, RefusesAnEmptyResult) {
  expect_error(slice({4}, {.starts = {2}, .ends = {2}, .steps = {1}}), Errc::invalid_dimension,
               {"slice(f32[4])", "from 2 to 2 in dim 0"});
  expect_error(slice({4}, {.starts = {3}, .ends = {1}, .steps = {1}}), Errc::invalid_dimension,
               {"from 3 to 1"});
  expect_error(slice({4}, {.starts = {4}, .ends = {4}, .steps = {1}}), Errc::invalid_dimension,
               {"from 4 to 4"});
  expect_error(slice({4}, {.starts = {0}, .ends = {0}, .steps = {1}}), Errc::invalid_dimension,
               {"from 0 to 0"});
}

TEST(PadRule, AddsBothCountsToEachExtent) {
  const auto result = pad({4, 6}, {1, 0}, {2, 3});
  expect_shape(result, {7, 9});
  EXPECT_EQ(result->attrs.pad.low[0], 1u);
  EXPECT_EQ(result->attrs.pad.low[1], 0u);
  EXPECT_EQ(result->attrs.pad.high[0], 2u);
  EXPECT_EQ(result->attrs.pad.high[1], 3u);
  expect_shape(pad({4, 6}, {0, 0}, {0, 0}), {4, 6});
  expect_shape(pad({}, {}, {}), {});
  expect_shape(pad({1, 1, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 0, 0, 0, 0}),
               {2, 1, 1, 1, 1, 1, 1, 2});
}

TEST(PadRule, TakesTheFirstElementOfAnyValue) {
  expect_shape(infer_f32(Op::pad, {{4}, {3, 2}}, enclosing({1}, {0})), {5});
}

TEST(PadRule, NeedsTwoCountsForEachDim) {
  expect_error(pad({2, 3}, {1}, {1, 1}), Errc::invalid_argument,
               {"pad(f32[2, 3], f32[])",
                "low [1] is not a number from 0 to 4294967295 for each of "
                "2 dims"});
  expect_error(pad({2, 3}, {1, 1}, {1, 1, 1}), Errc::invalid_argument, {"high [1, 1, 1] is not"});
  expect_error(pad({}, {0}, {}), Errc::invalid_argument, {"low [0]", "each of 0 dims"});
}

TEST(PadRule, RefusesToTakeElementsAway) {
  expect_error(pad({2, 3}, {0, -1}, {1, 1}), Errc::invalid_argument, {"low [0, -1] is not"});
  expect_error(pad({2, 3}, {0, 1}, {-far, 1}), Errc::invalid_argument,
               {"high [-1099511627776, 1]"});
}

TEST(PadRule, RefusesAResultThatIsTooLarge) {
  expect_error(pad({2, 3}, {far, 0}, {0, 0}), Errc::invalid_argument, {"low [1099511627776, 0]"});
  expect_error(pad({2}, {4294967295}, {0}), Errc::allocation_failure, {"pad"});
  expect_error(pad({1, 65536}, {65535, 0}, {0, 0}), Errc::allocation_failure,
               {"pad", "4294967295"});
}

TEST(GatherRule, PutsTheShapeOfTheIndicesInPlaceOfDimZero) {
  expect_shape(gather({5, 2, 3}, {4}), {4, 2, 3});
  expect_shape(gather({5, 2}, {4, 1}), {4, 1, 2});
  expect_shape(gather({5}, {4, 6}), {4, 6});
  expect_shape(gather({5, 2}, {}), {2});
  expect_shape(gather({5}, {}), {});
}

TEST(GatherRule, RefusesAScalar) {
  expect_error(gather({}, {4}), Errc::rank_mismatch,
               {"gather(f32[], i32[4])", "expected rank 1 or more"});
}

TEST(GatherRule, RefusesAResultOfRankNine) {
  expect_error(gather({1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}), Errc::rank_mismatch,
               {"gather", "rank 9 exceeds the limit of 8"});
}

TEST(GatherRule, RefusesAResultThatIsTooLarge) {
  expect_error(gather({1, 65536}, {65536}), Errc::allocation_failure, {"gather", "4294967295"});
}

}  // namespace
}  // namespace ringkernel::test
