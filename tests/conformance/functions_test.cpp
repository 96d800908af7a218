// exp, log, sqrt, tanh and erf give the same bits on every backend over the whole range of floats,
// where a driver's own functions would not.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

RK_ON_EACH_BACKEND(Functions);

constexpr std::uint32_t message_floats = 1u << 14;
constexpr std::uint32_t message_count = 1u << 6;

/// Message `number` of those that together spread 2^20 bit patterns over all floats; an odd length,
/// so that not all of them fill vectors.
std::vector<float> floats_of(std::uint32_t number) {
  std::vector<float> floats(message_floats - 1);
  for (std::uint32_t i = 0; i < floats.size(); ++i)
    floats[i] = std::bit_cast<float>((number * message_floats + i) << 12 | (i & 0xfffu));
  return floats;
}

/// Bit by bit; which NaN it is, a GPU decides (docs/OPS.md).
bool is_same(float left, float right, bool is_gpu) {
  if (is_gpu && std::isnan(left)) return std::isnan(right);
  return std::bit_cast<std::uint32_t>(left) == std::bit_cast<std::uint32_t>(right);
}

TEST_P(Functions, GiveTheBitsOfTheNativeBackendForEveryKindOfFloat) {
  auto native_runtime = open_on("native", {.transfer = Transfer::zero_copy}).value();
  auto runtime = open();
  const bool is_gpu = keeps_gpu_profile(runtime);
  Kernel native = active(native_runtime, "ops", {.program = "core"});
  Kernel kernel = active(runtime, "ops", {.program = "core"});
  for (std::uint32_t number = 0; number < message_count; ++number) {
    const std::vector<float> floats = floats_of(number);
    for (const Request& request : {ops::exp(floats), ops::log(floats), ops::sqrt(floats),
                                   ops::tanh(floats), ops::erf(floats)}) {
      const auto expected = native.call(request);
      const auto reply = kernel.call(request);
      ASSERT_TRUE(expected) << expected.error().text();
      ASSERT_TRUE(reply) << reply.error().text();
      const auto same = [is_gpu](float left, float right) { return is_same(left, right, is_gpu); };
      ASSERT_TRUE(std::ranges::equal(reply->floats(), expected->floats(), same)) << number;
    }
  }
}

}  // namespace
}  // namespace ringkernel::test
