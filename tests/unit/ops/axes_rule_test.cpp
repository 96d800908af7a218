// Rules that move dims: expand_dims, squeeze, transpose.
#include <gtest/gtest.h>

#include "unit/ops/infer_f32.hpp"

namespace ringkernel::test {
namespace {

Result<Inference> expand_dims(const Shape& shape, IntList axes) {
  return infer_f32(Op::expand_dims, {shape}, reducing(axes));
}
Result<Inference> squeeze(const Shape& shape, IntList axes) {
  return infer_f32(Op::squeeze, {shape}, reducing(axes));
}
Result<Inference> transpose(const Shape& shape, IntList permutation) {
  return infer_f32(Op::transpose, {shape}, permuting(permutation));
}

constexpr std::int64_t nine[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};

TEST(ExpandDimsRule, InsertsOnesInAscendingOrder) {
  expect_shape(expand_dims({3, 4}, {0, 2}), {1, 3, 1, 4});
  expect_shape(expand_dims({3, 4}, {2, 0}), {1, 3, 1, 4});
  expect_shape(expand_dims({3, 4}, {2}), {3, 4, 1});
  expect_shape(expand_dims({3, 4}, {2, 3}), {3, 4, 1, 1});
  expect_shape(expand_dims({}, {0, 1}), {1, 1});
  expect_shape(expand_dims({3, 4}, {}), {3, 4});
}

TEST(ExpandDimsRule, NotesTheNewDims) {
  EXPECT_EQ(expand_dims({3, 4}, {2, 0})->attrs.axes.axis_mask, 5u);
}

TEST(ExpandDimsRule, RefusesAxesOutOfRange) {
  expect_error(expand_dims({3, 4}, {3}), Errc::invalid_axis,
               {"expand_dims(f32[3, 4])", "axis 3", "[0, 2]", "rank 2"});
  expect_error(expand_dims({3, 4}, {0, 4}), Errc::invalid_axis, {"axis 4", "[0, 3]", "rank 3"});
  expect_error(expand_dims({3, 4}, {-1}), Errc::invalid_axis, {"axis -1"});
}

TEST(ExpandDimsRule, RefusesDuplicates) {
  expect_error(expand_dims({3, 4}, {1, 0, 1}), Errc::duplicate_axis,
               {"expand_dims(f32[3, 4])", "axis 1 is named twice"});
}

TEST(ExpandDimsRule, RefusesAResultOfRankNine) {
  expect_error(expand_dims({1, 1, 1, 1, 1, 1, 1, 1}, {0}), Errc::rank_mismatch,
               {"expand_dims", "rank 9 exceeds the limit of 8"});
  expect_error(expand_dims({}, IntList(nine)), Errc::rank_mismatch, {"rank 9"});
}

TEST(SqueezeRule, RemovesTheNamedDims) {
  expect_shape(squeeze({1, 3, 1, 4}, {0}), {3, 1, 4});
  expect_shape(squeeze({1, 3, 1, 4}, {2, 0}), {3, 4});
  expect_shape(squeeze({1, 1}, {0, 1}), {});
  EXPECT_EQ(squeeze({1, 3, 1, 4}, {2})->attrs.axes.axis_mask, 4u);
}

TEST(SqueezeRule, RemovesAllOnesWithoutAxes) {
  expect_shape(squeeze({1, 3, 1, 4}, {}), {3, 4});
  expect_shape(squeeze({1, 1}, {}), {});
  expect_shape(squeeze({3, 4}, {}), {3, 4});
  expect_shape(squeeze({}, {}), {});
}

TEST(SqueezeRule, RefusesAxesOutOfRange) {
  expect_error(squeeze({1, 3}, {2}), Errc::invalid_axis,
               {"squeeze(f32[1, 3])", "axis 2 is outside [0, 2) of rank 2"});
  expect_error(squeeze({1, 3}, {-2}), Errc::invalid_axis, {"axis -2"});
  expect_error(squeeze({}, {0}), Errc::invalid_axis, {"rank 0"});
}

TEST(SqueezeRule, RefusesDuplicates) {
  expect_error(squeeze({1, 3}, {0, 0}), Errc::duplicate_axis, {"squeeze(f32[1, 3])", "axis 0"});
  expect_error(squeeze({1, 1, 1, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 0}), Errc::duplicate_axis,
               {"axis 0 names a dim twice"});
}

TEST(SqueezeRule, RefusesToRemoveAnotherExtentThanOne) {
  expect_error(squeeze({1, 3}, {0, 1}), Errc::not_squeezable,
               {"squeeze(f32[1, 3])", "axis 1 has extent 3"});
}

TEST(TransposeRule, OrdersTheDims) {
  expect_shape(transpose({2, 3}, {1, 0}), {3, 2});
  expect_shape(transpose({2, 3, 4}, {1, 2, 0}), {3, 4, 2});
  expect_shape(transpose({2, 3}, {0, 1}), {2, 3});
  expect_shape(transpose({}, {}), {});
  EXPECT_EQ(transpose({2, 3, 4}, {1, 2, 0})->attrs.transpose.permutation[1], 2u);
}

TEST(TransposeRule, RefusesAListThatIsNoPermutation) {
  const auto refuses = [](IntList permutation, const char* what) {
    expect_error(transpose({2, 3}, permutation), Errc::invalid_permutation,
                 {"transpose(f32[2, 3])", what});
  };
  refuses({}, "0 entries for rank 2");
  refuses({0}, "1 entries for rank 2");
  refuses({0, 1, 2}, "3 entries for rank 2");
  refuses(IntList(nine), "9 entries for rank 2");
  refuses({0, 0}, "entry 1 of the permutation is 0, as one before it");
  refuses({0, 2}, "entry 1 of the permutation is 2, outside [0, 2)");
  refuses({-1, 0}, "entry 0 of the permutation is -1, outside [0, 2)");
}

Result<Inference> concat(const Shape& a, const Shape& b, IntList axes) {
  return infer_f32(Op::concat, {a, b}, reducing(axes));
}

TEST(ConcatRule, AddsTheExtentsOfOneAxis) {
  expect_shape(concat({2, 3}, {2, 5}, {1}), {2, 8});
  expect_shape(concat({2, 3}, {4, 3}, {-2}), {6, 3});
  expect_shape(concat({1}, {1}, {0}), {2});
  EXPECT_EQ(concat({2, 3}, {2, 5}, {-1})->attrs.axes.axis_mask, 2u);
}

TEST(ConcatRule, NeedsEqualRanksAndOtherExtents) {
  expect_error(concat({2, 3}, {2}, {0}), Errc::rank_mismatch,
               {"concat(f32[2, 3], f32[2])", "ranks 2 and 1"});
  expect_error(concat({}, {}, {0}), Errc::rank_mismatch, {"ranks 0 and 0"});
  expect_error(concat({2, 3}, {4, 5}, {0}), Errc::dimension_mismatch, {"extents 3 and 5 at dim 1"});
}

TEST(ConcatRule, NeedsOneAxisThatThereIs) {
  expect_error(concat({2, 3}, {2, 3}, {2}), Errc::invalid_axis, {"axis 2 is outside [-2, 2)"});
  expect_error(concat({2, 3}, {2, 3}, {-3}), Errc::invalid_axis, {"axis -3"});
  expect_error(concat({2, 3}, {2, 3}, {}), Errc::invalid_axis, {"0 axes, expected one"});
  expect_error(concat({2, 3}, {2, 3}, {0, 1}), Errc::invalid_axis, {"2 axes"});
}

TEST(ConcatRule, RefusesAResultThatIsTooLarge) {
  expect_error(concat({1u << 31}, {1u << 31}, {0}), Errc::allocation_failure,
               {"concat", "4294967295"});
}

}  // namespace
}  // namespace ringkernel::test
