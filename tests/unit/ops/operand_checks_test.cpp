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

std::vector<Op> ops_with_types(OperandTypes types) {
  std::vector<Op> ops;
  for (const Op op : ops_with_operands(1))
    if (find_op(static_cast<std::uint16_t>(op))->types == types) ops.push_back(op);
  return ops;
}

/// As many as the op takes, all alike but for indices and conditions, of a shape that it accepts.
std::vector<TensorDesc> operands(Op op, DType dtype = DType::f32) {
  const OpInfo& info = *find_op(static_cast<std::uint16_t>(op));
  const Shape shape = op == Op::conv2d || op == Op::max_pool ? Shape{2, 2, 2, 2} : Shape{2, 2};
  std::vector<TensorDesc> descs(info.input_count, TensorDesc{dtype, shape});
  if (info.types == OperandTypes::indexed) descs[1].dtype = DType::i32;
  if (info.types == OperandTypes::selected) descs[0].dtype = DType::i32;
  return descs;
}

/// What each op makes something of with those operands.
OpAttributes attributes_for(Op op) {
  OpAttributes attributes;
  if (op != Op::squeeze) attributes.axes = {0};
  attributes.shape = {2, 2};
  attributes.permutation = {1, 0};
  attributes.indices = {1, 1};
  attributes.window = {2, 1};
  attributes.strides = {1, 1};
  attributes.comparison = Comparison::less;
  attributes.dtype = DType::i64;
  attributes.low = {1, 0};
  attributes.high = {0, 2};
  attributes.slice = {.starts = {0, 0}, .ends = {2, 2}, .steps = {1, 1}};
  return attributes;
}

class OperandChecks : public testing::TestWithParam<Op> {
 protected:
  const Op op = GetParam();
  const std::string name = op_name(op);
  const OpAttributes attributes = attributes_for(op);
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

TEST_P(OperandChecks, RefuseElementsWithoutType) {
  expect_error(infer(op, operands(op, DType::none), attributes), Errc::invalid_dtype,
               {name, "element type none", "supported: f32"});
}

TEST_P(OperandChecks, RefuseExtentZero) {
  auto inputs = operands(op);
  inputs.back().shape = {2, 0};
  expect_error(infer(op, inputs, attributes), Errc::invalid_dimension,
               {name, "operand " + std::to_string(inputs.size() - 1), "extent 0 at dim 1",
                inputs.back().text()});
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

class FloatOperands : public OperandChecks {};

TEST_P(FloatOperands, RefuseIntegers) {
  for (const DType dtype : {DType::i32, DType::i64})
    expect_error(infer(op, operands(op, dtype), attributes), Errc::invalid_dtype,
                 {name, ringkernel::name(dtype), "supported: f32"});
}

INSTANTIATE_TEST_SUITE_P(EveryOp, FloatOperands,
                         testing::ValuesIn(ops_with_types(OperandTypes::f32)), op_name_of);

class AnyOperands : public OperandChecks {};

TEST_P(AnyOperands, GiveTheResultTheirType) {
  for (const DType dtype : {DType::f32, DType::i32, DType::i64}) {
    const auto result = infer(op, operands(op, dtype), attributes);
    ASSERT_TRUE(result.has_value()) << result.error().text();
    EXPECT_EQ(result->output.dtype, dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOp, AnyOperands, testing::ValuesIn(ops_with_types(OperandTypes::any)),
                         op_name_of);
INSTANTIATE_TEST_SUITE_P(EveryIndexedOp, AnyOperands,
                         testing::ValuesIn(ops_with_types(OperandTypes::indexed)), op_name_of);

class IndexOperands : public OperandChecks {};

TEST_P(IndexOperands, MayBeI32OrI64) {
  auto inputs = operands(op);
  for (const DType dtype : {DType::i32, DType::i64}) {
    inputs[1].dtype = dtype;
    EXPECT_TRUE(infer(op, inputs, attributes).has_value());
  }
  for (const DType dtype : {DType::f32, DType::none}) {
    inputs[1].dtype = dtype;
    expect_error(infer(op, inputs, attributes), Errc::invalid_index_dtype,
                 {name, std::string("the indices are ") + ringkernel::name(dtype), "i32, i64"});
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOp, IndexOperands,
                         testing::ValuesIn(ops_with_types(OperandTypes::indexed)), op_name_of);

class OtherResults : public OperandChecks {};

TEST_P(OtherResults, HaveTheTypeThatTheTableSays) {
  for (const DType dtype : {DType::f32, DType::i32, DType::i64}) {
    const auto result = infer(op, operands(op, dtype), attributes);
    ASSERT_TRUE(result.has_value()) << result.error().text();
    const OperandTypes types = find_op(static_cast<std::uint16_t>(op))->types;
    EXPECT_EQ(result->output.dtype, types == OperandTypes::compared    ? DType::i32
                                    : types == OperandTypes::converted ? DType::i64
                                                                       : dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryComparingOp, OtherResults,
                         testing::ValuesIn(ops_with_types(OperandTypes::compared)), op_name_of);
INSTANTIATE_TEST_SUITE_P(EveryConvertingOp, OtherResults,
                         testing::ValuesIn(ops_with_types(OperandTypes::converted)), op_name_of);
INSTANTIATE_TEST_SUITE_P(EverySelectingOp, OtherResults,
                         testing::ValuesIn(ops_with_types(OperandTypes::selected)), op_name_of);

class OperandsOfSeveral : public OperandChecks {};

TEST_P(OperandsOfSeveral, RefuseMixedElementTypes) {
  auto inputs = operands(op);
  inputs.back().dtype = DType::i32;
  expect_error(infer(op, inputs, attributes), Errc::dtype_mismatch, {name, "f32 and i32"});
  std::swap(inputs.back(), inputs[inputs.size() - 2]);
  expect_error(infer(op, inputs, attributes), Errc::dtype_mismatch, {name, "i32 and f32"});
}

std::vector<Op> ops_with_operands_alike() {
  std::vector<Op> ops = ops_with_operands(2);
  std::erase_if(ops, [](Op op) {
    return find_op(static_cast<std::uint16_t>(op))->types == OperandTypes::indexed;
  });
  return ops;
}

INSTANTIATE_TEST_SUITE_P(EveryOp, OperandsOfSeveral, testing::ValuesIn(ops_with_operands_alike()),
                         op_name_of);

}  // namespace
}  // namespace ringkernel::test
