#include "backend/native/programs.hpp"

#include <iterator>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ringkernel::native {

#define RK_DECLARE(program, level)                                                          \
  extern "C" void rk_native_##program##_##level(                                            \
      rk_u8* arena, rk_u64 arena_bytes, rk_u64 executor_offset, rk_u32 slice, rk_u32 group, \
      rk_u8* workspace, rk_u8* local, const rk_slice_code* code);

#if defined(RK_NATIVE_X86_LEVELS)
#define RK_PROGRAM(program) \
  RK_DECLARE(program, 2)    \
  RK_DECLARE(program, 3)    \
  RK_DECLARE(program, 4)
#else
#define RK_PROGRAM(program) RK_DECLARE(program, 0)
#endif
RK_PROGRAM(hosted)
RK_PROGRAM(guarded)
RK_PROGRAM(core)
RK_PROGRAM(echo)
#undef RK_PROGRAM
#undef RK_DECLARE

namespace {

#if defined(__x86_64__)
bool has_level_2() noexcept {
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}

// Feature by feature, three of them by cpuid, because clang 16 has names for the others alone.
bool has_level_3() noexcept {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
      !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("fma"))
    return false;
  unsigned eax = 0, ebx = 0, basic = 0, extended = 0, edx = 0;
  __get_cpuid(1, &eax, &ebx, &basic, &edx);
  __get_cpuid(0x80000001, &eax, &ebx, &extended, &edx);
  return (basic & bit_F16C) != 0 && (basic & bit_MOVBE) != 0 && (extended & bit_LZCNT) != 0;
}

bool has_level_4() noexcept {
  return has_level_3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

rk_u32 find_processor_level() noexcept {
  __builtin_cpu_init();
  if (has_level_4()) return 4;
  if (has_level_3()) return 3;
  return has_level_2() ? 2 : 0;
}
#else
rk_u32 find_processor_level() noexcept { return 0; }
#endif

struct HostProgram {
  SliceFunction levels[3];  // best first
};

#if defined(RK_NATIVE_X86_LEVELS)
#define RK_PROGRAM(program)                                                       \
  {                                                                               \
    { rk_native_##program##_4, rk_native_##program##_3, rk_native_##program##_2 } \
  }
constexpr const char* level_names[] = {"x86-64-v4", "x86-64-v3", "x86-64-v2"};

int level_index() noexcept {
  switch (processor_level()) {
    case 4: return 0;
    case 3: return 1;
    default: return 2;
  }
}
#else
#define RK_PROGRAM(program)                       \
  {                                               \
    { rk_native_##program##_0, nullptr, nullptr } \
  }
constexpr const char* level_names[] = {"portable"};

int level_index() noexcept { return 0; }
#endif

// By RK_PROGRAM_*.
constexpr HostProgram programs[] = {RK_PROGRAM(hosted), RK_PROGRAM(core), RK_PROGRAM(echo)};
constexpr HostProgram guarded = RK_PROGRAM(guarded);
#undef RK_PROGRAM

}  // namespace

SliceFunction find_program(rk_u32 built_in) noexcept {
  if (built_in >= std::size(programs)) return nullptr;
  return programs[built_in].levels[level_index()];
}

SliceFunction guarded_executor() noexcept { return guarded.levels[level_index()]; }

rk_u32 processor_level() noexcept {
  static const rk_u32 level = find_processor_level();
  return level;
}

const char* level_name() noexcept { return level_names[level_index()]; }

}  // namespace ringkernel::native
