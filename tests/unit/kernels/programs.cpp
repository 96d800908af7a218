#include "unit/kernels/programs.hpp"

namespace ringkernel::test {

#define RK_DECLARE(level)                                     \
  Outcome core_##level(const MessageMemory&, rk_u32, rk_u32); \
  Outcome echo_##level(const MessageMemory&, rk_u32, rk_u32);

#if defined(RK_TEST_PORTABLE)

RK_DECLARE(0)

std::vector<Programs> available_programs() { return {{"portable", core_0, echo_0}}; }

#else

RK_DECLARE(2)
RK_DECLARE(3)
RK_DECLARE(4)

std::vector<Programs> available_programs() {
  __builtin_cpu_init();
  std::vector<Programs> programs{{"v2", core_2, echo_2}};
  if (__builtin_cpu_supports("x86-64-v3")) programs.push_back({"v3", core_3, echo_3});
  if (__builtin_cpu_supports("x86-64-v4")) programs.push_back({"v4", core_4, echo_4});
  return programs;
}

#endif

}  // namespace ringkernel::test

#undef RK_DECLARE
