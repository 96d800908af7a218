// NaN, infinities, signed zeros and subnormal numbers, in vectors and in the tails behind them.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "support/attributes.hpp"
#include "unit/kernels/hand_built_message.hpp"

namespace ringkernel::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float subnormal = std::numeric_limits<float>::denorm_min();

class SpecialValues : public testing::TestWithParam<std::size_t> {
 protected:
  /// `values` repeated up to the length under test.
  [[nodiscard]] Tensor repeated(std::vector<float> values) const {
    const std::size_t period = values.size();
    while (values.size() < GetParam()) values.push_back(values[values.size() - period]);
    values.resize(GetParam());
    return {{static_cast<std::uint32_t>(values.size())}, values};
  }

  /// Runs the op everywhere; NaN equals NaN, zeros differ by sign.
  static void expect(Op op, std::span<const Tensor> inputs, const std::vector<float>& expected,
                     const OpAttributes& attributes = {}) {
    HandBuiltMessage message(op, inputs, attributes);
    for (const Programs& programs : available_programs()) {
      SCOPED_TRACE(programs.level);
      message.reset();
      ASSERT_EQ(message.run(programs), success);
      const std::vector<float> result = message.result();
      ASSERT_EQ(result.size(), expected.size());
      for (std::size_t i = 0; i < result.size(); ++i) {
        if (std::isnan(expected[i])) {
          EXPECT_TRUE(std::isnan(result[i])) << i;
        } else {
          EXPECT_EQ(std::bit_cast<std::uint32_t>(result[i]),
                    std::bit_cast<std::uint32_t>(expected[i]))
              << i << ": " << result[i] << ", expected " << expected[i];
        }
      }
    }
  }
};

TEST_P(SpecialValues, ReluGivesPlusZeroForWhatIsNotPositive) {
  const Tensor input =
      repeated({nan, -0.0f, 0.0f, -infinity, infinity, -1, 2, subnormal, -subnormal});
  const Tensor output = repeated({0, 0, 0, 0, infinity, 0, 2, subnormal, 0});
  expect(Op::relu, {&input, 1}, output.elements);
}

TEST_P(SpecialValues, AddFollowsIeee) {
  const Tensor inputs[] = {repeated({nan, infinity, infinity, -0.0f, -0.0f, subnormal, 3.4e38f}),
                           repeated({1, -infinity, 1, -0.0f, 0.0f, subnormal, 3.4e38f})};
  const Tensor output = repeated({nan, nan, infinity, -0.0f, 0, 2 * subnormal, infinity});
  expect(Op::add, inputs, output.elements);
}

TEST_P(SpecialValues, MulFollowsIeee) {
  const Tensor inputs[] = {repeated({nan, infinity, -infinity, -1, subnormal, 1e-20f}),
                           repeated({0, 0, 2, 0, 0.5f, 1e-20f})};
  const Tensor output = repeated({nan, nan, -infinity, -0.0f, 0, 1e-20f * 1e-20f});
  expect(Op::mul, inputs, output.elements);
}

TEST_P(SpecialValues, SubFollowsIeee) {
  const Tensor inputs[] = {repeated({nan, infinity, infinity, 0.0f, -0.0f, subnormal, -3.4e38f}),
                           repeated({1, infinity, -infinity, 0.0f, 0.0f, -subnormal, 3.4e38f})};
  const Tensor output = repeated({nan, nan, infinity, 0, -0.0f, 2 * subnormal, -infinity});
  expect(Op::sub, inputs, output.elements);
}

TEST_P(SpecialValues, DivFollowsIeee) {
  const Tensor inputs[] = {repeated({nan, 0, 1, -1, 1, infinity, infinity, subnormal, 3e38f}),
                           repeated({1, 0, 0, 0, -infinity, infinity, -2, 2, 1e-3f})};
  const Tensor output =
      repeated({nan, nan, infinity, -infinity, -0.0f, nan, -infinity, 0, infinity});
  expect(Op::div, inputs, output.elements);
}

TEST_P(SpecialValues, NegFlipsTheSignOfEverything) {
  const float signalling = std::bit_cast<float>(0x7fa00001u);
  const Tensor input = repeated({0.0f, -0.0f, infinity, -subnormal, nan, -nan, signalling});
  HandBuiltMessage message(Op::neg, {&input, 1});
  for (const Programs& programs : available_programs()) {
    message.reset();
    ASSERT_EQ(message.run(programs), success);
    const std::vector<float> result = message.result();
    for (std::size_t i = 0; i < result.size(); ++i)
      EXPECT_EQ(std::bit_cast<std::uint32_t>(result[i]),
                std::bit_cast<std::uint32_t>(input.elements[i]) ^ 0x80000000u)
          << programs.level << " " << i;
  }
}

TEST_P(SpecialValues, ExpReachesZeroInfinityAndSubnormalNumbers) {
  const Tensor input =
      repeated({nan, infinity, -infinity, 0.0f, -0.0f, 89, -104, 1e38f, -1e38f, -103, subnormal});
  const Tensor output = repeated({nan, infinity, 0, 1, 1, infinity, 0, infinity, 0, subnormal, 1});
  expect(Op::exp, {&input, 1}, output.elements);
}

