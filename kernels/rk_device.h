/// The only file, with its rk_atomics.h, that knows which compiler reads the kernels: OpenCL C 3.0
/// or 1.2, or host C++20.
///
/// Everything else under `kernels/` is written in the common subset: plain C with these helpers.
/// Memory that the host can see, and an executor's workspace, is `RK_GLOBAL`; a byte address in it
/// is `rk_bytes`.
#ifndef RINGKERNEL_RK_DEVICE_H
#define RINGKERNEL_RK_DEVICE_H

#include "ringkernel/protocol/abi.h"
#include "ringkernel/protocol/fault.h"

#define RK_INLINE static inline
/// A function that exists for one element and for 16 under one name.
#if defined(__OPENCL_C_VERSION__)
#define RK_OVERLOAD __attribute__((overloadable)) static inline
#else
#define RK_OVERLOAD static inline
#endif

#include "rk_atomics.h"

#if defined(__OPENCL_C_VERSION__)

#pragma OPENCL FP_CONTRACT OFF

// OpenCL C reserves the word that the project uses for its actor; the qualifier here is __kernel.
#define kernel rk_kernel_number

#define RK_GLOBAL __global
#define RK_LOCAL __local
/// The class of the device, which the backend names (backend/opencl/program.cpp). What a CPU keeps
/// in vector registers, and spills cheaply, would be private memory of each work-item of a GPU: a
/// few bodies go without there, for the same bits.
#if defined(RK_GPU)
#define RK_IS_GPU 1
#define RK_OUTLINE __attribute__((noinline)) static
#else
#define RK_IS_GPU 0
#define RK_OUTLINE RK_INLINE
#endif
#define RK_RESTRICT restrict
// Intel's compiler for CPUs would vectorise across work-items, of which there is one: it takes
// three times as long, for code that never runs.
#if defined(cl_intel_vec_len_hint)
#define RK_LANES __attribute__((intel_vec_len_hint(1)))
#else
#define RK_LANES
#endif
#define RK_KERNEL __kernel __attribute__((reqd_work_group_size(1, 1, 1))) RK_LANES
#define RK_NOINLINE __attribute__((noinline)) static
/// For what runs rarely, and for each of several methods. Not inlined where a driver for a CPU
/// compiles the program: each of its passes over the executor is shorter then. Inlined on a GPU,
/// where a call costs private memory, and for a team, whose barriers PoCL wants in line.
#if RK_IS_GPU || defined(RK_TEAM)
#define RK_APART RK_INLINE
#else
#define RK_APART RK_NOINLINE
#endif

/// Which of the work-groups of one launch this is.
RK_INLINE rk_u32 rk_work_group(void) { return (rk_u32)get_group_id(0); }

typedef __global uchar* rk_bytes;
typedef __global const uchar* rk_const_bytes;

// OpenCL C has no word for waiting. Where slices are threads of the host's own process, on x86-64
// Linux, the backend says so after a probe (host_threads.hpp); elsewhere a waiting loop just polls.
#if defined(RK_ON_HOST_THREADS)
RK_INLINE long rk_system_call(long number, long first, long second) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(first), "S"(second)
                   : "rcx", "r11", "memory");
  return result;
}
RK_INLINE void rk_pause(void) { __asm__ volatile("pause"); }
RK_INLINE void rk_yield(void) { (void)rk_system_call(24, 0, 0); /* sched_yield */ }
RK_INLINE rk_u32 rk_process_id(void) { return (rk_u32)rk_system_call(39, 0, 0); /* getpid */ }
RK_INLINE rk_u64 rk_clock_ns(void) {
  long time[2] = {0, 0};                    /* seconds, nanoseconds */
  (void)rk_system_call(228, 1, (long)time); /* clock_gettime, CLOCK_MONOTONIC */
  return (rk_u64)time[0] * 1000000000u + (rk_u64)time[1];
}
/// The counter that the host's clock has too (bridge/tick_clock.hpp), where that is proven; or 0.
RK_INLINE rk_u64 rk_ticks(void) { return __builtin_ia32_rdtsc(); }
/// The core that this runs on, plus 1, as sched_getcpu says it; 0: nobody knows. Linux keeps it in
/// the limit of a segment, below the node: not every processor has rdtscp or rdpid.
RK_INLINE rk_u32 rk_core(void) {
  const uint nobody = ~0u;
  uint node_and_core = nobody;
  __asm__ volatile("lsl %1, %0" : "+r"(node_and_core) : "r"(0x7bu) : "cc");
  return node_and_core == nobody ? 0u : (node_and_core & 0xfffu) + 1u;
}
#else
RK_INLINE void rk_pause(void) {}
RK_INLINE void rk_yield(void) {}
RK_INLINE rk_u64 rk_clock_ns(void) { return 0; }
RK_INLINE rk_u64 rk_ticks(void) { return 0; }
RK_INLINE rk_u32 rk_core(void) { return 0; }
#endif

