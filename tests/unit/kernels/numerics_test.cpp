// Every op on random shapes: right by its definition, and the same bits at every instruction-set
// level, with any number of lanes, and whichever path through the kernel the shapes take.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <tuple>

#include "support/attributes.hpp"
#include "unit/kernels/hand_built_message.hpp"

namespace ringkernel::test {
namespace {

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::string describe(Op op, std::span<const Tensor> inputs) {
  std::string text(find_op(static_cast<std::uint16_t>(op))->name);
  for (const Tensor& input : inputs) text += " " + input.shape.text();
  return text;
}

/// Runs the op everywhere, checks that all agree, and gives the result.
std::vector<float> run_everywhere(Op op, std::span<const Tensor> inputs,
                                  const OpAttributes& attributes) {
  HandBuiltMessage message(op, inputs, attributes);
  std::vector<float> first;
  for (const Programs& programs : available_programs()) {
    for (const rk_u32 lanes : {1u, 3u}) {
      SCOPED_TRACE(describe(op, inputs) + " " + programs.level + " lanes " + std::to_string(lanes));
      message.reset();
      EXPECT_EQ(message.run(programs, lanes), success);
      EXPECT_TRUE(message.guards_are_intact());
      if (first.empty()) first = message.result();
      EXPECT_TRUE(same_bits(first, message.result()));
    }
  }
  return first;
}

/// The inputs without their signs: what the op makes of them bounds what rounding can do to it.
std::vector<Values> magnitudes(std::vector<Values> inputs) {
  for (Values& input : inputs)
    for (double& element : input.elements) element = std::abs(element);
  return inputs;
}

/// Compares with the definition: within 1e-6 * (1 + |b|), where |b| is taken without cancellation,
/// or `exact` where the result is one rounding of the definition.
std::vector<float> expect_correct(Op op, std::span<const Tensor> inputs,
                                  const OpAttributes& attributes = {}, bool exact = false) {
  SCOPED_TRACE(describe(op, inputs));
  std::vector<Values> values;
  for (const Tensor& input : inputs) values.push_back(input.values());
  const Values expected = reference(op, values, attributes);
  const Values bound = reference(op, magnitudes(values), attributes);
  const std::vector<float> result = run_everywhere(op, inputs, attributes);
  EXPECT_EQ(HandBuiltMessage(op, inputs, attributes).result_shape(), expected.shape);
  EXPECT_EQ(result.size(), expected.elements.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double want = expected.elements[i];
    const double tolerance = exact ? 0.0 : 1e-6 * (1 + std::abs(bound.elements[i]));
    const double got = result[i];
    if (std::abs(got - (exact ? static_cast<float>(want) : want)) <= tolerance) continue;
    ADD_FAILURE() << "element " << i << " is " << got << ", expected " << want;
    break;
  }
  return result;
}

class Numerics : public testing::Test {
 protected:
  std::uint32_t up_to(std::uint32_t limit) { return random_up_to(random, limit); }
  Tensor tensor(const Shape& shape) { return random_tensor(shape, random); }

