#include <gtest/gtest.h>

#include "unit/ops/infer_f32.hpp"

namespace ringkernel::test {
namespace {

TEST(MatmulRule, MultipliesMatrices) {
  expect_shape(infer_f32(Op::matmul, {{2, 3}, {3, 4}}), {2, 4});
  expect_shape(infer_f32(Op::matmul, {{1, 1}, {1, 1}}), {1, 1});
}

TEST(MatmulRule, BroadcastsTheBatch) {
  expect_shape(infer_f32(Op::matmul, {{2, 3, 4}, {4, 5}}), {2, 3, 5});
  expect_shape(infer_f32(Op::matmul, {{3, 4}, {2, 4, 5}}), {2, 3, 5});
  expect_shape(infer_f32(Op::matmul, {{7, 1, 3, 4}, {2, 4, 5}}), {7, 2, 3, 5});
}

TEST(MatmulRule, RefusesVectors) {
  expect_error(infer_f32(Op::matmul, {{3}, {3, 4}}), Errc::rank_mismatch,
               {"matmul(f32[3], f32[3, 4])", "expected rank 2 or more", "ranks 1 and 2"});
  expect_error(infer_f32(Op::matmul, {{2, 3}, {3}}), Errc::rank_mismatch, {"ranks 2 and 1"});
  expect_error(infer_f32(Op::matmul, {{}, {}}), Errc::rank_mismatch, {"ranks 0 and 0"});
}

TEST(MatmulRule, NamesKWhereInnerExtentsDiffer) {
  expect_error(infer_f32(Op::matmul, {{2, 3}, {4, 5}}), Errc::dimension_mismatch,
               {"matmul(f32[2, 3], f32[4, 5])", "K is 3 in the left operand and 4 in the right"});
}

TEST(MatmulRule, NamesTheBatchDimThatDoesNotBroadcast) {
  expect_error(infer_f32(Op::matmul, {{7, 2, 3, 4}, {5, 4, 6}}), Errc::broadcast_failure,
               {"matmul(f32[7, 2, 3, 4], f32[5, 4, 6])", "extents 2 and 5 at aligned dim 1"});
}

TEST(MatmulRule, RefusesAResultThatIsTooLarge) {
  expect_error(infer_f32(Op::matmul, {{65536, 1}, {1, 65536}}), Errc::allocation_failure,
               {"matmul", "4294967295"});
}

}  // namespace
}  // namespace ringkernel::test
