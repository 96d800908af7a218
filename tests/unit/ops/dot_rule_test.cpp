#include <gtest/gtest.h>

#include "unit/ops/infer_f32.hpp"

namespace ringkernel::test {
namespace {

TEST(DotRule, TakesVectorsAndMatrices) {
  expect_shape(infer_f32(Op::dot, {{3}, {3}}), {});
  expect_shape(infer_f32(Op::dot, {{2, 3}, {3}}), {2});
  expect_shape(infer_f32(Op::dot, {{3}, {3, 4}}), {4});
  expect_shape(infer_f32(Op::dot, {{2, 3}, {3, 4}}), {2, 4});
}

TEST(DotRule, RefusesOtherRanks) {
  const std::pair<Shape, Shape> pairs[] = {{{}, {}},           {{}, {3}},        {{3}, {}},
                                           {{2, 3}, {}},       {{3}, {2, 3, 4}}, {{2, 2, 3}, {3}},
                                           {{1, 2, 3}, {3, 4}}};
  for (const auto& [a, b] : pairs)
    expect_error(infer_f32(Op::dot, {a, b}), Errc::rank_mismatch,
                 {"dot(f32" + a.text() + ", f32" + b.text() + ")",
                  "got " + std::to_string(a.rank()) + " and " + std::to_string(b.rank())});
}

TEST(DotRule, NamesKWhereInnerExtentsDiffer) {
  const std::pair<Shape, Shape> pairs[] = {
      {{3}, {4}}, {{2, 3}, {4}}, {{3}, {4, 2}}, {{2, 3}, {4, 2}}};
  for (const auto& [a, b] : pairs)
    expect_error(infer_f32(Op::dot, {a, b}), Errc::dimension_mismatch,
                 {"dot(", "K is 3 in the left operand and 4 in the right"});
}

TEST(DotRule, RefusesAResultThatIsTooLarge) {
  expect_error(infer_f32(Op::dot, {{65536, 1}, {1, 65536}}), Errc::allocation_failure,
               {"dot", "4294967295"});
}

}  // namespace
}  // namespace ringkernel::test