  std::mt19937 random{20240229};
};

/// Up to four dims, not more than about 2000 elements.
Shape random_shape(std::mt19937& random) {
  std::vector<std::int64_t> dims(random() % 5);
  const std::uint32_t limit = dims.size() < 2 ? 300 : dims.size() == 2 ? 45 : 7;
  for (std::int64_t& dim : dims) dim = random_up_to(random, limit);
  return Shape::make(dims).value();
}

/// `shape` with some extents made 1 and some leading dims left out.
Shape random_part(const Shape& shape, std::mt19937& random) {
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  for (std::int64_t& dim : dims)
    if (random() % 3 == 0) dim = 1;
  const auto dropped = static_cast<std::ptrdiff_t>(random() % (dims.size() + 1));
  dims.erase(dims.begin(), dims.begin() + dropped);
  return Shape::make(dims).value();
}

/// The elements of `input` repeated to fill `shape`: an operand that needs no broadcasting.
Tensor materialised(const Tensor& input, const Shape& shape) {
  const Values zeros{shape, std::vector<double>(shape.element_count(), 0.0)};
  const Values inputs[] = {input.values(), zeros};
  const Values spread = reference(Op::add, inputs, {});
  return {spread.shape, {spread.elements.begin(), spread.elements.end()}};
}

TEST_F(Numerics, BinaryOpsAreOneRoundingOfTheDefinition) {
  for (int round = 0; round < 120; ++round) {
    const Shape shape = random_shape(random);
    const Tensor inputs[] = {tensor(random_part(shape, random)), tensor(shape)};
    const Tensor swapped[] = {inputs[1], inputs[0]};
    for (const Op op : {Op::add, Op::mul})
      EXPECT_TRUE(
          same_bits(expect_correct(op, inputs, {}, true), expect_correct(op, swapped, {}, true)));
    for (const Op op : {Op::sub, Op::div}) {
      expect_correct(op, inputs, {}, true);
      expect_correct(op, swapped, {}, true);
    }
  }
}

TEST_F(Numerics, BothOperandsMayBroadcastAtOnce) {
  const std::pair<Shape, Shape> pairs[] = {
      {{1, 5}, {3, 5}},     {{3, 1, 5}, {1, 4, 5}}, {{7, 1}, {1, 33}},
      {{40, 1, 2}, {9, 1}}, {{1, 1, 1}, {}},        {{2, 1, 2, 1, 2, 1, 2, 1}, {1, 3, 1, 17}}};
  for (const auto& [a, b] : pairs) {
    const Tensor inputs[] = {tensor(a), tensor(b)};
    expect_correct(Op::add, inputs, {}, true);
    expect_correct(Op::mul, inputs, {}, true);
  }
}

TEST_F(Numerics, BroadcastingGivesTheBitsOfEqualShapes) {
  for (int round = 0; round < 60; ++round) {
    const Shape shape = random_shape(random);
    const Tensor inputs[] = {tensor(shape), tensor(random_part(shape, random))};
    const Tensor equal[] = {inputs[0], materialised(inputs[1], shape)};
    for (const Op op : {Op::add, Op::mul})
      EXPECT_TRUE(same_bits(run_everywhere(op, inputs, {}), run_everywhere(op, equal, {})))
          << describe(op, inputs);
  }
}

TEST_F(Numerics, UnaryOpsAndMovesAreExact) {
  for (int round = 0; round < 60; ++round) {
    const Tensor inputs[] = {tensor(random_shape(random))};
    expect_correct(Op::relu, inputs, {}, true);
    expect_correct(Op::neg, inputs, {}, true);
    expect_correct(Op::copy, inputs, {}, true);
    expect_correct(Op::reshape, inputs, shaped({-1}), true);
    expect_correct(Op::reshape, inputs, shaped({1, -1, 1}), true);
    expect_correct(Op::fill, inputs, shaped({up_to(40), up_to(40)}), true);
  }
}

TEST_F(Numerics, FunctionsOfRandomShapes) {
  for (int round = 0; round < 60; ++round) {
    Tensor input = tensor(random_shape(random));
    expect_correct(Op::exp, {&input, 1});
    expect_correct(Op::tanh, {&input, 1});
    expect_correct(Op::erf, {&input, 1});
    for (float& element : input.elements) element = std::abs(element);
    expect_correct(Op::log, {&input, 1});
  }
}

TEST_F(Numerics, SqrtIsOneRoundingOfTheDefinition) {
  for (int round = 0; round < 60; ++round) {
    Tensor input = tensor(random_shape(random));
    for (float& element : input.elements) element = std::abs(element);
    expect_correct(Op::sqrt, {&input, 1}, {}, true);
  }
}

TEST_F(Numerics, ReductionsOverEverySubsetOfTheAxes) {
  const Shape shapes[] = {{5, 6, 7, 8}, {3, 1, 40, 2}, {2, 9, 1, 35}, {17, 16, 3, 1}};
  for (const Shape& shape : shapes) {
    const Tensor inputs[] = {tensor(shape)};
    for (std::uint32_t mask = 0; mask < 16; ++mask) {
      std::vector<std::int64_t> axes;
      for (std::uint32_t dim = 0; dim < 4; ++dim)
        if (((mask >> dim) & 1u) != 0) axes.push_back(dim);
      for (const bool keepdims : {false, true}) {
        expect_correct(Op::sum, inputs, reducing(IntList(axes), keepdims));
        expect_correct(Op::mean, inputs, reducing(IntList(axes), keepdims));
      }
      expect_correct(Op::softmax, inputs, reducing(IntList(axes)));
    }
  }
}

// As one op it is what five make of it, whichever path the shapes take.
TEST_F(Numerics, SoftmaxGivesTheBitsOfItsParts) {
  const std::pair<Shape, IntList> cases[] = {
      {{10}, {0}},         {{1, 10}, {1}},       {{3, 300}, {-1}},     {{40, 17}, {0}},
      {{2, 5, 6, 7}, {1}}, {{2, 3, 4, 20}, {2}}, {{6, 1, 33}, {0, 2}}, {{4, 5, 6}, {0, 1, 2}},
      {{4, 5, 6}, {1, 2}}, {{1}, {0}},           {{2000}, {0}},        {{33, 2, 3}, {0, 2}}};
  for (const auto& [shape, axes] : cases) {
    Tensor x = tensor(shape);
    for (float& element : x.elements) element *= 20;
    const auto of = [&](Op op, std::vector<Tensor> inputs, const OpAttributes& attributes = {}) {
      const HandBuiltMessage message(op, inputs, attributes);
      return Tensor{message.result_shape(), run_everywhere(op, inputs, attributes)};
    };
    const OpAttributes keeping = reducing(axes, true);
    const Tensor powers = of(Op::exp, {of(Op::sub, {x, of(Op::reduce_max, {x}, keeping)})});
    const Tensor quotients = of(Op::div, {powers, of(Op::sum, {powers}, keeping)});
    EXPECT_TRUE(same_bits(run_everywhere(Op::softmax, {&x, 1}, reducing(axes)), quotients.elements))
        << shape.text();
  }
}

TEST_F(Numerics, ReductionsAtEveryLengthAroundAChunk) {
  for (const std::uint32_t n :
       {1u, 15u, 16u, 17u, 255u, 256u, 257u, 511u, 512u, 513u, 768u, 70000u}) {
    const Tensor inputs[] = {tensor({n})};
    expect_correct(Op::sum_all, inputs);
    expect_correct(Op::sum, inputs, reducing({0}));
    expect_correct(Op::mean, inputs, reducing({0}, true));
    expect_correct(Op::mean_all, inputs);
  }
}

TEST_F(Numerics, ReductionOfAScalarIsThatScalar) {
  const Tensor inputs[] = {tensor({})};
  expect_correct(Op::sum, inputs, {}, true);
  expect_correct(Op::mean, inputs, {}, true);
  expect_correct(Op::sum_all, inputs, {}, true);
}

// The order of a sum depends on the index alone: the same numbers, laid out so that the kernel
// takes its dense, its scattered and its 16-wide path, give the same bits.
TEST_F(Numerics, SumsOfTheSameNumbersAgreeInEveryLayout) {
  for (const std::uint32_t n : {7u, 100u, 256u, 300u, 1000u, 5000u}) {
    const Tensor row = tensor({1, n});
    const float dense = run_everywhere(Op::sum, {&row, 1}, reducing({1}))[0];
    for (const std::uint32_t columns : {1u, 5u, 16u, 21u}) {
      Tensor matrix = tensor({n, columns});
      for (std::uint32_t column = 0; column < columns; ++column)
        for (std::uint32_t i = 0; i < n; ++i)
          matrix.elements[i * columns + column] = row.elements[i];
      const std::vector<float> sums = run_everywhere(Op::sum, {&matrix, 1}, reducing({0}));
      EXPECT_TRUE(same_bits(sums, std::vector<float>(columns, dense))) << n << "x" << columns;
    }
  }
}

// Lanes may run at the same time, so no element may be written by two of them.
TEST_F(Numerics, LanesDivideTheOutputBetweenThem) {
  const Tensor square[] = {tensor({70, 70}), tensor({70, 70})};
  const Tensor images[] = {tensor({2, 5, 6, 3}), tensor({3, 3, 3, 70})};
  const Tensor channels[] = {tensor({2, 5, 11, 21}), tensor({3, 3, 1, 21})};
  const Tensor pairs[] = {tensor({2, 5, 11, 4}), tensor({3, 3, 2, 34})};
  const std::span<const Tensor> one(square, 1);
  const std::tuple<Op, std::span<const Tensor>, OpAttributes> cases[] = {
      {Op::add, square, {}},
      {Op::matmul, square, {}},
      {Op::relu, one, {}},
      {Op::exp, one, {}},
      {Op::conv2d, images, sliding({1, 1}, Padding::same)},
      {Op::conv2d, channels, grouped(21, sliding({1, 1}, Padding::same))},
      {Op::conv2d, pairs, grouped(2, sliding({1, 1}, Padding::same))},
      {Op::max_pool, {channels, 1}, pooling({2, 2}, sliding({1, 1}))},
      {Op::copy, one, {}},
      {Op::sum, one, reducing({0})},
      {Op::mean, one, reducing({1})},
      {Op::reduce_max, one, reducing({0})},
      {Op::softmax, one, reducing({0})},
      {Op::softmax, one, reducing({1})},
      {Op::concat, square, reducing({1})},
      {Op::sum_all, one, {}},
      {Op::fill, one, shaped({99})},
      {Op::reshape, one, shaped({-1})},
      {Op::mean_all, one, {}},
      {Op::dot, square, {}}};
  for (const auto& [op, inputs, attributes] : cases)
    for (const Programs& programs : available_programs()) {
      SCOPED_TRACE(describe(op, inputs) + " " + programs.level);
      HandBuiltMessage message(op, inputs, attributes);
      const std::vector<float> before = message.result();
      std::vector<int> writers(before.size());
      for (const rk_u32 lane : {0u, 1u, 2u}) {
        message.reset();
        EXPECT_EQ(programs.core(message.memory(), lane, 3), success);
        const std::vector<float> after = message.result();
        for (std::size_t i = 0; i < after.size(); ++i) writers[i] += after[i] != before[i];
      }
      EXPECT_EQ(writers, std::vector<int>(before.size(), 1));
    }
}

TEST_F(Numerics, DotOfRandomShapes) {
  for (int round = 0; round < 20; ++round) {
    const std::uint32_t rows = up_to(40), depth = up_to(300), columns = up_to(80);
    const Tensor pairs[][2] = {{tensor({depth}), tensor({depth})},
                               {tensor({rows, depth}), tensor({depth})},
                               {tensor({depth}), tensor({depth, columns})},
                               {tensor({rows, depth}), tensor({depth, columns})}};
    for (const auto& inputs : pairs) expect_correct(Op::dot, inputs);
  }
}

TEST_F(Numerics, MatmulOfRandomShapes) {
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t rows = up_to(40), depth = up_to(200), columns = up_to(80);
    const Tensor inputs[] = {tensor({rows, depth}), tensor({depth, columns})};
    expect_correct(Op::matmul, inputs);
  }
}

TEST_F(Numerics, MatmulAtEveryEdgeOfItsTiles) {
  for (const std::uint32_t rows : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 11u, 12u, 13u, 24u, 25u})
    for (const std::uint32_t columns : {1u, 15u, 16u, 17u, 31u, 32u, 33u, 48u, 65u}) {
      const Tensor inputs[] = {tensor({rows, 9}), tensor({9, columns})};
      expect_correct(Op::matmul, inputs);
    }
}

