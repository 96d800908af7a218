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

INSTANTIATE_TEST_SUITE_P(BinaryOps, Broadcast, testing::Values(Op::add, Op::mul, Op::sub, Op::div),
                         op_name_of);

TEST(UnaryRule, KeepsTheShape) {
  for (const Op op : {Op::relu, Op::neg, Op::exp, Op::log, Op::copy}) {
    expect_shape(infer_f32(op, {{}}), {});
    expect_shape(infer_f32(op, {{2, 1, 3}}), {2, 1, 3});
  }
}

}  // namespace
}  // namespace ringkernel::test