TEST_P(SpecialValues, LogFollowsIeee) {
  const Tensor input = repeated({nan, infinity, -infinity, 0.0f, -0.0f, 1, -1, -subnormal});
  const Tensor output = repeated({nan, infinity, nan, -infinity, -infinity, 0, nan, nan});
  expect(Op::log, {&input, 1}, output.elements);
}

TEST_P(SpecialValues, SqrtFollowsIeee) {
  const Tensor input = repeated({nan, infinity, -infinity, 0.0f, -0.0f, 4, -1, -subnormal, 2});
  const Tensor output = repeated({nan, infinity, nan, 0, -0.0f, 2, nan, nan, 1.41421354f});
  expect(Op::sqrt, {&input, 1}, output.elements);
}

TEST_P(SpecialValues, TanhAndErfReachOne) {
  const Tensor input =
      repeated({nan, infinity, -infinity, 0.0f, -0.0f, 20, -20, subnormal, 1e-30f});
  Tensor output = repeated({nan, 1, -1, 0, -0.0f, 1, -1, subnormal, 1e-30f});
  expect(Op::tanh, {&input, 1}, output.elements);
  for (float& element : output.elements)
    if (element == 1e-30f) element = 1.12837917e-30f;  // times 2 / sqrt(pi)
  expect(Op::erf, {&input, 1}, output.elements);
}

TEST_P(SpecialValues, MaxAndMinGiveNanOrTheSecondOfEquals) {
  const Tensor inputs[] = {repeated({nan, 1, 0.0f, -0.0f, infinity, -infinity, -subnormal}),
                           repeated({1, nan, -0.0f, 0.0f, 3, 3, subnormal})};
  const Tensor larger = repeated({nan, nan, -0.0f, 0.0f, infinity, 3, subnormal});
  const Tensor smaller = repeated({nan, nan, -0.0f, 0.0f, 3, -infinity, -subnormal});
  expect(Op::max, inputs, larger.elements);
  expect(Op::min, inputs, smaller.elements);
}

TEST_P(SpecialValues, SumPropagatesNanAndInfinity) {
  Tensor input = repeated({1});
  input.elements.back() = infinity;
  expect(Op::sum_all, {&input, 1}, {infinity});
  expect(Op::mean, {&input, 1}, {infinity}, reducing({0}));
  input.elements.front() = nan;
  expect(Op::sum_all, {&input, 1}, {nan});
}

TEST_P(SpecialValues, SoftmaxTakesLargeNumbersAndGivesNanForInfinity) {
  const auto n = static_cast<float>(GetParam());
  const Tensor large = repeated({3e38f});
  expect(Op::softmax, {&large, 1}, std::vector<float>(GetParam(), 1 / n));
  Tensor one = repeated({-1e30f});
  one.elements.back() = 88;
  std::vector<float> expected(GetParam(), 0.0f);
  expected.back() = 1;
  expect(Op::softmax, {&one, 1}, expected);
  for (const float odd : {infinity, nan}) {
    Tensor input = repeated({1});
    input.elements.front() = odd;
    expect(Op::softmax, {&input, 1}, std::vector<float>(GetParam(), nan));
  }
}

TEST_P(SpecialValues, SumOfMinusZerosIsPlusZero) {
  const Tensor input = repeated({-0.0f});
  expect(Op::sum_all, {&input, 1}, {0.0f});
}

TEST_P(SpecialValues, MovesKeepEveryBit) {
  const float signalling = std::bit_cast<float>(0x7fa00001u);
  const float payload = std::bit_cast<float>(0xffc12345u);
  const Tensor input = repeated({-0.0f, subnormal, infinity, payload, signalling});
  for (const auto& [op, attributes] :
       {std::pair{Op::copy, OpAttributes{}}, std::pair{Op::reshape, shaped({1, -1})},
        std::pair{Op::cast, casting(DType::f32)}}) {
    HandBuiltMessage message(op, {&input, 1}, attributes);
    for (const Programs& programs : available_programs()) {
      message.reset();
      ASSERT_EQ(message.run(programs), success);
      const std::vector<float> result = message.result();
      for (std::size_t i = 0; i < result.size(); ++i)
        EXPECT_EQ(std::bit_cast<std::uint32_t>(result[i]),
                  std::bit_cast<std::uint32_t>(input.elements[i]))
            << programs.level << " " << i;
    }
  }
}

TEST_P(SpecialValues, FillKeepsEveryBit) {
  const Tensor signalling{{}, {std::bit_cast<float>(0x7fa00001u)}};
  HandBuiltMessage message(Op::fill, {&signalling, 1},
                           shaped({static_cast<std::int64_t>(GetParam())}));
  for (const Programs& programs : available_programs()) {
    message.reset();
    ASSERT_EQ(message.run(programs), success);
    for (const float element : message.result())
      EXPECT_EQ(std::bit_cast<std::uint32_t>(element), 0x7fa00001u) << programs.level;
  }
}

