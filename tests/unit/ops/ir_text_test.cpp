// The text of the IR grammar: what it means, and what its errors say.
#include "ops/ir_text.hpp"

#include <gmock/gmock.h>

namespace ringkernel::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string_view> operands_of(const IrOperation& operation) {
  return {operation.operands.begin(), operation.operands.begin() + operation.operand_count};
}
std::vector<std::int64_t> values_of(const IntList& list) {
  return {list.values().begin(), list.values().end()};
}
std::string refusal(std::string_view text) {
  const Result<IrOperation> operation = parse_operation(text);
  return operation ? "accepted" : operation.error().detail;
}

TEST(IrText, NamesAnOpByAnyOfItsNames) {
  for (const char* const text : {"Add(%0, %1)", "add(%0,%1)", "tensor.add( %0 , %1 )",
                                 "BinOp(Add, %0, %1)", "\tAdd\n(\n%0,\r\n%1)  "}) {
    const IrOperation operation = parse_operation(text).value();
    EXPECT_EQ(operation.op, Op::add) << text;
    EXPECT_THAT(operands_of(operation), ElementsAre("0", "1")) << text;
  }
  EXPECT_EQ(parse_operation("BinOp(Div, %a, %b)")->op, Op::div);
  EXPECT_EQ(parse_operation("BinOp(Max, %a, %b)")->op, Op::max);
}

TEST(IrText, TakesNumbersAndIdentifiersAsOperands) {
  const IrOperation operation = parse_operation("MatMul(%12, %_x9)").value();
  EXPECT_EQ(operation.op, Op::matmul);
  EXPECT_THAT(operands_of(operation), ElementsAre("12", "_x9"));
}

TEST(IrText, ReadsTheAttributesOfEachOp) {
  const IrOperation sum = parse_operation("Sum(%0, [1, -2,], true)").value();
  EXPECT_THAT(values_of(sum.attributes.axes), ElementsAre(1, -2));
  EXPECT_TRUE(sum.attributes.keepdims);
  const IrOperation mean = parse_operation("Mean(%0, [], false)").value();
  EXPECT_EQ(mean.op, Op::mean);
  EXPECT_THAT(values_of(mean.attributes.axes), ElementsAre());
  EXPECT_FALSE(mean.attributes.keepdims);
  EXPECT_THAT(values_of(parse_operation("Reshape(%0, [2, -1])")->attributes.shape),
              ElementsAre(2, -1));
  EXPECT_THAT(values_of(parse_operation("Fill(%0, [8])")->attributes.shape), ElementsAre(8));
  EXPECT_THAT(values_of(parse_operation("Transpose(%0, [1,0])")->attributes.permutation),
              ElementsAre(1, 0));
  EXPECT_THAT(values_of(parse_operation("ExpandDims(%0, [0, 2])")->attributes.axes),
              ElementsAre(0, 2));
  EXPECT_THAT(values_of(parse_operation("Squeeze(%0, [1])")->attributes.axes), ElementsAre(1));
  EXPECT_THAT(values_of(parse_operation("Index(%0, [3, 4])")->attributes.indices),
              ElementsAre(3, 4));
}

TEST(IrText, ReadsRangesWhoseStepIsOneUnlessItIsSaid) {
  const SliceRanges ranges = parse_operation("Slice(%0, [0:4:2, -1:3])")->attributes.slice;
  EXPECT_THAT(values_of(ranges.starts), ElementsAre(0, -1));
  EXPECT_THAT(values_of(ranges.ends), ElementsAre(4, 3));
  EXPECT_THAT(values_of(ranges.steps), ElementsAre(2, 1));
}

TEST(IrText, ReadsWhatLiesBeforeAndBehind) {
  const IrOperation operation = parse_operation("Pad(%0, %1, [1, 0], [0, 2])").value();
  EXPECT_EQ(operation.op, Op::pad);
  EXPECT_THAT(values_of(operation.attributes.low), ElementsAre(1, 0));
  EXPECT_THAT(values_of(operation.attributes.high), ElementsAre(0, 2));
}

