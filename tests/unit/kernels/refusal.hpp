/// A good message that a test spoils, and what the device answers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "unit/kernels/hand_built_message.hpp"

namespace ringkernel::test {

/// The output, as a refusal of an operand counts them.
inline constexpr rk_u64 output_operand = RK_INPUTS_MAX;

[[nodiscard]] inline Tensor ones(const Shape& shape) {
  return {shape, std::vector<float>(shape.element_count(), 1.0f)};
}

/// Gives a command's operand another shape; it stays sound.
inline void reshape_operand(rk_operand& operand, const std::vector<rk_u32>& dims) {
  std::fill_n(operand.dims, rank_max, 1u);
  std::copy(dims.begin(), dims.end(), operand.dims);
  operand.rank = static_cast<rk_u8>(dims.size());
  operand.element_count = std::accumulate(dims.begin(), dims.end(), 1u, std::multiplies<>());
}

using Spoil = std::function<void(rk_command&)>;

/// The spoiled message is refused everywhere, and reply, arena and guards are untouched.
inline void expect_refusal(HandBuiltMessage message, const Outcome& expected, const Spoil& spoil) {
  spoil(message.command());
  for (const Programs& programs : available_programs()) {
    EXPECT_EQ(message.run(programs), expected) << programs.level;
    EXPECT_TRUE(message.nothing_was_written()) << programs.level;
  }
}

}  // namespace ringkernel::test