/// Bit i is set where word i of the 16 at `line` differs from seen[i], in SPACE memory. The words
/// are read as by relaxed atomic loads: each whole, none twice; a difference needs an acquire fence
/// behind it.
#if RK_IS_GPU
#define RK_LINE_DIFFERS(SPACE)                                                                \
  RK_OVERLOAD rk_u32 rk_line_differs(__global const rk_u32* line, SPACE const rk_u32* seen) { \
    rk_u32 mask = 0;                                                                          \
    for (rk_u32 lane = 0; lane < 16u; ++lane)                                                 \
      mask |= rk_load_relaxed_u32(line + lane) != seen[lane] ? 1u << lane : 0u;               \
    return mask;                                                                              \
  }
#else
#define RK_LINE_DIFFERS(SPACE)                                                                \
  RK_OVERLOAD rk_u32 rk_line_differs(__global const rk_u32* line, SPACE const rk_u32* seen) { \
    const uint16 words = *(volatile __global const uint16*)line;                              \
    const int16 differs = words != vload16(0, seen);                                          \
    if (!any(differs)) return 0u;                                                             \
    rk_u32 mask = 0;                                                                          \
    int lanes[16];                                                                            \
    vstore16(differs, 0, lanes);                                                              \
    for (rk_u32 lane = 0; lane < 16u; ++lane) mask |= lanes[lane] != 0 ? 1u << lane : 0u;     \
    return mask;                                                                              \
  }
#endif
RK_LINE_DIFFERS(__private)
RK_LINE_DIFFERS(__local)

/// Index of the lowest bit that is set; `mask` is not 0.
RK_INLINE rk_u32 rk_lowest_bit(rk_u32 mask) { return 31u - clz(mask & (0u - mask)); }

/// Hints that a line will be read or written soon; no effect on what the program means.
#if defined(__x86_64__) || defined(__aarch64__)  // a CPU device: its address spaces are one
RK_INLINE void rk_prefetch_read(rk_const_bytes line) {
  __builtin_prefetch((const void*)(size_t)line, 0, 3);
}
RK_INLINE void rk_prefetch_later(rk_const_bytes line) {  // not as far as the nearest cache
  __builtin_prefetch((const void*)(size_t)line, 0, 2);
}
RK_INLINE void rk_prefetch_write(rk_bytes line) {
  __builtin_prefetch((const void*)(size_t)line, 1, 3);
}
#else
RK_INLINE void rk_prefetch_read(rk_const_bytes line) { (void)line; }
RK_INLINE void rk_prefetch_later(rk_const_bytes line) { (void)line; }
RK_INLINE void rk_prefetch_write(rk_bytes line) { (void)line; }
#endif

/// Copies between disjoint regions.
RK_INLINE void rk_copy_bytes(rk_bytes to, rk_const_bytes from, rk_u64 bytes) {
  rk_u64 done = 0;
  for (; done + 64 <= bytes; done += 64)
    vstore16(vload16(0, (__global const uint*)(from + done)), 0, (__global uint*)(to + done));
  for (; done + 8 <= bytes; done += 8)
    vstore2(vload2(0, (__global const uint*)(from + done)), 0, (__global uint*)(to + done));
  for (; done < bytes; ++done) to[done] = from[done];
}

