// Modules of the Core IR grammar: the graphs they describe, and what their errors say.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "ringkernel/graph.hpp"
#include "ringkernel/ops.hpp"

namespace ringkernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view dense = R"(
# A layer, and what it is made of.
%x = Input() {name: "image \"x\"", rank: 2, shape: [1, 4], hidden: false} : Tensor<f32, [1, 4]>
%w = ConstTensor([[1, -2.5], [3e1, 4],
                  [0.5, 6.0E-1], [7, 8,],]) : Tensor<f32, [4, 2]>
%2 = MatMul(%x, %w) : Tensor<f32, [1, 2]>   # a number, or a name
%b = ConstF32(1.5) {} : Tensor<f32, []>
%4 = BinOp(Add, %2, %b) : Tensor<f32, [1, 2]>
%same = %4
%5 = Relu(%same) : Tensor<f32, [1, 2]>
%i = ConstTensor([0, 1]) : Tensor<i64, [2]>
%6 = Gather(%w, %i) : Tensor<f32, [2, 2]>
outputs: %5, %6, %4,
)";

TEST(GraphText, DescribesAGraph) {
  const Graph graph = Graph::parse("dense", dense).value();
  EXPECT_EQ(graph.name(), "dense");
  EXPECT_EQ(graph.op_count(), 4u);
  ASSERT_EQ(graph.nodes().size(), 8u);
  EXPECT_THAT(graph.inputs(), ElementsAre(TensorDesc{DType::f32, {1, 4}}));
  EXPECT_THAT(graph.outputs(), ElementsAre(5u, 7u, 4u));
  const auto& weights = std::get<Graph::Constant>(graph.nodes()[1].what).bytes;
  std::vector<float> floats(8);
  ASSERT_EQ(weights.size(), floats.size() * sizeof(float));
  std::memcpy(floats.data(), weights.data(), weights.size());
  EXPECT_THAT(floats, ElementsAre(1, -2.5f, 30, 4, 0.5f, 0.6f, 7, 8));
  const auto& sum = std::get<Graph::Step>(graph.nodes()[4].what);
  EXPECT_EQ(sum.op, Op::add);
  EXPECT_THAT(std::span(sum.inputs).first(sum.input_count), ElementsAre(2u, 3u));
  EXPECT_EQ(std::get<Graph::Step>(graph.nodes()[5].what).inputs[0], 4u) << "through %same";
}

TEST(GraphText, KeepsTheNamesThatItGives) {
  const Graph graph = Graph::parse("dense", dense).value();
  EXPECT_THAT(graph.input_names(), ElementsAre("image \"x\"")) << "its note comes first";
  EXPECT_THAT(graph.output_names(), ElementsAre("", "", ""));
  const Graph more = Graph::parse("names",
                                  "%a = Input() : Tensor<f32, [1]>\n"
                                  "%1 = Input() : Tensor<f32, [1]>\n"
                                  "%2 = Input() {name: \"c\"} : Tensor<f32, [1]>\n"
                                  "%sum = BinOp(Add, %a, %1) : Tensor<f32, [1]>\n"
                                  "%4 = Relu(%sum) {name: \"positive\"} : Tensor<f32, [1]>\n"
                                  "%other = %sum\n"
                                  "%6 = %4\n"
                                  "outputs: %sum, %other, %6, %a, %1, %4")
                         .value();
  EXPECT_THAT(more.input_names(), ElementsAre("a", "", "c"));
  EXPECT_THAT(more.output_names(), ElementsAre("sum", "other", "positive", "a", "", ""));
}

