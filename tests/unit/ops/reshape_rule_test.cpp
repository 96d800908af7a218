// Rules whose output shape the user names: reshape and fill.
#include <gtest/gtest.h>

#include "unit/ops/infer_f32.hpp"

namespace ringkernel::test {
namespace {

Result<Inference> reshape(const Shape& shape, IntList to) {
  return infer_f32(Op::reshape, {shape}, shaped(to));
}

Result<Inference> fill(IntList to) { return infer_f32(Op::fill, {{4}}, shaped(to)); }

constexpr std::int64_t rank_nine[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};

TEST(ReshapeRule, KeepsTheElementCount) {
  expect_shape(reshape({2, 6}, {3, 4}), {3, 4});
  expect_shape(reshape({2, 6}, {12}), {12});
  expect_shape(reshape({12}, {1, 2, 1, 6}), {1, 2, 1, 6});
}

TEST(ReshapeRule, MakesAScalarOfOneElement) {
  expect_shape(reshape({1, 1}, {}), {});
  expect_shape(reshape({}, {1, 1}), {1, 1});
}

TEST(ReshapeRule, InfersOneExtent) {
  expect_shape(reshape({2, 6}, {-1}), {12});
  expect_shape(reshape({2, 6}, {3, -1}), {3, 4});
  expect_shape(reshape({2, 6}, {-1, 12}), {1, 12});
  expect_shape(reshape({}, {-1}), {1});
}

TEST(ReshapeRule, RefusesAnotherElementCount) {
  expect_error(reshape({2, 6}, {3, 5}), Errc::element_count_mismatch,
               {"reshape(f32[2, 6])", "12 elements", "[3, 5]", "15 elements"});
  expect_error(reshape({2, 6}, {}), Errc::element_count_mismatch, {"12 elements", "[]"});
}

TEST(ReshapeRule, RefusesAnInferredExtentThatDoesNotDivide) {
  expect_error(reshape({2, 6}, {5, -1}), Errc::element_count_mismatch,
               {"12 elements", "multiple of", "5 elements"});
  expect_error(reshape({2}, {4, -1}), Errc::element_count_mismatch, {"2 elements"});
}

TEST(ReshapeRule, RefusesTwoInferredExtents) {
  expect_error(reshape({2, 6}, {-1, -1}), Errc::invalid_dimension, {"extent -1 at dim 1"});
}

TEST(ReshapeRule, RefusesZeroAndNegativeExtents) {
  expect_error(reshape({2, 6}, {0, 12}), Errc::invalid_dimension, {"extent 0 at dim 0"});
  expect_error(reshape({2, 6}, {-1, 0}), Errc::invalid_dimension, {"extent 0 at dim 1"});
  expect_error(reshape({2, 6}, {12, -2}), Errc::invalid_dimension, {"extent -2 at dim 1"});
}

TEST(ReshapeRule, RefusesAShapeThatIsTooLarge) {
  expect_error(reshape({2, 6}, {65536, 65536}), Errc::allocation_failure,
               {"reshape(f32[2, 6])", "4294967295"});
  expect_error(reshape({2, 6}, {std::int64_t{1} << 62, 4}), Errc::allocation_failure, {"reshape"});
}

TEST(ReshapeRule, RefusesRankNine) {
  expect_error(reshape({1}, IntList(rank_nine)), Errc::rank_mismatch, {"reshape", "rank 9"});
}

TEST(FillRule, TakesItsShapeFromTheAttribute) {
  expect_shape(fill({2, 3}), {2, 3});
  expect_shape(fill({}), {});
}

TEST(FillRule, RefusesZeroAndNegativeExtents) {
  expect_error(fill({2, 0}), Errc::invalid_dimension, {"fill(f32[4])", "extent 0 at dim 1"});
  expect_error(fill({-1}), Errc::invalid_dimension, {"fill", "extent -1 at dim 0"});
}

TEST(FillRule, RefusesAShapeThatIsTooLarge) {
  expect_error(fill({65536, 65536}), Errc::allocation_failure, {"fill", "4294967295"});
}

TEST(FillRule, RefusesRankNine) {
  expect_error(fill(IntList(rank_nine)), Errc::rank_mismatch, {"fill", "rank 9"});
}

}  // namespace
}  // namespace ringkernel::test