typedef float16 rk_f32x16;
RK_INLINE rk_f32x16 rk_splat16(rk_f32 value) { return (float16)(value); }
RK_INLINE rk_f32x16 rk_load16(__global const rk_f32* from) { return vload16(0, from); }
RK_INLINE void rk_store16(__global rk_f32* to, rk_f32x16 value) { vstore16(value, 0, to); }
RK_INLINE rk_f32x16 rk_fma16(rk_f32x16 a, rk_f32x16 b, rk_f32x16 c) { return fma(a, b, c); }
RK_INLINE rk_f32 rk_fma(rk_f32 a, rk_f32 b, rk_f32 c) { return fma(a, b, c); }
// PoCL makes several narrow accesses of vload16 and vstore16. Streams from memory are the faster
// for it (relu by 12 %, gather by 30 %); what lies in a cache is not and takes one access.
typedef float16 __attribute__((aligned(4), may_alias)) rk_packed16;
RK_INLINE rk_f32x16 rk_load16_near(__global const rk_f32* from) {
  return *(__global const rk_packed16*)from;
}
RK_INLINE void rk_store16_near(__global rk_f32* to, rk_f32x16 value) {
  *(__global rk_packed16*)to = value;
}
RK_INLINE rk_f32x16 rk_load16_private(const rk_f32* from) { return *(const rk_packed16*)from; }
RK_INLINE void rk_store16_private(rk_f32* to, rk_f32x16 value) { *(rk_packed16*)to = value; }
/// a[0] b[0] a[1] b[1] ..., of the lower and of the upper halves.
RK_INLINE rk_f32x16 rk_interleave_low16(rk_f32x16 a, rk_f32x16 b) {
  return (float16)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6,
                   b.s6, a.s7, b.s7);
}
RK_INLINE rk_f32x16 rk_interleave_high16(rk_f32x16 a, rk_f32x16 b) {
  return (float16)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd, a.se,
                   b.se, a.sf, b.sf);
}
RK_INLINE rk_f32 rk_sum_halves16(rk_f32x16 lanes) {
  // The upper half is written out: in a shuffle Oclgrind 21.10 takes element 11 for uninitialised.
  const float8 eight = lanes.lo + (float8)(lanes.s8, lanes.s9, lanes.sa, lanes.sb, lanes.sc,
                                           lanes.sd, lanes.se, lanes.sf);
  const float4 four = eight.lo + eight.hi;
  const float2 two = four.lo + four.hi;
  return two.x + two.y;
}

#define rk_where_greater(x, y, yes, no) ((x) > (y) ? (yes) : (no))
#define rk_where_nan(x, yes, no) ((x) != (x) ? (yes) : (no))

/// An element's bits and back, for one or for 16.
typedef uint16 rk_u32x16;
RK_OVERLOAD rk_u32 rk_bits(rk_f32 value) { return as_uint(value); }
RK_OVERLOAD rk_u32x16 rk_bits(rk_f32x16 value) { return as_uint16(value); }
RK_OVERLOAD rk_f32 rk_from_bits(rk_u32 bits) { return as_float(bits); }
RK_OVERLOAD rk_f32x16 rk_from_bits(rk_u32x16 bits) { return as_float16(bits); }

#define RK_UNROLL _Pragma("unroll")

#else  // host C++20: includes stand outside any namespace, so this file is included there first

#include <sched.h>
#include <time.h>

#include <bit>
#include <cstring>
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define RK_GLOBAL
#define RK_LOCAL
#define RK_IS_GPU 0
#define RK_OUTLINE RK_INLINE
#define RK_RESTRICT __restrict
#define RK_KERNEL static
#define RK_NOINLINE [[gnu::noinline]] static
#define RK_APART RK_INLINE

using rk_bytes = rk_u8*;
using rk_const_bytes = const rk_u8*;

