/// A good message that a test spoils, and what the device answers.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "unit/kernels/hand_built_message.hpp"

namespace ringkernel::test {

[[nodiscard]] inline Tensor ones(const Shape& shape) {
  return {shape, std::vector<float>(shape.element_count(), 1.0f)};
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
