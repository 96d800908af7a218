// Elementwise ops that a graph runs as chains: the same bits as the ops one by one. Which NaN comes
// out of several is nowhere promised (docs/OPS.md).
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

RK_ON_EACH_BACKEND(Chains);

/// A shape, and the operands that ops may read beside values of it.
struct Family {
  Shape shape;
  std::vector<Shape> others;
};

const Family families[] = {
    {{}, {{}, {}}},
    {{1}, {{}, {1}}},
    {{7}, {{7}, {}, {1}}},
    {{64}, {{64}, {1}, {}}},
    {{100}, {{100}, {1}}},
    {{3, 40}, {{3, 40}, {40}, {1, 40}, {3, 1}, {}}},
    {{5, 15}, {{15}, {5, 15}}},  // too short for a row
    {{2, 3, 33}, {{33}, {3, 33}, {1, 3, 33}, {2, 1, 33}, {1, 1, 1}}},
    {{4, 16, 1}, {{16, 1}, {4, 16, 1}, {16, 1}}},
};

/// Numbers of every kind.
std::vector<float> any_floats(std::size_t count, std::mt19937& random) {
  constexpr float special[] = {0.0f,
                               -0.0f,
                               1e-42f,
                               -1e38f,
                               std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN()};
  std::uniform_real_distribution<float> range(-3, 3);
  std::vector<float> values(count);
  for (float& value : values)
    value = random() % 16 == 0 ? special[random() % std::size(special)] : range(random);
  return values;
}

/// The bits, one for all kinds of NaN.
std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values)
    bits.push_back(std::bit_cast<std::uint32_t>(std::isnan(value) ? NAN : value));
  return bits;
}

Request any_op(unsigned which, const TensorView& x, const TensorView& y) {
  switch (which) {
    case 0: return ops::add(x, y);
    case 1: return ops::sub(x, y);
    case 2: return ops::sub(y, x);
    case 3: return ops::mul(y, x);
    case 4: return ops::div(x, y);
    case 5: return ops::div(y, x);
    case 6: return ops::relu(x);
    case 7: return ops::neg(x);
    case 8: return ops::exp(x);
    case 9: return ops::log(x);
    case 10: return ops::max(x, y);
    case 11: return ops::min(y, x);
    case 12: return ops::sqrt(x);
    case 13: return ops::tanh(x);
    case 14: return ops::erf(x);
    default: return ops::mul(x, x);
  }
}

TEST_P(Chains, GiveTheBitsOfTheirOpsOneByOne) {
  auto runtime = open();
  Kernel kernel = active(runtime, "single", {.program = "core"});
  std::size_t chained = 0;
  for (unsigned seed = 0; seed < 90; ++seed) {
    std::mt19937 random(seed);
    const Family& family = families[seed % std::size(families)];
    const std::size_t count = family.shape.element_count();
    Graph graph("chain");
    const auto x = any_floats(count, random);
    std::vector<Graph::Value> values{graph.input({DType::f32, family.shape})};
    std::vector<std::vector<float>> expected{x};
    std::size_t at = 0;
    for (int i = 0; i < 30; ++i) {
      // Most ops go on with the last value, some with an older one, which then has two readers.
      const std::size_t operand = random() % 8 == 0 ? random() % values.size() : at;
      const auto which = static_cast<unsigned>(random() % 16);
      Reply reply;
      if (random() % 3 == 0) {
        const std::size_t other = random() % values.size();
        reply = kernel
                    .call(any_op(which, {family.shape, expected[operand]},
                                 {family.shape, expected[other]}))
                    .value();
        values.push_back(graph.add(any_op(which, values[operand], values[other])));
      } else {
        const Shape& shape = family.others[random() % family.others.size()];
        const auto y = any_floats(shape.element_count(), random);
        reply = kernel.call(any_op(which, {family.shape, expected[operand]}, {shape, y})).value();
        values.push_back(graph.add(any_op(which, values[operand], TensorView(shape, y))));
      }
      expected.emplace_back(reply.floats().begin(), reply.floats().end());
      at = values.size() - 1;
    }
    graph.output(values.back());
    const std::size_t second = random() % values.size();
    graph.output(values[second]);
    const CompiledFunction function = runtime.compile(graph).value();
    const std::size_t block = (count * sizeof(float) + 63) / 64 * 64;
    chained += function.signature().workspace_bytes < 3 * block ? 1 : 0;
    const FunctionResult result = function.execute(TensorView(family.shape, x)).value();
    for (const auto& [output, value] : {std::pair(0u, values.size() - 1), std::pair(1u, second)}) {
      ASSERT_EQ(bits_of(result.elements<float>(output)), bits_of(expected[value]))
          << "seed " << seed << ", output " << output << ", " << family.shape.text();
    }
  }
  EXPECT_GT(chained, 0u);
}

// The value that is handed on may be either operand, or both; what is read beside it may be a
// value that was computed between the chain's first step and its last.
TEST_P(Chains, RunWhereTheirLastStepStands) {
  auto runtime = open();
  const std::vector<float> x{1, 2, 3, 4}, identity{1, 0, 0, 1};
  Graph graph("late");
  const auto input = graph.input({DType::f32, {2, 2}});
  const auto negative = graph.add(ops::neg(input));  // begins a chain
  const auto product = graph.add(ops::matmul(input, TensorView({2, 2}, identity)));
  const auto squares = graph.add(ops::mul(product, product));
  const auto sum = graph.add(ops::sub(squares, negative));  // which ends here
  graph.output(graph.add(ops::mul(sum, sum)));
  const CompiledFunction function = runtime.compile(graph).value();
  EXPECT_EQ(function.signature().commands, 5u);
  EXPECT_THAT(function.execute(TensorView({2, 2}, x))->elements<float>(),
              ::testing::ElementsAre(4, 36, 144, 400));
}

}  // namespace
}  // namespace ringkernel::test
