// Values by another shape: nothing runs for them.
#include <gmock/gmock.h>

#include <numeric>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

RK_ON_EACH_BACKEND(GraphViews);

TEST_P(GraphViews, CostNothing) {
  auto runtime = open();
  Graph graph("views");
  const auto x = graph.input({DType::f32, {4, 8}});
  const auto row = graph.add(ops::reshape(x, {32}));
  const auto doubled = graph.add(ops::add(row, graph.add(ops::reshape(row, {1, 32}))));
  const auto turned = graph.add(ops::transpose(graph.add(ops::reshape(doubled, {4, 8})), {1, 0}));
  graph.output(graph.add(ops::expand_dims(turned, {0})));  // in the reply at once
  graph.output(graph.add(ops::squeeze(doubled, {0})));     // copied
  graph.output(row);                                       // of an input: copied
  const CompiledFunction function = runtime.compile(graph).value();
  EXPECT_EQ(function.signature().commands, 4u);
  std::vector<float> numbers(32);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const auto result = function.execute(TensorView({4, 8}, numbers)).value();
  EXPECT_EQ(result.output(0).desc, (TensorDesc{DType::f32, {1, 8, 4}}));
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(result.elements<float>(0)[i], 2 * numbers[i % 4 * 8 + i / 4]);
    EXPECT_EQ(result.elements<float>(1)[i], 2 * numbers[i]);
    EXPECT_EQ(result.elements<float>(2)[i], numbers[i]);
  }
}

/// A chain may write over an operand, but not where it reads that by another shape as well.
TEST_P(GraphViews, MayBeReadBesideTheirValue) {
  auto runtime = open();
  Graph graph("two shapes");
  const auto x = graph.input({DType::f32, {16, 1}});
  const auto turned = graph.add(ops::transpose(x, {1, 0}));  // the last readers are in the chain
  const auto row = graph.add(ops::reshape(turned, {16}));
  const auto sums = graph.add(ops::add(graph.add(ops::neg(turned)), row));
  graph.output(graph.add(ops::transpose(sums, {1, 0})));
  const std::vector<float> numbers(16, 3.0f);
  const auto result = runtime.compile(graph).value().execute(numbers);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->elements<float>(0)[15], 0.0f);
}

}  // namespace
}  // namespace ringkernel::test