TEST_F(Numerics, MatmulAtEveryEdgeOfItsBlocks) {
  for (const std::uint32_t depth : {1u, 127u, 128u, 129u, 256u, 257u, 1000u}) {
    const Tensor inputs[] = {tensor({5, depth}), tensor({depth, 35})};
    expect_correct(Op::matmul, inputs);
  }
}

// Without cancellation the bound is 1e-6 relative, which one long chain of additions would miss.
TEST_F(Numerics, MatmulOfPositiveNumbersStaysWithinToleranceAtLargeK) {
  std::uniform_real_distribution<float> uniform;
  for (const std::uint32_t depth : {512u, 1024u, 4096u}) {
    Tensor inputs[] = {tensor({4, depth}), tensor({depth, 20})};
    for (Tensor& input : inputs)
      for (float& element : input.elements) element = uniform(random);
    expect_correct(Op::matmul, inputs);
  }
}

TEST_F(Numerics, MatmulBroadcastsItsBatch) {
  const std::pair<Shape, Shape> pairs[] = {{{3, 5, 6}, {6, 7}},
                                           {{5, 6}, {3, 6, 7}},
                                           {{4, 1, 5, 6}, {3, 6, 7}},
                                           {{2, 3, 13, 6}, {6, 40}},
                                           {{2, 1, 3, 2, 6}, {1, 4, 1, 6, 5}},
                                           {{1, 1, 5, 6}, {6, 7}}};
  for (const auto& [a, b] : pairs) {
    const Tensor inputs[] = {tensor(a), tensor(b)};
    expect_correct(Op::matmul, inputs);
  }
}

