// Checks that `infer` makes for every op alike: number, element type and extents of the operands.
#include <gtest/gtest.h>

#include "unit/ops/infer_f32.hpp"

namespace ringkernel::test {
namespace {

std::vector<Op> ops_with_operands(std::uint32_t at_least) {
  std::vector<Op> ops;
  for (const OpInfo& op : op_table())
    if (op.input_count >= at_least) ops.push_back(op.op);
  return ops;
}

/// As many operands as the op takes, all alike, of a shape that it accepts.
std::vector<TensorDesc> operands(Op op, DType dtype = DType::f32) {
  const Shape shape = op == Op::conv2d ? Shape{2, 2, 2, 2} : Shape{2, 2};
  return std::vector(find_op(static_cast<std::uint16_t>(op))->input_count,
                     TensorDesc{dtype, shape});
}

class OperandChecks : public testing::TestWithParam<Op> {
 protected:
  const Op op = GetParam();
  const std::string name = op_name(op);
  const OpAttributes attributes{.axes = {0}, .shape = {2, 2}, .strides = {1, 1}};
};

TEST_P(OperandChecks, AcceptSquareF32Operands) {
  const auto result = infer(op, operands(op), attributes);
  EXPECT_TRUE(result.has_value()) << result.error().text();
}

TEST_P(OperandChecks, RefuseOneOperandTooMany) {
  auto inputs = operands(op);
  inputs.push_back(inputs[0]);
  expect_error(
      infer(op, inputs, attributes), Errc::arity_mismatch,
      {name, "takes " + std::to_string(inputs.size() - 1), "got " + std::to_string(inputs.size())});
}

TEST_P(OperandChecks, RefuseOneOperandTooFew) {
  auto inputs = operands(op);
  inputs.pop_back();
  expect_error(infer(op, inputs, attributes), Errc::arity_mismatch,
               {name, "got " + std::to_string(inputs.size())});
}

TEST_P(OperandChecks, RefuseElementTypesOtherThanF32) {
  for (const DType dtype : {DType::i32, DType::i64, DType::none})
    expect_error(infer(op, operands(op, dtype), attributes), Errc::invalid_dtype,
                 {name, ringkernel::name(dtype), "supported: f32"});
}

TEST_P(OperandChecks, RefuseExtentZero) {
  auto inputs = operands(op);
  inputs.back().shape = {2, 0};
  expect_error(
      infer(op, inputs, attributes), Errc::invalid_dimension,
      {name, "operand " + std::to_string(inputs.size() - 1), "extent 0 at dim 1", "f32[2, 0]"});
}

TEST_P(OperandChecks, RefuseMoreElementsThanThirtyTwoBitsCount) {
  auto inputs = operands(op);
  inputs[0].shape = {65536, 65536};
  expect_error(infer(op, inputs, attributes), Errc::allocation_failure,
               {name, "operand 0", "4294967295"});
}

// The product of these extents is 2^64, which is 0 in 64 bits.
TEST_P(OperandChecks, RefuseExtentsWhoseProductOverflows) {
  auto inputs = operands(op);
  inputs[0].shape = {65536, 65536, 65536, 65536};
  expect_error(infer(op, inputs, attributes), Errc::allocation_failure, {name, "operand 0"});
}

INSTANTIATE_TEST_SUITE_P(EveryOp, OperandChecks, testing::ValuesIn(ops_with_operands(1)),
                         op_name_of);

using OperandsOfSeveral = OperandChecks;

TEST_P(OperandsOfSeveral, RefuseMixedElementTypes) {
  auto inputs = operands(op);
  inputs[1].dtype = DType::i32;
  expect_error(infer(op, inputs, attributes), Errc::dtype_mismatch, {name, "f32 and i32"});
}

INSTANTIATE_TEST_SUITE_P(EveryOp, OperandsOfSeveral, testing::ValuesIn(ops_with_operands(2)),
                         op_name_of);

}  // namespace
}  // namespace ringkernel::test
