// The sums of matmul, dot and conv2d up to K = 4096 terms, on every backend: as exact as the
// specification demands, and the same bytes everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "conformance/cases.hpp"
#include "support/attributes.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

RK_ON_EACH_BACKEND(DeepSums);

constexpr double bar = 1e-6;

/// K terms as a matrix's columns, and as a filter's rows, columns and channels.
struct Depth {
  std::int64_t k;
  std::int64_t filter[3];
};
constexpr Depth depths[] = {{1, {1, 1, 1}},    {127, {1, 1, 127}}, {128, {4, 4, 8}},
                            {129, {1, 3, 43}}, {512, {4, 4, 32}},  {4096, {4, 4, 256}}};

/// Enough rows and columns for whole tiles and rests of them.
constexpr std::int64_t depth_rows = 9;
constexpr std::int64_t depth_columns = 35;

std::vector<Case> cases_of_depth(const Depth& depth, bool is_signed) {
  Dice dice(cases_seed, static_cast<std::uint64_t>(depth.k * 2 + (is_signed ? 1 : 0)));
  const auto draw = [&](const std::vector<std::int64_t>& dims) {
    return random_tensor(dims, dice, is_signed);
  };
  const auto& [height, width, channels] = depth.filter;
  return {
      {Op::matmul, {draw({depth_rows, depth.k}), draw({depth.k, depth_columns})}, {}},
      {Op::dot, {draw({depth.k}), draw({depth.k})}, {}},
      {Op::dot, {draw({depth_rows, depth.k}), draw({depth.k})}, {}},
      {Op::dot, {draw({depth.k}), draw({depth.k, depth_columns})}, {}},
      {Op::conv2d,
       {draw({1, height + 1, width + 1, channels}), draw({height, width, channels, depth_columns})},
       sliding({1, 1})},
  };
}

/// The largest |got - want| / (1 + |bound|), element by element.
double worst_error(std::span<const float> got, const Values& want, const Values& bound) {
  double worst = 0;
  for (std::size_t i = 0; i < want.elements.size(); ++i) {
    const double error = std::abs(got[i] - want.elements[i]) / (1 + std::abs(bound.elements[i]));
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

/// Where terms cancel, a sum of floats cannot be judged by its result: what was rounded are the
/// terms. There the bound is taken over their magnitudes (docs/OPS.md).
TEST_P(DeepSums, KeepTheBarAndTheBytesUpToAFewThousandTerms) {
  const KernelOptions options{.input_bytes = 1 << 22, .output_bytes = 1 << 16};
  auto native_runtime = open_on("native", {.transfer = Transfer::zero_copy}).value();
  auto runtime = open();
  Kernel native = active(native_runtime, "ops", options);
  Kernel kernel = active(runtime, "ops", options);
  std::printf("%-55s %-9s %-11s %s\n", "", "terms", "/(1+|b|)", "/(1+sum|xy|)");
  for (const Depth& depth : depths) {
    for (const bool is_signed : {false, true}) {
      for (const Case& example : cases_of_depth(depth, is_signed)) {
        SCOPED_TRACE(example.text());
        const auto expected = native.call(example.request());
        const auto reply = kernel.call(example.request());
        ASSERT_TRUE(expected) << expected.error().text();
        ASSERT_TRUE(reply) << reply.error().text();
        EXPECT_TRUE(std::ranges::equal(reply->bytes(), expected->bytes()));

        const Values want = example.expected();
        ASSERT_EQ(reply->tensor().desc.shape, want.shape);
        const double by_result = worst_error(reply->floats(), want, want);
        const double by_terms =
            is_signed ? worst_error(reply->floats(), want, example.magnitudes()) : by_result;
        EXPECT_LE(is_signed ? by_terms : by_result, bar);
        std::printf("%-55s %-9s %-11.1e %.1e\n", example.text().c_str(),
                    is_signed ? "mixed" : "positive", by_result, by_terms);
      }
    }
  }
}

}  // namespace
}  // namespace ringkernel::test
