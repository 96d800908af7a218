// Ops that the node tests of ONNX leave out, or have of other types only, against their formulas.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "support/backends.hpp"
#include "vectors/onnx_network.hpp"

namespace ringkernel::onnx {
namespace {

RK_ON_EACH_BACKEND(OnnxFormulasOn);

test::Message text_attribute(const char* name, const char* text) {
  return test::Message().text(1, name).text(4, text).number(20, 3);
}
test::Message number_attribute(const char* name, float number) {
  return test::Message().text(1, name).floating(2, number).number(20, 1);
}
test::Message numbers_attribute(const char* name, const std::vector<float>& numbers) {
  test::Message message = test::Message().text(1, name).number(20, 6);
  for (const float number : numbers) message.floating(7, number);
  return message;
}

/// What a node makes of `x`; its domain is ai.onnx.ml or ONNX's own.
std::vector<float> run_node(RingKernelRuntime& runtime, const test::Known& x, const char* op,
                            const std::vector<test::Message>& attributes, bool is_classical = false,
                            const std::vector<test::Message>& tensors = {},
                            const std::vector<std::string>& names = {}) {
  test::Message node = test::Message().text(1, x.name);
  for (const std::string& name : names) node.text(1, name);
  node.text(2, "y").text(4, op);
  if (is_classical) node.text(7, "ai.onnx.ml");
  for (const test::Message& attribute : attributes) node.message(5, attribute);
  test::Message graph = test::Message().message(1, node);
  for (const test::Message& tensor : tensors) graph.message(5, tensor);
  graph.message(11, test::info(x)).message(12, test::Message().text(1, "y"));
  const auto read_graph = read(test::file(graph, 20), {.name = op});
  EXPECT_TRUE(read_graph) << op << ": " << read_graph.error().text();
  if (!read_graph) return {};
  const CompiledFunction function = runtime.compile(*read_graph).value();
  const FunctionResult result =
      function.execute(TensorView(function.signature().inputs[0], x.elements.data())).value();
  const auto elements = result.elements<float>(0);
  return {elements.begin(), elements.end()};
}

void expect_near(const std::vector<float>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-6 * (1 + std::abs(want[i]))) << i;
}

TEST_P(OnnxFormulasOn, GeluIsTheFormula) {
  auto runtime = open();
  const test::Known x{"x", {7}, {-20, -2, -0.5f, 0, 0.5f, 3, 20}};
  std::vector<double> exact, rough;
  for (const double v : x.elements) {
    exact.push_back(v * 0.5 * (1 + std::erf(v / std::sqrt(2.0))));
    rough.push_back(v * 0.5 *
                    (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (v + 0.044715 * v * v * v))));
  }
  expect_near(run_node(runtime, x, "Gelu", {}), exact);
  expect_near(run_node(runtime, x, "Gelu", {text_attribute("approximate", "tanh")}), rough);
}

TEST_P(OnnxFormulasOn, LogSumExpTakesLargeNumbers) {
  auto runtime = open();
  const test::Known x{"x", {2, 3}, {1000, 1001, 999, -1, 0, 1}};
  const auto of = [](double a, double b, double c) {
    const double most = std::max({a, b, c});
    return most + std::log(std::exp(a - most) + std::exp(b - most) + std::exp(c - most));
  };
  expect_near(run_node(runtime, x, "ReduceLogSumExp", {test::integer_attribute("keepdims", 0)},
                       false, {test::integers("axes", {1})}, {"axes"}),
              {of(1000, 1001, 999), of(-1, 0, 1)});
}

// Rows of zeros, and rows whose squares are 0, stay as they are.
TEST_P(OnnxFormulasOn, NormalizersDivideByTheNorm) {
  auto runtime = open();
  const test::Known x{"x", {4, 2}, {3, -4, 0, 0, 2e-23f, 0, 1e-3f, 0}};
  const auto of = [&](const char* norm) {
    return run_node(runtime, x, "Normalizer", {text_attribute("norm", norm)}, true);
  };
  expect_near(of("L1"), {3 / 7.0, -4 / 7.0, 0, 0, 1, 0, 1, 0});
  expect_near(of("L2"), {0.6, -0.8, 0, 0, 2e-23, 0, 1, 0});
  expect_near(of("MAX"), {1, -4 / 3.0, 0, 0, 1, 0, 1, 0});
}