RK_INLINE void rk_pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}
RK_INLINE void rk_yield() { sched_yield(); }
RK_INLINE rk_u64 rk_clock_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<rk_u64>(time.tv_sec) * 1'000'000'000u + static_cast<rk_u64>(time.tv_nsec);
}
RK_INLINE rk_u64 rk_ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}
RK_INLINE rk_u32 rk_core() { return static_cast<rk_u32>(sched_getcpu() + 1); }

RK_INLINE rk_u32 rk_line_differs(const rk_u32* line, const rk_u32* seen) {
  rk_u32 mask = 0;
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
  for (rk_u32 lane = 0; lane < 16u; lane += 4u) {
    const __m128i words = *reinterpret_cast<const volatile __m128i*>(line + lane);
    const __m128i same =
        _mm_cmpeq_epi32(words, _mm_loadu_si128(reinterpret_cast<const __m128i*>(seen + lane)));
    mask |= static_cast<rk_u32>(_mm_movemask_ps(_mm_castsi128_ps(same)) ^ 0xf) << lane;
  }
#else
  for (rk_u32 lane = 0; lane < 16u; ++lane)
    mask |= rk_load_relaxed_u32(line + lane) != seen[lane] ? 1u << lane : 0u;
#endif
  return mask;
}

RK_INLINE rk_u32 rk_lowest_bit(rk_u32 mask) { return static_cast<rk_u32>(std::countr_zero(mask)); }

RK_INLINE void rk_prefetch_read(rk_const_bytes line) { __builtin_prefetch(line, 0, 3); }
RK_INLINE void rk_prefetch_later(rk_const_bytes line) { __builtin_prefetch(line, 0, 2); }
RK_INLINE void rk_prefetch_write(rk_bytes line) { __builtin_prefetch(line, 1, 3); }

RK_INLINE void rk_copy_bytes(rk_bytes to, rk_const_bytes from, rk_u64 bytes) {
  std::memcpy(to, from, bytes);
}

// 16 floats as pairs of the vectors that the instruction set has: GCC keeps a vector type wider
// than a register in memory, but takes such pairs apart.
#if defined(__AVX512F__)
typedef rk_f32 rk_vector __attribute__((vector_size(64)));
#elif defined(__AVX__)
typedef rk_f32 rk_vector __attribute__((vector_size(32)));
#else
typedef rk_f32 rk_vector __attribute__((vector_size(16)));
#endif

namespace {  // each instruction-set level keeps its own instances

template <class Half>
struct rk_pair {
  Half low;
  Half high;
};
template <class Half>
RK_INLINE rk_pair<Half> operator+(rk_pair<Half> a, rk_pair<Half> b) {
  return {a.low + b.low, a.high + b.high};
}
template <class Half>
RK_INLINE rk_pair<Half> operator-(rk_pair<Half> a, rk_pair<Half> b) {
  return {a.low - b.low, a.high - b.high};
}
template <class Half>
RK_INLINE rk_pair<Half> operator-(rk_pair<Half> a) {
  return {-a.low, -a.high};
}
template <class Half>
RK_INLINE rk_pair<Half> operator*(rk_pair<Half> a, rk_pair<Half> b) {
  return {a.low * b.low, a.high * b.high};
}
template <class Half>
RK_INLINE rk_pair<Half> operator/(rk_pair<Half> a, rk_pair<Half> b) {
  return {a.low / b.low, a.high / b.high};
}

// Integer arithmetic on bits, one number for all lanes.
template <class Half>
RK_INLINE rk_pair<Half> operator+(rk_pair<Half> a, rk_u32 b) {
  return {a.low + b, a.high + b};
}
template <class Half>
RK_INLINE rk_pair<Half> operator&(rk_pair<Half> a, rk_u32 b) {
  return {a.low & b, a.high & b};
}
template <class Half>
RK_INLINE rk_pair<Half> operator<<(rk_pair<Half> a, rk_u32 count) {
  return {a.low << count, a.high << count};
}
template <class Half>
RK_INLINE rk_pair<Half> operator>>(rk_pair<Half> a, rk_u32 count) {
  return {a.low >> count, a.high >> count};
}

/// The helpers for one vector and, by halves, for whatever is wider.
template <class T>
struct rk_simd {
  typedef rk_u32 Bits __attribute__((vector_size(sizeof(T))));