TEST_F(Numerics, MatmulOfMoreRowsThanArePackedAtATime) {
  const Tensor inputs[] = {tensor({500, 140}), tensor({140, 40})};
  expect_correct(Op::matmul, inputs);
}

TEST_F(Numerics, Conv2dOfRandomShapes) {
  for (int round = 0; round < 60; ++round) {
    const Shape filter{up_to(4), up_to(4), up_to(round % 4 == 0 ? 50 : 4), up_to(40)};
    const Shape images{up_to(2), 3 + up_to(6), 3 + up_to(6), filter[2]};
    const Tensor inputs[] = {tensor(images), tensor(filter)};
    for (const Padding padding : {Padding::valid, Padding::same, Padding::custom})
      expect_correct(Op::conv2d, inputs,
                     sliding({up_to(3), up_to(3)}, padding,
                             {up_to(4) - 1, up_to(4) - 1, up_to(4) - 1, up_to(4) - 1}));
  }
}

// Depthwise around whole vectors of channels and whole tiles of columns, and larger groups.
TEST_F(Numerics, Conv2dInGroupsOfRandomShapes) {
  for (int round = 0; round < 90; ++round) {
    const bool is_depthwise = round % 3 != 0;
    const std::uint32_t groups = is_depthwise ? up_to(round % 2 == 0 ? 20 : 50) : 1 + up_to(5);
    const std::uint32_t channels = is_depthwise ? 1 : up_to(round % 2 == 0 ? 20 : 3);
    const std::uint32_t outputs = is_depthwise ? 1 : up_to(round % 2 == 0 ? 4 : 20);
    const Shape filter{up_to(4), up_to(4), channels, groups * outputs};
    const Shape images{up_to(2), 3 + up_to(6), 3 + up_to(30), groups * channels};
    const Tensor inputs[] = {tensor(images), tensor(filter)};
    for (const Padding padding : {Padding::valid, Padding::same, Padding::custom})
      expect_correct(
          Op::conv2d, inputs,
          grouped(groups, sliding({up_to(3), up_to(3)}, padding,
                                  {up_to(4) - 1, up_to(4) - 1, up_to(4) - 1, up_to(4) - 1})));
  }
}