TEST_P(SpecialValues, PadKeepsEveryBit) {
  const std::uint32_t inside = 0x7fa00001u, around = 0xff800002u;
  const auto count = static_cast<std::uint32_t>(GetParam());
  const Tensor inputs[] = {{{count}, std::vector<float>(count, std::bit_cast<float>(inside))},
                           {{}, {std::bit_cast<float>(around)}}};
  HandBuiltMessage message(Op::pad, inputs, enclosing({count}, {3}));
  for (const Programs& programs : available_programs()) {
    message.reset();
    ASSERT_EQ(message.run(programs), success);
    const std::vector<float> result = message.result();
    for (std::size_t i = 0; i < result.size(); ++i)
      EXPECT_EQ(std::bit_cast<std::uint32_t>(result[i]),
                i < count || i >= 2 * count ? around : inside)
          << programs.level << " " << i;
  }
}

TEST_P(SpecialValues, MatmulDoesNotSkipZerosThatMeetNan) {
  const auto n = static_cast<std::uint32_t>(GetParam());
  Tensor b{{2, n}, std::vector<float>(2 * n, 1.0f)};
  b.elements[n - 1] = nan;
  const Tensor inputs[] = {{{1, 2}, {0, 1}}, b};
  std::vector<float> expected(n, 1.0f);
  expected[n - 1] = nan;
  expect(Op::matmul, inputs, expected);
}

// Padding is zeros: they meet every tap of the filter, and zero times infinity is NaN.
TEST_P(SpecialValues, Conv2dMultipliesItsPaddingByTheFilter) {
  const auto n = static_cast<std::uint32_t>(GetParam());
  Tensor filter{{1, 2, 1, n}, std::vector<float>(2 * n, 1.0f)};
  filter.elements[n - 1] = infinity;
  const Tensor inputs[] = {{{1, 1, 2, 1}, {2, 3}}, filter};
  std::vector<float> expected(3 * n, 2.0f);  // outputs: [0, 2], [2, 3], [3, 0]
  std::fill_n(expected.begin() + n, n, 5.0f);
  std::fill_n(expected.begin() + 2 * n, n, 3.0f);
  expected[n - 1] = nan;
  expected[2 * n - 1] = expected[3 * n - 1] = infinity;
  expect(Op::conv2d, inputs, expected, sliding({1, 1}, Padding::custom, {0, 0, 1, 1}));
}

TEST_P(SpecialValues, Conv2dInGroupsMultipliesItsPaddingByTheFilter) {
  const auto n = static_cast<std::uint32_t>(GetParam());
  Tensor filter{{2, 1, 1, n}, std::vector<float>(2 * n, 1.0f)};
  filter.elements[n - 1] = infinity;
  const Tensor inputs[] = {{{1, 1, 30, n}, std::vector<float>(30 * n, 2.0f)}, filter};
  std::vector<float> expected(60 * n, 2.0f);  // outputs: [0, 2], then [2, 0]
  for (std::size_t i = 0; i < 30; ++i) {
    expected[i * n + n - 1] = nan;
    expected[(30 + i) * n + n - 1] = infinity;
  }
  expect(Op::conv2d, inputs, expected, grouped(n, sliding({1, 1}, Padding::custom, {1, 1, 0, 0})));
}

// Depthwise, from a sum of -0 too: it is added to +0.
TEST_P(SpecialValues, Conv2dInGroupsGivesPlusZero) {
  const auto n = static_cast<std::uint32_t>(GetParam());
  const Tensor inputs[] = {{{1, 1, 20, n}, std::vector<float>(20 * n, -subnormal)},
                           {{1, 1, 1, n}, std::vector<float>(n, subnormal)}};
  expect(Op::conv2d, inputs, std::vector<float>(20 * n, 0.0f), grouped(n, sliding({1, 1})));
}

// In each place of the window, with the padding that is not there beside it.
TEST_P(SpecialValues, MaxPoolKeepsNanAndGivesPlusZero) {
  const auto n = static_cast<std::uint32_t>(GetParam());
  const float low = -infinity;
  const std::pair<std::vector<float>, std::vector<float>> lines[] = {
      {{nan, 1, 2, nan}, {nan, nan, 2, nan, nan}},
      {{-infinity, low, low, -subnormal}, {low, low, low, -subnormal, -subnormal}},
      {{-0.0f, 0.0f, -0.0f, -0.0f}, {0, 0, 0, 0, 0}},
      {{infinity, nan, -0.0f, -1}, {infinity, nan, nan, 0, -1}}};
  for (const auto& [line, largest] : lines) {
    Tensor input{{1, 1, 4, n}, {}};
    for (const float element : line) input.elements.insert(input.elements.end(), n, element);
    std::vector<float> expected;
    for (const float element : largest) expected.insert(expected.end(), n, element);
    expect(Op::max_pool, {&input, 1}, expected,
           pooling({2, 2}, sliding({1, 1}, Padding::custom, {1, 0, 1, 1})));
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, SpecialValues, testing::Values(9, 16, 41),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace ringkernel::test