  static T splat(rk_f32 value) {
    // by its bits: arithmetic would quiet a signalling NaN
    return (T)(Bits{} | std::bit_cast<rk_u32>(value));
  }
  static Bits bits(T vector) { return (Bits)vector; }
  static T from_bits(Bits bits) { return (T)bits; }
  static T load(const rk_f32* from) {
    T vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
  }
  static void store(rk_f32* to, T vector) { std::memcpy(to, &vector, sizeof vector); }
  static T where_greater(T x, T y, T yes, T no) { return x > y ? yes : no; }
  static T where_nan(T x, T yes, T no) { return x != x ? yes : no; }
  template <size_t first, size_t... i>
  static T interleave_from(T a, T b, std::index_sequence<i...>) {
    return __builtin_shufflevector(a, b, (first + i / 2 + i % 2 * sizeof...(i))...);
  }
  static constexpr size_t lanes = sizeof(T) / sizeof(rk_f32);
  static T interleave_low(T a, T b) {
    return interleave_from<0>(a, b, std::make_index_sequence<lanes>());
  }
  static T interleave_high(T a, T b) {
    return interleave_from<lanes / 2>(a, b, std::make_index_sequence<lanes>());
  }
  static T fma(T a, T b, T c) {
    // GCC turns a loop of fmaf over the lanes into scalar code; the intrinsics give the same bits.
#if defined(__AVX512F__)
    return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
    return _mm256_fmadd_ps(a, b, c);
#else
    for (size_t lane = 0; lane < sizeof(T) / sizeof c[0]; ++lane)
      c[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
    return c;
#endif
  }
};
template <class Half>
struct rk_simd<rk_pair<Half>> {
  using Pair = rk_pair<Half>;
  using Part = rk_simd<Half>;
  using Bits = rk_pair<typename Part::Bits>;
  static constexpr size_t half_lanes = sizeof(Half) / sizeof(rk_f32);