TEST_P(OnnxFormulasOn, LinearModelsOfOneTarget) {
  auto runtime = open();
  const test::Known x{"x", {2, 3}, {1, 2, 3, -1, 0, 1}};
  expect_near(run_node(runtime, x, "LinearRegressor",
                       {numbers_attribute("coefficients", {0.5f, -1, 2}),
                        numbers_attribute("intercepts", {10})},
                       true),
              {14.5, 11.5});
  expect_near(run_node(runtime, x, "Binarizer", {number_attribute("threshold", 1)}, true),
              {0, 1, 1, 0, 0, 0});
  expect_near(run_node(runtime, x, "ArrayFeatureExtractor", {}, true,
                       {test::integers("columns", {2, 0})}, {"columns"}),
              {3, 1, 1, -1});
}

/// A graph of one node with inputs and output as the file declares them.
test::Message graph_of(const test::Message& node, std::initializer_list<test::Message> inputs) {
  test::Message graph = test::Message().message(1, node);
  for (const test::Message& input : inputs) graph.message(11, input);
  return graph.message(12, test::Message().text(1, "y"));
}

CompiledFunction compiled(RingKernelRuntime& runtime, const test::Message& graph) {
  return runtime.compile(read(test::file(graph), {.name = "formula"}).value()).value();
}

constexpr std::uint64_t i32_type = 6, bool_type = 9;

// 0 - x would wrap: the least number stayed the least.
TEST_P(OnnxFormulasOn, ArgMinAndReduceMinKnowTheLeastInteger) {
  auto runtime = open();
  const std::vector<std::int32_t> x{5, std::numeric_limits<std::int32_t>::min(), 3};
  const auto place = compiled(
      runtime, graph_of(test::node("ArgMin", {"x"}, "y"), {test::info("x", {3}, i32_type)}));
  const auto found = place.execute(x);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_THAT(found->elements<std::int64_t>(0), ::testing::ElementsAre(1));
  const auto least = compiled(
      runtime, graph_of(test::node("ReduceMin", {"x"}, "y"), {test::info("x", {3}, i32_type)}));
  EXPECT_THAT(least.execute(x)->elements<std::int32_t>(0), ::testing::ElementsAre(x[1]));
}

// Whatever is not 0 is true, in messages and in files.
TEST_P(OnnxFormulasOn, TruthsMayBeAnyNumbers) {
  auto runtime = open();
  const std::vector<std::int32_t> a{-1, 7, 0, 0}, b{1, 0, 2, 0};
  const auto of = [&](const char* op) {
    const auto function = compiled(
        runtime, graph_of(test::node(op, {"a", "b"}, "y"),
                          {test::info("a", {4}, bool_type), test::info("b", {4}, bool_type)}));
    const auto result = function.execute(std::array{TensorView(a), TensorView(b)}).value();
    const auto truths = result.elements<std::int32_t>(0);
    return std::vector<std::int32_t>(truths.begin(), truths.end());
  };
  EXPECT_THAT(of("And"), ::testing::ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(of("Or"), ::testing::ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(of("Xor"), ::testing::ElementsAre(0, 1, 1, 0));
  constexpr std::array two{std::byte{2}, std::byte{0}, std::byte{2}, std::byte{0}};
  const auto mask = test::Message().number(1, 4).number(2, bool_type).text(8, "mask").bytes(9, two);
  test::Message graph =
      graph_of(test::node("Xor", {"a", "mask"}, "y"), {test::info("a", {4}, bool_type)});
  EXPECT_THAT(compiled(runtime, graph.message(5, mask)).execute(a)->elements<std::int32_t>(0),
              ::testing::ElementsAre(0, 1, 1, 0));
}

TEST_P(OnnxFormulasOn, GemmWithoutItsSummandDoesNotLookAtIt) {
  auto runtime = open();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const test::Known x{"x", {1, 2}, {1, 2}};
  expect_near(
      run_node(runtime, x, "Gemm", {number_attribute("beta", 0)}, false,
               {test::tensor({"b", {2, 2}, {1, 2, 3, 4}}), test::tensor({"c", {2}, {nan, nan}})},
               {"b", "c"}),
      {7, 10});
}

}  // namespace
}  // namespace ringkernel::onnx