TEST(GraphText, HasConstantsOfEachType) {
  const Graph graph = Graph::parse("constants",
                                   "%0 = ConstI64(-9223372036854775808) : Tensor<i64, []>\n"
                                   "%1 = ConstI32(7) : Tensor<i32, []>\n"
                                   "%2 = ConstTensor([[[1], [2]]]) : Tensor<i32, [1, 2, 1]>\n"
                                   "%3 = ConstF32(-1e-3) : Tensor<f32, []>\n"
                                   "outputs: %0, %1, %2, %3")
                          .value();
  const auto bytes = [&](std::size_t node) {
    return std::get<Graph::Constant>(graph.nodes()[node].what).bytes;
  };
  std::int64_t lowest = 0;
  std::memcpy(&lowest, bytes(0).data(), 8);
  EXPECT_EQ(lowest, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(bytes(2).size(), 8u);
  EXPECT_EQ(graph.nodes()[2].desc.shape, (Shape{1, 2, 1}));
  float small = 0;
  std::memcpy(&small, bytes(3).data(), 4);
  EXPECT_EQ(small, -1e-3f);
}

/// The nearest float of a number that is nearer to zero than any other float is zero.
TEST(GraphText, TakesNumbersNextToZero) {
  const Graph graph =
      Graph::parse(
          "small",
          "%0 = ConstTensor([1e-45, 1e-50, -1e-50, 0.0000001e-99, 123e-999999999999999999999,"
          " 0e99999, 1e-400]) : Tensor<f32, [7]>\noutputs: %0")
          .value();
  const auto& bytes = std::get<Graph::Constant>(graph.nodes()[0].what).bytes;
  std::vector<float> floats(7);
  ASSERT_EQ(bytes.size(), floats.size() * sizeof(float));
  std::memcpy(floats.data(), bytes.data(), bytes.size());
  EXPECT_EQ(floats[0], std::numeric_limits<float>::denorm_min());
  for (std::size_t i = 1; i < floats.size(); ++i) EXPECT_EQ(floats[i], 0.0f) << i;
  EXPECT_TRUE(std::signbit(floats[2]));
}

struct Refusal {
  std::string_view text;
  Errc code;
  const char* detail;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.text; }

class GraphTextRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(GraphTextRefusal, SaysWhereAndWhy) {
  const Result<Graph> graph = Graph::parse("g", GetParam().text);
  ASSERT_FALSE(graph);
  EXPECT_TRUE(graph.error() == GetParam().code) << graph.error().text();
  EXPECT_THAT(graph.error().detail, HasSubstr(GetParam().detail));
  EXPECT_TRUE(graph.error().detail.starts_with("line ")) << graph.error().text();
}

#define X "%x = Input() : Tensor<f32, [2, 3]>\n"

INSTANTIATE_TEST_SUITE_P(
    Texts, GraphTextRefusal,
    ::testing::Values(
        Refusal{"", Errc::invalid_argument, "line 1, column 1: expected a definition or 'outputs'"},
        Refusal{X, Errc::invalid_argument, "line 2, column 1: expected a definition or 'outputs'"},
        Refusal{X "outputs %x", Errc::invalid_argument, "line 2, column 9: expected ':'"},
        Refusal{X "outputs: %x more", Errc::invalid_argument, "column 13: expected the end"},
        Refusal{X "outputs: %y", Errc::undefined_output, "line 2, column 10: %y"},
        Refusal{X "%y = Relu(%z) : Tensor<f32, [2, 3]>\noutputs: %y", Errc::undefined_value,
                "line 2, column 6: %z"},
        Refusal{X "%y = Relu(%y) : Tensor<f32, [2, 3]>\noutputs: %y", Errc::undefined_value, "%y"},
        Refusal{X "%y = %z\noutputs: %y", Errc::undefined_value, "line 2, column 6: %z"},
        Refusal{X X "outputs: %x", Errc::redefined_value, "line 2, column 1: %x"},
        Refusal{X "%y = Relu(%x)\noutputs: %y", Errc::invalid_argument,
                "line 3, column 1: expected ':'"},
        Refusal{X "%y = Relu(%x) : Tensor<f32, [3, 2]>\noutputs: %y", Errc::dimension_mismatch,
                "line 2, column 6: declared f32[3, 2], is f32[2, 3]"},
        Refusal{X "%y = Relu(%x) : Tensor<i32, [2, 3]>\noutputs: %y", Errc::dtype_mismatch,
                "declared i32[2, 3], is f32[2, 3]"},
        Refusal{X "%y = MatMul(%x, %x) : Tensor<f32, [2, 2]>\noutputs: %y",
                Errc::dimension_mismatch, "graph 'g', op 0: "},
        Refusal{X "%y = Hardmax(%x) : Tensor<f32, [2, 3]>", Errc::unsupported_operation,
                "line 2, column 6: no op has the name 'Hardmax'"},
        Refusal{X "%y = Add(%x) : Tensor<f32, [2, 3]>", Errc::arity_mismatch, "line 2"},
        Refusal{"%x = Input(%x) : Tensor<f32, [1]>", Errc::invalid_argument, "expected ')'"},
        Refusal{"%x = Input() : Tensor<f64, [1]>", Errc::invalid_dtype, "line 1, column 23: f64"},
        Refusal{"%x = Input() : Tensor<f16, [1]>", Errc::invalid_argument, "'f32', 'i32' or 'i64'"},
        Refusal{"%x = Input() : Matrix<f32, [1]>", Errc::invalid_argument, "expected 'Tensor'"},
        Refusal{"%x = Input() : Tensor<f32, [?]>", Errc::invalid_argument, "expected an extent"},
        Refusal{"%x = Input() : Tensor<f32, [0]>", Errc::invalid_dimension, "line 1, column 28"},
        Refusal{"%x = Input() : Tensor<f32, [1,1,1,1,1,1,1,1,1]>", Errc::rank_mismatch,
                "9 extents"},
        Refusal{"%x = Input() : Tensor<f32, [1]>\n"
                "%1 = Input() {name: \"x\"} : Tensor<f32, [1]>",
                Errc::invalid_argument, "line 2, column 1: graph 'g', op 0: two inputs are named"},
        Refusal{"%x = Input() {name: \"x} : Tensor<f32, [1]>", Errc::invalid_argument,
                "expected a string that ends"},
        Refusal{"%x = Input() {name \"x\"} : Tensor<f32, [1]>", Errc::invalid_argument,
                "expected ':'"},
        Refusal{"%x = Input() {name: x} : Tensor<f32, [1]>", Errc::invalid_argument,
                "expected a value"},
        Refusal{"%x = ConstTensor([[1, 2], [3]]) : Tensor<f32, [2, 2]>", Errc::ragged_literal,
                "line 1, column 27: a list of 1 beside one of 2"},
        Refusal{"%x = ConstTensor([[1, 2], 3]) : Tensor<f32, [2, 2]>", Errc::invalid_argument,
                "expected a list"},
        Refusal{"%x = ConstTensor([1, [2]]) : Tensor<f32, [2]>", Errc::invalid_argument,
                "expected a number, found '['"},
        Refusal{"%x = ConstTensor([[[[[[[[[1]]]]]]]]]) : Tensor<f32, [1]>", Errc::invalid_argument,
                "at most 8 lists"},
        Refusal{"%x = ConstTensor([]) : Tensor<f32, [1]>", Errc::invalid_dimension, "line 1"},
        Refusal{"%x = ConstTensor([1, 2]) : Tensor<f32, [3]>", Errc::constant_mismatch,
                "elements of shape [2] for f32[3]"},
        Refusal{"%x = ConstTensor(1) : Tensor<f32, []>", Errc::invalid_argument, "expected '['"},
        Refusal{"%x = ConstTensor([1.5]) : Tensor<i32, [1]>", Errc::constant_mismatch,
                "1.5 as an element of i32[1]"},
        Refusal{"%x = ConstTensor([2147483648]) : Tensor<i32, [1]>", Errc::constant_mismatch,
                "2147483648 as an element"},
        Refusal{"%x = ConstTensor([1e39]) : Tensor<f32, [1]>", Errc::constant_mismatch, "1e39"},
        Refusal{"%x = ConstTensor([-12345e36]) : Tensor<f32, [1]>", Errc::constant_mismatch,
                "-12345e36"},
        Refusal{"%x = ConstTensor([1e99999999999999999999]) : Tensor<f32, [1]>",
                Errc::constant_mismatch, "1e99999999999999999999"},
        Refusal{"%x = ConstTensor([nan]) : Tensor<f32, [1]>", Errc::invalid_argument,
                "expected a number"},
        Refusal{"%x = ConstI64(1) : Tensor<i32, []>", Errc::constant_mismatch,
                "ConstI64 for i32[]"},
        Refusal{"%x = ConstF64(1) : Tensor<f32, []>", Errc::invalid_argument, "'ConstTensor'"},
        Refusal{"%x = ConstF32([1]) : Tensor<f32, []>", Errc::invalid_argument,
                "expected a number"}));

#undef X

std::string repeated(const std::string& text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

/// `%0` to `%count`: an input, and ops in a row.
std::string ops_in_a_row(std::size_t count) {
  std::string text = "%0 = Input() : Tensor<f32, [2]>\n";
  for (std::size_t i = 1; i <= count; ++i)
    text +=
        "%" + std::to_string(i) + " = Relu(%" + std::to_string(i - 1) + ") : Tensor<f32, [2]>\n";
  return text;
}

TEST(GraphText, TakesAsManyOpsAsACompilerDoes) {
  const std::string text = ops_in_a_row(RK_GRAPH_COMMANDS_MAX) + "outputs: %4096";
  const Result<Graph> graph = Graph::parse("g", text);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->op_count(), RK_GRAPH_COMMANDS_MAX);
}

TEST(GraphText, RefusesOneOpMoreBeforeItLooksAtIt) {
  const Result<Graph> graph =
      Graph::parse("g", ops_in_a_row(RK_GRAPH_COMMANDS_MAX) + "%x = whatever follows");
  ASSERT_FALSE(graph);
  EXPECT_TRUE(graph.error() == Errc::limit_exceeded) << graph.error().text();
  EXPECT_THAT(graph.error().detail, HasSubstr("line 4098, column 6: a graph has at most 4096 ops"));
}

TEST(GraphText, RefusesMoreInputsAndOutputsThanACompilerTakes) {
  std::string inputs;
  for (int i = 0; i < 33; ++i)
    inputs += "%" + std::to_string(i) + " = Input() : Tensor<f32, [2]>\n";
  const Result<Graph> many_in = Graph::parse("g", inputs + "outputs: %0");
  ASSERT_FALSE(many_in);
  EXPECT_TRUE(many_in.error() == Errc::limit_exceeded) << many_in.error().text();
  EXPECT_THAT(many_in.error().detail, HasSubstr("line 33, column 7: a graph has at most 32 in"));
  const Result<Graph> many_out =
      Graph::parse("g", ops_in_a_row(1) + "outputs: " + repeated("%1, ", 33));
  ASSERT_FALSE(many_out);
  EXPECT_TRUE(many_out.error() == Errc::limit_exceeded) << many_out.error().text();
  EXPECT_THAT(many_out.error().detail, HasSubstr("line 3, column 138: a graph has at most 32 out"));
}

TEST(GraphText, QuotesLittleOfALongWord) {
  const std::string digits(1'000'000, '7');
  const std::string name(1'000'000, 'n');
  const std::string x = "%x = Input() : Tensor<f32, [2]>\n";
  for (const std::string& text :
       {"%x = ConstF32(" + digits + ") : Tensor<f32, []>", "%x = %" + name, "outputs: %" + name,
        x + "%y = " + name + "(%x) : Tensor<f32, [2]>",
        x + "%y = Relu(%" + name + ") : Tensor<f32, [2]>",
        repeated("%" + name + " = Input() : " + "Tensor<f32, [2]>\n", 2)}) {
    const Result<Graph> graph = Graph::parse("g", text);
    ASSERT_FALSE(graph);
    EXPECT_LT(graph.error().text().size(), 250u) << text.substr(0, 60);
    EXPECT_THAT(graph.error().detail, HasSubstr("...")) << text.substr(0, 60);
  }
}

}  // namespace
}  // namespace ringkernel