TEST(IrText, ReadsEachPadding) {
  const OpAttributes same = parse_operation("Conv2d(%0, %1, [1,2], Same)")->attributes;
  EXPECT_THAT(values_of(same.strides), ElementsAre(1, 2));
  EXPECT_EQ(same.padding, Padding::same);
  EXPECT_EQ(parse_operation("Conv2d(%0, %1, [1,1], Valid)")->attributes.padding, Padding::valid);
  const OpAttributes custom =
      parse_operation("Conv2d(%0, %1, [1,1], Custom([[0,1],[2,3]]))")->attributes;
  EXPECT_EQ(custom.padding, Padding::custom);
  EXPECT_EQ(custom.groups, 1);
  EXPECT_THAT(values_of(custom.pads), ElementsAre(0, 1, 2, 3));
}

TEST(IrText, ReadsEachComparisonAndElementType) {
  const auto comparison = [](std::string_view word) {
    return parse_operation("Compare(%0, %1, " + std::string(word) + ")")->attributes.comparison;
  };
  EXPECT_EQ(comparison("Equal"), Comparison::equal);
  EXPECT_EQ(comparison("NotEqual"), Comparison::not_equal);
  EXPECT_EQ(comparison("Less"), Comparison::less);
  EXPECT_EQ(comparison("LessEqual"), Comparison::less_equal);
  EXPECT_EQ(parse_operation("Cast(%0, f32)")->attributes.dtype, DType::f32);
  EXPECT_EQ(parse_operation("Cast(%0, i32)")->attributes.dtype, DType::i32);
  EXPECT_EQ(parse_operation("Cast(%0, i64)")->attributes.dtype, DType::i64);
  EXPECT_EQ(parse_operation("Cast(%0, f64)").error(), Errc::invalid_dtype);
}

TEST(IrText, ReadsOpsWithThreeOperandsAndJoins) {
  const IrOperation select = parse_operation("Select(%0, %1, %2)").value();
  EXPECT_EQ(select.op, Op::select);
  EXPECT_THAT(operands_of(select), ElementsAre("0", "1", "2"));
  EXPECT_THAT(values_of(parse_operation("Concat(%0, %1, [-1])")->attributes.axes), ElementsAre(-1));
  const IrOperation most = parse_operation("ReduceMax(%0, [1], true)").value();
  EXPECT_THAT(values_of(most.attributes.axes), ElementsAre(1));
  EXPECT_TRUE(most.attributes.keepdims);
}

TEST(IrText, ReadsTheGroupsOfAConvolution) {
  const OpAttributes read = parse_operation("Conv2d(%0, %1, [1,1], Same, 8)")->attributes;
  EXPECT_EQ(read.padding, Padding::same);
  EXPECT_EQ(read.groups, 8);
  EXPECT_EQ(refusal("Conv2d(%0, %1, [1,1], Same, x)"),
            "line 1, column 29: expected a number of groups, found 'x'");
}

TEST(IrText, ReadsTheWindowOfAPool) {
  const OpAttributes read =
      parse_operation("MaxPool(%0, [2, 3], [1, 2], Custom([[0, 1], [2, 0]]))")->attributes;
  EXPECT_THAT(values_of(read.window), ElementsAre(2, 3));
  EXPECT_THAT(values_of(read.strides), ElementsAre(1, 2));
  EXPECT_THAT(values_of(read.pads), ElementsAre(0, 1, 2, 0));
  EXPECT_EQ(refusal("MaxPool(%0)"), "line 1, column 11: expected ',', found ')'");
}

TEST(IrText, ReadsAttributesWithoutAnOperation) {
  EXPECT_THAT(values_of(parse_attributes("[1], true", Op::sum)->axes), ElementsAre(1));
  EXPECT_TRUE(parse_attributes(" ", Op::add));
  EXPECT_THAT(parse_attributes("[1]", Op::add).error().detail, HasSubstr("expected the end"));
}