  static Bits bits(Pair pair) { return {Part::bits(pair.low), Part::bits(pair.high)}; }
  static Pair from_bits(Bits bits) {
    return {Part::from_bits(bits.low), Part::from_bits(bits.high)};
  }
  static Pair splat(rk_f32 value) { return {Part::splat(value), Part::splat(value)}; }
  static Pair load(const rk_f32* from) { return {Part::load(from), Part::load(from + half_lanes)}; }
  static void store(rk_f32* to, Pair pair) {
    Part::store(to, pair.low);
    Part::store(to + half_lanes, pair.high);
  }
  static Pair interleave_low(Pair a, Pair b) {
    return {Part::interleave_low(a.low, b.low), Part::interleave_high(a.low, b.low)};
  }
  static Pair interleave_high(Pair a, Pair b) {
    return {Part::interleave_low(a.high, b.high), Part::interleave_high(a.high, b.high)};
  }
  static Pair where_greater(Pair x, Pair y, Pair yes, Pair no) {
    return {Part::where_greater(x.low, y.low, yes.low, no.low),
            Part::where_greater(x.high, y.high, yes.high, no.high)};
  }
  static Pair where_nan(Pair x, Pair yes, Pair no) {
    return {Part::where_nan(x.low, yes.low, no.low), Part::where_nan(x.high, yes.high, no.high)};
  }
  static Pair fma(Pair a, Pair b, Pair c) {
    return {Part::fma(a.low, b.low, c.low), Part::fma(a.high, b.high, c.high)};
  }
};

}  // namespace

#if defined(__AVX512F__)
using rk_f32x16 = rk_vector;
#elif defined(__AVX__)
using rk_f32x16 = rk_pair<rk_vector>;
#else
using rk_f32x16 = rk_pair<rk_pair<rk_vector>>;
#endif

RK_INLINE rk_f32x16 rk_splat16(rk_f32 value) { return rk_simd<rk_f32x16>::splat(value); }
RK_INLINE rk_f32x16 rk_load16(const rk_f32* from) { return rk_simd<rk_f32x16>::load(from); }
RK_INLINE void rk_store16(rk_f32* to, rk_f32x16 value) { rk_simd<rk_f32x16>::store(to, value); }
RK_INLINE rk_f32x16 rk_load16_near(const rk_f32* from) { return rk_load16(from); }
RK_INLINE void rk_store16_near(rk_f32* to, rk_f32x16 value) { rk_store16(to, value); }
RK_INLINE rk_f32x16 rk_load16_private(const rk_f32* from) { return rk_load16(from); }
RK_INLINE void rk_store16_private(rk_f32* to, rk_f32x16 value) { rk_store16(to, value); }
RK_INLINE rk_f32x16 rk_interleave_low16(rk_f32x16 a, rk_f32x16 b) {
  return rk_simd<rk_f32x16>::interleave_low(a, b);
}
RK_INLINE rk_f32x16 rk_interleave_high16(rk_f32x16 a, rk_f32x16 b) {
  return rk_simd<rk_f32x16>::interleave_high(a, b);
}
RK_INLINE rk_f32 rk_sum_halves16(rk_f32x16 lanes) {
  rk_f32 sums[16];
  rk_store16(sums, lanes);
  for (int left = 8; left != 0; left /= 2)
    for (int lane = 0; lane < left; ++lane) sums[lane] += sums[lane + left];
  return sums[0];
}
RK_INLINE rk_f32x16 rk_fma16(rk_f32x16 a, rk_f32x16 b, rk_f32x16 c) {
  return rk_simd<rk_f32x16>::fma(a, b, c);
}
RK_INLINE rk_f32 rk_fma(rk_f32 a, rk_f32 b, rk_f32 c) { return __builtin_fmaf(a, b, c); }
RK_INLINE rk_f32x16 rk_where_greater(rk_f32x16 x, rk_f32x16 y, rk_f32x16 yes, rk_f32x16 no) {
  return rk_simd<rk_f32x16>::where_greater(x, y, yes, no);
}
RK_INLINE rk_f32 rk_where_greater(rk_f32 x, rk_f32 y, rk_f32 yes, rk_f32 no) {
  return x > y ? yes : no;
}
RK_INLINE rk_f32x16 rk_where_nan(rk_f32x16 x, rk_f32x16 yes, rk_f32x16 no) {
  return rk_simd<rk_f32x16>::where_nan(x, yes, no);
}
RK_INLINE rk_f32 rk_where_nan(rk_f32 x, rk_f32 yes, rk_f32 no) { return x != x ? yes : no; }

using rk_u32x16 = rk_simd<rk_f32x16>::Bits;
RK_OVERLOAD rk_u32 rk_bits(rk_f32 value) { return std::bit_cast<rk_u32>(value); }
RK_OVERLOAD rk_u32x16 rk_bits(rk_f32x16 value) { return rk_simd<rk_f32x16>::bits(value); }
RK_OVERLOAD rk_f32 rk_from_bits(rk_u32 bits) { return std::bit_cast<rk_f32>(bits); }
RK_OVERLOAD rk_f32x16 rk_from_bits(rk_u32x16 bits) { return rk_simd<rk_f32x16>::from_bits(bits); }

#if defined(__clang__)
#define RK_UNROLL _Pragma("unroll")
#else
#define RK_UNROLL _Pragma("GCC unroll 16")
#endif

#endif

/// The register tile of matmul: rows x vectors of 16 columns. As many accumulators as fit into the
/// vector registers beside a vector of B and an element of A; the bits do not depend on it.
#if defined(__AVX512F__)
#define RK_TILE_ROWS 12
#define RK_TILE_VECTORS 2
#elif defined(__AVX__)
#define RK_TILE_ROWS 6
#define RK_TILE_VECTORS 1
#else
#define RK_TILE_ROWS 4
#define RK_TILE_VECTORS 1
#endif

#endif
