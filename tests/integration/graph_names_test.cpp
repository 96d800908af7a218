// What inputs, states and outputs are called: in signatures, and in errors.
#include <gmock/gmock.h>

#include <limits>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RK_ON_EACH_BACKEND(GraphNames);

/// total' = total + left + right; answers total', and left.
Graph named_sum() {
  Graph graph("named sum");
  const auto left = graph.input({DType::f32, {4}}, "left");
  const auto total = graph.state({DType::f32, {4}}, "total");
  const auto right = graph.input({DType::f32, {4}});
  const auto next = graph.add(ops::add(graph.add(ops::add(total, left)), right));
  graph.update(total, next);
  graph.output(next, "total");
  graph.output(left);
  graph.output(graph.add(ops::neg(next)), "left");
  return graph;
}

TEST_P(GraphNames, StandInTheSignature) {
  auto runtime = open();
  const Graph graph = named_sum();
  EXPECT_THAT(graph.input_names(), ElementsAre("left", ""));
  EXPECT_THAT(graph.state_names(), ElementsAre("total"));
  EXPECT_THAT(graph.output_names(), ElementsAre("total", "", "left"));
  const CompiledFunction function = runtime.compile(graph).value();
  EXPECT_THAT(function.signature().input_names, ElementsAre("left", ""));
  EXPECT_THAT(function.signature().output_names, ElementsAre("total", "", "left"));
  const CompiledFunction instance = function.instance().value();
  EXPECT_THAT(instance.signature().input_names, ElementsAre("left", ""));
}

TEST_P(GraphNames, StandInErrorsOfExecutions) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(named_sum()).value();
  const std::array good{1.0f, 2.0f, 3.0f, 4.0f};
  const std::array few{1.0f, 2.0f};
  const auto refusal = [&](const TensorView& left, const TensorView& right,
                           const ExecuteOptions& options = {}) {
    return function.execute(std::array{left, right}, options).error().text();
  };
  EXPECT_THAT(refusal(few, good), HasSubstr("input 0 ('left'). Expected: f32[4]. Got: f32[2]"));
  EXPECT_THAT(refusal(good, few), HasSubstr("input 1. Expected: f32[4]. Got: f32[2]"));
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::array bad{0.0f, nan, 0.0f, 0.0f};
  EXPECT_THAT(refusal(bad, good, {.check_nan = true}),
              HasSubstr("input 0 ('left'), f32[4], at element 1"));
  const std::array up{infinity, 0.0f, 0.0f, 0.0f}, down{-infinity, 0.0f, 0.0f, 0.0f};
  EXPECT_THAT(refusal(up, down, {.check_nan = true}),
              HasSubstr("output 0 ('total'), f32[4], at element 0"));
}

TEST(GraphNamesOfOne, AreThereOnceOfEachKind) {
  const auto refusal = [](const std::function<void(Graph&, const Graph::Value&)>& spoil) {
    Graph graph("twins");
    const auto x = graph.input({DType::f32, {2}}, "x");
    (void)graph.state({DType::f32, {2}}, "x");  // of another kind
    graph.output(x, "x");
    (void)graph.input({DType::f32, {2}});
    (void)graph.input({DType::f32, {2}});
    graph.output(x);
    graph.output(x);
    EXPECT_TRUE(graph.status());
    spoil(graph, x);
    EXPECT_EQ(graph.status().error(), Errc::invalid_argument);
    return graph.status().error().text();
  };
  EXPECT_THAT(refusal([](Graph& graph, const auto&) {
                (void)graph.input({DType::f32, {3}}, "x");
              }),
              AllOf(HasSubstr("graph 'twins'"), HasSubstr("two inputs are named 'x'")));
  EXPECT_THAT(refusal([](Graph& graph, const auto&) {
                (void)graph.state({DType::f32, {2}}, "x");
              }),
              HasSubstr("two states are named 'x'"));
  EXPECT_THAT(refusal([](Graph& graph, const auto& x) { graph.output(x, "x"); }),
              HasSubstr("two outputs are named 'x'"));
}

}  // namespace
}  // namespace ringkernel::test
