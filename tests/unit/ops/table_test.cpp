#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

#include "ringkernel/op.hpp"

namespace ringkernel {
namespace {

TEST(OpTable, FindsEveryOpByIdAndByName) {
  for (const OpInfo& op : op_table()) {
    EXPECT_EQ(find_op(static_cast<std::uint16_t>(op.op)), &op) << op.name;
    EXPECT_EQ(find_op(op.name), &op) << op.name;
    EXPECT_EQ(find_op("tensor." + std::string(op.name)), &op) << op.name;
  }
}

TEST(OpTable, GivesEveryOpItsOwnIdAndName) {
  std::set<Op> ids;
  std::set<std::string_view> names;
  for (const OpInfo& op : op_table()) {
    EXPECT_TRUE(ids.insert(op.op).second) << op.name;
    EXPECT_TRUE(names.insert(op.name).second) << op.name;
    EXPECT_LE(op.input_count, inputs_max) << op.name;
  }
}

// The table says of which ops requests may differ in their attributes and still be the same.
TEST(OpTable, KnowsTheOpsWhoseAttributesMakeNoDifference) {
  OpAttributes odd;
  odd.axes = {0};
  odd.shape = {2, 2};
  odd.keepdims = true;
  odd.permutation = {1, 0};
  odd.indices = {1, 1};
  odd.slice = {{0, 0}, {1, 1}, {1, 1}};
  odd.strides = {1, 1};
  odd.padding = Padding::same;
  odd.comparison = Comparison::less;
  odd.dtype = DType::i64;
  odd.window = {1, 1};
  odd.groups = 2;
  odd.low = {1, 0};
  odd.high = {0, 2};
  const TensorDesc square{DType::f32, {2, 2}};
  const TensorDesc rows{DType::i32, {2}};
  for (const OpInfo& op : op_table()) {
    std::vector<TensorDesc> inputs(op.input_count, square);
    if (op.types == OperandTypes::indexed) inputs[1] = rows;
    if (op.types == OperandTypes::selected) inputs[0] = rows;
    const Result<Inference> plain = infer(op.op, inputs, {});
    const Result<Inference> with_odd = infer(op.op, inputs, odd);
    const bool differs =
        plain.has_value() != with_odd.has_value() ||
        (plain && (plain->output != with_odd->output ||
                   std::memcmp(&plain->attrs, &with_odd->attrs, sizeof plain->attrs) != 0));
    EXPECT_TRUE(op.reads_attributes || !differs) << op.name;
    const bool needs_them = op.input_count == 1 && op.rule != "unary" && op.rule != "reduce_all";
    EXPECT_TRUE(op.reads_attributes || !needs_them) << op.name;
  }
  EXPECT_TRUE(find_op("conv2d")->reads_attributes);
}

TEST(OpTable, AcceptsTheOpcodesOfTheIr) {
  const auto found = [](std::string_view name) {
    const OpInfo* op = find_op(name);
    return op == nullptr ? std::string_view() : op->name;
  };
  EXPECT_EQ(found("Add"), "add");
  EXPECT_EQ(found("Mul"), "mul");
  EXPECT_EQ(found("Sub"), "sub");
  EXPECT_EQ(found("Div"), "div");
  EXPECT_EQ(found("Relu"), "relu");
  EXPECT_EQ(found("Neg"), "neg");
  EXPECT_EQ(found("Exp"), "exp");
  EXPECT_EQ(found("Log"), "log");
  EXPECT_EQ(found("Conv2d"), "conv2d");
  EXPECT_EQ(found("MaxPool"), "max_pool");
  EXPECT_EQ(found("MatMul"), "matmul");
  EXPECT_EQ(found("Sum"), "sum");
  EXPECT_EQ(found("SumAll"), "sum_all");
  EXPECT_EQ(found("Reshape"), "reshape");
  EXPECT_EQ(found("MeanAll"), "mean_all");
  EXPECT_EQ(found("Dot"), "dot");
  EXPECT_EQ(found("ExpandDims"), "expand_dims");
  EXPECT_EQ(found("Squeeze"), "squeeze");
  EXPECT_EQ(found("Transpose"), "transpose");
  EXPECT_EQ(found("Index"), "index");
  EXPECT_EQ(found("Slice"), "slice");
  EXPECT_EQ(found("Gather"), "gather");
  EXPECT_EQ(found("ReduceMax"), "reduce_max");
}

TEST(OpTable, RefusesWhatNoSpellingOfAnOpMatches) {
  for (const std::string_view name : {"", "tensor.", "ad", "adds", "aDD", "matMul", "sumall",
                                      "tensor.tensor.add", "Tensor.add", "Ad", "Adds", "Sum_All"})
    EXPECT_EQ(find_op(name), nullptr) << name;
  EXPECT_EQ(find_op(std::uint16_t{65535}), nullptr);
}

TEST(OpTable, RefusesToInferAnOpThatItDoesNotHave) {
  const auto result = infer(static_cast<Op>(65535), {}, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, make_error_code(Errc::unsupported_operation));
  EXPECT_NE(result.error().detail.find("65535"), std::string::npos);
}

TEST(OpTable, InfersNoTensorFromNoop) {
  const auto result = infer(Op::noop, {}, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->output.dtype, DType::none);
}

}  // namespace
}  // namespace ringkernel