TEST(IrText, CountsListsThatAreTooLong) {
  const IntList axes = parse_operation("Sum(%0, [0,1,2,3,4,5,6,7,8], false)")->attributes.axes;
  EXPECT_EQ(axes.count(), 9u);
  EXPECT_FALSE(axes.fits());
}

TEST(IrText, SaysWhereAndWhatWasExpected) {
  EXPECT_EQ(refusal(""), "line 1, column 1: expected the name of an op, found the end");
  EXPECT_EQ(refusal("Sum %0"), "line 1, column 5: expected '(', found '%'");
  EXPECT_EQ(refusal("Sum(%0)"), "line 1, column 7: expected ',', found ')'");
  EXPECT_EQ(refusal("Sum(%0,\n [1] false)"), "line 2, column 6: expected ',', found 'false'");
  EXPECT_EQ(refusal("Sum(%0, [1], maybe)"),
            "line 1, column 14: expected 'true' or 'false', found 'maybe'");
  EXPECT_EQ(refusal("Sum(%0, [1 2], true)"), "line 1, column 12: expected ',' or ']', found '2'");
  EXPECT_EQ(refusal("Sum(%0, [a], true)"), "line 1, column 10: expected an axis, found 'a'");
  EXPECT_EQ(refusal("Sum(%0, [-], true)"), "line 1, column 10: expected an axis, found '-'");
  EXPECT_EQ(refusal("Add(%0, 1)"),
            "line 1, column 9: expected an operand, '%' and its name, found '1'");
  EXPECT_EQ(refusal("Add(%, %1)"), "line 1, column 6: expected the name of an operand, found ','");
  EXPECT_EQ(refusal("Add(%0, %1"), "line 1, column 11: expected ')', found the end");
  EXPECT_EQ(refusal("Add(%0, %1) x"), "line 1, column 13: expected the end, found 'x'");
  EXPECT_EQ(refusal("Add(\x01)"), "line 1, column 5: expected an operand or ')', found byte 1");
  EXPECT_EQ(refusal("BinOp(Relu, %0, %1)"),
            "line 1, column 7: expected 'Add', 'Sub', 'Mul', 'Div', 'Max' or 'Min', found 'Relu'");
  EXPECT_EQ(refusal("Slice(%0, [1])"), "line 1, column 13: expected ':', found ']'");
  EXPECT_EQ(refusal("Conv2d(%0, %1, [1,1], same)"),
            "line 1, column 23: expected 'Same', 'Valid' or 'Custom', found 'same'");
  EXPECT_EQ(refusal("Compare(%0, %1, Greater)"),
            "line 1, column 17: expected 'Equal', 'NotEqual', 'Less' or 'LessEqual', found "
            "'Greater'");
  EXPECT_EQ(refusal("Pad(%0, %1, [1])"), "line 1, column 16: expected ',', found ')'");
  EXPECT_EQ(refusal("Pad(%0, %1, [a], [0])"),
            "line 1, column 14: expected a number of elements, found 'a'");
  EXPECT_EQ(refusal("Cast(%0, float)"),
            "line 1, column 10: expected 'f32', 'i32' or 'i64', found 'float'");
  EXPECT_THAT(refusal("Index(%0, [9223372036854775808])"), HasSubstr("a number of at most 64 bit"));
}

TEST(IrText, HasItsOwnCodesForOpsThatAreNoneAndTooManyOperands) {
  const Error unknown = parse_operation("  Frobnicate(%0)").error();
  EXPECT_EQ(unknown, Errc::unsupported_operation);
  EXPECT_EQ(unknown.detail, "line 1, column 3: no op has the name 'Frobnicate'");
  std::string text = "Add(%0";
  for (std::size_t i = 0; i < inputs_max; ++i) text += ", %1";
  EXPECT_EQ(parse_operation(text + ")").error(), Errc::arity_mismatch);
}

}  // namespace
}  // namespace ringkernel::ops
