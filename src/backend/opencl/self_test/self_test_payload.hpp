/// What the host sends with a ping of kernels/self_test.cl, and whether the answer is the one to
/// it.
///
/// Threading: any thread; nobody writes to the words meanwhile.
/// Memory ordering: plain accesses. The caller stores the ping with release behind `fill_payload`,
/// and has seen the answer's number with acquire before `fault_of_answer`.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/self_test.h"

namespace ringkernel::opencl {

using SelfTestPayload = rk_u32[RK_SELF_TEST_WORDS];

/// Differs from that of every other ping in every word, so that a line of an earlier one shows.
constexpr rk_u32 payload_word(rk_u32 number, rk_u32 word) noexcept {
  return (number * RK_SELF_TEST_WORDS + word) * 2654435761u;
}

inline void fill_payload(SelfTestPayload& payload, rk_u32 number) noexcept {
  for (rk_u32 word = 0; word < RK_SELF_TEST_WORDS; ++word)
    payload[word] = payload_word(number, word);
}

/// Empty where every word of the answer to ping `number` is there. It looks first at what was
/// stored last.
inline std::string fault_of_answer(const SelfTestPayload& answer, rk_u32 number) {
  for (rk_u32 step = RK_SELF_TEST_LINES; step-- > 0;) {
    const rk_u32 line = RK_SELF_TEST_LINE(number, step);
    for (rk_u32 in_line = 0; in_line < RK_SELF_TEST_LINE_WORDS; ++in_line) {
      const rk_u32 word = line * RK_SELF_TEST_LINE_WORDS + in_line;
      const rk_u32 seen = answer[word];
      if (seen == ~payload_word(number, word)) continue;
      return "the answer to ping " + std::to_string(number) +
             " was announced, but not there: word " + std::to_string(word) + " of " +
             std::to_string(RK_SELF_TEST_WORDS) +
             (seen == 0 || seen == ~payload_word(number - 1, word) ? " is an old one"
                                                                   : " is wrong");
    }
  }
  return {};
}

}  // namespace ringkernel::opencl
