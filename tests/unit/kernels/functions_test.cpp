// exp, log, sqrt, tanh and erf over the whole range of floats: accurate to the last place, and the
// same bits at every instruction-set level, for 16 elements at a time and for one.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "unit/kernels/hand_built_message.hpp"

namespace ringkernel::test {
namespace {

/// 2^20 + 5 bit patterns spread evenly over all 2^32: every exponent, both signs, subnormal
/// numbers, infinities and NaN. The five behind the last whole vector take the path of single
/// elements.
Tensor spread_over_all_floats() {
  constexpr std::uint32_t count = (1u << 20) + 5;
  Tensor tensor{{count}, {}};
  for (std::uint64_t i = 0; i < count; ++i)
    tensor.elements.push_back(std::bit_cast<float>(static_cast<std::uint32_t>((i << 32) / count)));
  return tensor;
}

/// |got - want| in units of the last place of a float near `want`.
double ulps(float got, double want) {
  const auto nearest = static_cast<float>(want);
  if (std::isnan(want) || std::isinf(nearest) || std::isinf(got))
    return std::isnan(want) == std::isnan(got) && (std::isnan(want) || got == nearest) ? 0 : 1e9;
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::abs(got - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

struct Function {
  Op op;
  double (*exact)(double);
  double ulps;  ///< at most
};

class Functions : public testing::TestWithParam<Function> {};

TEST_P(Functions, AreAsAccurateAsPromisedEverywhere) {
  const Tensor input = spread_over_all_floats();
  HandBuiltMessage message(GetParam().op, {&input, 1});
  ASSERT_EQ(message.run(available_programs().back()), success);
  const std::vector<float> result = message.result();
  for (std::size_t i = 0; i < result.size(); ++i)
    ASSERT_LE(ulps(result[i], GetParam().exact(input.elements[i])), GetParam().ulps)
        << input.elements[i];
}

TEST_P(Functions, GiveTheSameBitsAtEveryLevel) {
  const Tensor input = spread_over_all_floats();
  HandBuiltMessage message(GetParam().op, {&input, 1});
  std::vector<float> first;
  for (const Programs& programs : available_programs()) {
    ASSERT_EQ(message.run(programs), success);
    if (first.empty()) first = message.result();
    const std::vector<float> result = message.result();
    for (std::size_t i = 0; i < result.size(); ++i)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(result[i]), std::bit_cast<std::uint32_t>(first[i]))
          << programs.level << " " << input.elements[i];
  }
}

// A single element never fills a vector.
TEST_P(Functions, GiveTheSameBitsForOneElementAsForSixteen) {
  const Tensor input = spread_over_all_floats();
  HandBuiltMessage message(GetParam().op, {&input, 1});
  const Programs programs = available_programs().back();
  ASSERT_EQ(message.run(programs), success);
  const std::vector<float> result = message.result();
  for (std::size_t i = 0; i < result.size(); i += 1021) {
    const Tensor single{{}, {input.elements[i]}};
    HandBuiltMessage one(GetParam().op, {&single, 1});
    ASSERT_EQ(one.run(programs), success);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(one.result()[0]),
              std::bit_cast<std::uint32_t>(result[i]))
        << input.elements[i];
  }
}

// All mantissas, with an even and an odd exponent, and all subnormal numbers: others differ from
// these by a power of four.
TEST(Sqrt, IsRoundedCorrectlyForEveryMantissa) {
  constexpr std::uint32_t count = 1u << 20;
  for (const std::uint32_t first : {0u, 127u << 23, 128u << 23})
    for (std::uint32_t begin = first; begin < first + (1u << 23); begin += count) {
      Tensor input{{count}, std::vector<float>(count)};
      for (std::uint32_t i = 0; i < count; ++i) input.elements[i] = std::bit_cast<float>(begin + i);
      HandBuiltMessage message(Op::sqrt, {&input, 1});
      ASSERT_EQ(message.run(available_programs().back()), success);
      const std::vector<float> result = message.result();
      for (std::uint32_t i = 0; i < count; ++i)
        ASSERT_EQ(result[i], std::sqrt(input.elements[i])) << input.elements[i];
    }
}

TEST(OddFunctions, KeepTheSignBitForBit) {
  const Tensor input = spread_over_all_floats();
  Tensor opposite = input;
  for (float& element : opposite.elements) element = -element;
  for (const Op op : {Op::tanh, Op::erf}) {
    HandBuiltMessage message(op, {&input, 1});
    HandBuiltMessage mirrored(op, {&opposite, 1});
    ASSERT_EQ(message.run(available_programs().back()), success);
    ASSERT_EQ(mirrored.run(available_programs().back()), success);
    const std::vector<float> result = message.result();
    const std::vector<float> other = mirrored.result();
    for (std::size_t i = 0; i < result.size(); ++i)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(result[i]),
                std::bit_cast<std::uint32_t>(other[i]) ^ 0x80000000u)
          << input.elements[i];
  }
}

// Half a unit and what the reference in double may be off: sqrt is rounded correctly.
INSTANTIATE_TEST_SUITE_P(
    Everywhere, Functions,
    testing::Values(Function{Op::exp, std::exp, 1}, Function{Op::log, std::log, 1},
                    Function{Op::sqrt, std::sqrt, 0.5000001}, Function{Op::tanh, std::tanh, 1},
                    Function{Op::erf, std::erf, 1}),
    [](const testing::TestParamInfo<Function>& instance) {
      return std::string(find_op(static_cast<std::uint16_t>(instance.param.op))->name);
    });

}  // namespace
}  // namespace ringkernel::test
