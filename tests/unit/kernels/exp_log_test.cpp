// exp and log over the whole range of floats: accurate to the last place, and the same bits at
// every instruction-set level, for 16 elements at a time and for one.
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
};

class ExpAndLog : public testing::TestWithParam<Function> {};

TEST_P(ExpAndLog, AreWithinOneUnitInTheLastPlaceEverywhere) {
  const Tensor input = spread_over_all_floats();
  HandBuiltMessage message(GetParam().op, {&input, 1});
  ASSERT_EQ(message.run(available_programs().back()), success);
  const std::vector<float> result = message.result();
  for (std::size_t i = 0; i < result.size(); ++i)
    ASSERT_LE(ulps(result[i], GetParam().exact(input.elements[i])), 1.0) << input.elements[i];
}

TEST_P(ExpAndLog, GiveTheSameBitsAtEveryLevel) {
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
TEST_P(ExpAndLog, GiveTheSameBitsForOneElementAsForSixteen) {
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

INSTANTIATE_TEST_SUITE_P(Functions, ExpAndLog,
                         testing::Values(Function{Op::exp, std::exp}, Function{Op::log, std::log}),
                         [](const testing::TestParamInfo<Function>& instance) {
                           return instance.param.op == Op::exp ? "exp" : "log";
                         });

}  // namespace
}  // namespace ringkernel::test