// More multiply-adds in a line than a step has: it is divided.
TEST_F(Numerics, Conv2dInGroupsOfLongLines) {
  const Tensor depthwise[] = {tensor({1, 1, 12000, 20}), tensor({1, 5, 1, 20})};
  expect_correct(Op::conv2d, depthwise, grouped(20, sliding({1, 1}, Padding::same)));
  const Tensor halves[] = {tensor({1, 1, 1500, 60}), tensor({1, 5, 30, 10})};
  expect_correct(Op::conv2d, halves, grouped(2, sliding({1, 1}, Padding::same)));
}

TEST_F(Numerics, MaxPoolIsExact) {
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t rows = up_to(4), columns = up_to(4);
    const Tensor input = tensor({up_to(2), 3 + up_to(6), 3 + up_to(12), up_to(40)});
    const OpAttributes slid[] = {
        sliding({up_to(3), up_to(3)}), sliding({up_to(3), up_to(3)}, Padding::same),
        sliding({up_to(3), up_to(3)}, Padding::custom,
                {up_to(rows) - 1, up_to(rows) - 1, up_to(columns) - 1, up_to(columns) - 1})};
    for (const OpAttributes& attributes : slid)
      expect_correct(Op::max_pool, {&input, 1}, pooling({rows, columns}, attributes), true);
  }
  const Tensor line = tensor({1, 2, 40000, 17});
  expect_correct(Op::max_pool, {&line, 1}, pooling({2, 4}, sliding({1, 3})), true);
}

TEST_F(Numerics, Conv2dOfMoreOutputsThanArePackedAtATime) {
  const Tensor inputs[] = {tensor({2, 17, 19, 3}), tensor({3, 3, 3, 33})};
  expect_correct(Op::conv2d, inputs, sliding({1, 1}, Padding::same));
}

}  // namespace
}  // namespace ringkernel::test
