/// exp and log, the one implementation for every backend: arithmetic of this file only, no
/// function of a driver or of a C library, so that the bits are the same everywhere. The same
/// statements are compiled for 16 elements and for one.
///
/// Error against exact arithmetic: below 0.95 units in the last place, subnormal results included.
/// Polynomials: minimax fits (Remez) of the relative error.
#ifndef RINGKERNEL_OPS_EXP_LOG_H
#define RINGKERNEL_OPS_EXP_LOG_H

#define RK_INFINITY __builtin_inff()
#define RK_NAN __builtin_nanf("")

/// 1.5 * 2^23: x + RK_ROUND is x rounded to an integer, which lies in the low bits of the sum.
#define RK_ROUND 12582912.0f

/// 2^k, where `rounded` is RK_ROUND + k with k in -126..127.
#define RK_POWER_OF_TWO(rounded) rk_from_bits((rk_bits(rounded) + 127u) << 23)

/// exp(x) = 2^n * exp(r) with |r| <= ln(2)/2. Two factors make 2^n: n reaches from -151 to 128, and
/// only the second one rounds, where the result is subnormal or overflows.
#define RK_DEFINE_EXP(TYPE, SPLAT, FMA)                                         \
  RK_OVERLOAD TYPE rk_exp(TYPE x) {                                             \
    const TYPE most = SPLAT(89.0f), least = SPLAT(-104.5f); /* infinity, 0 */   \
    x = rk_where_greater(x, most, most, x);                                     \
    x = rk_where_greater(least, x, least, x);                                   \
    const TYPE to_integer = SPLAT(RK_ROUND);                                    \
    const TYPE n = FMA(x, SPLAT(1.44269504f), to_integer) - to_integer;         \
    TYPE r = FMA(n, SPLAT(-0.693145752f), x); /* 15 bits of ln(2): exact */     \
    r = FMA(n, SPLAT(-1.42860677e-6f), r);                                      \
    TYPE p = SPLAT(0.001381453708f);                                            \
    p = FMA(p, r, SPLAT(0.008368745081f));                                      \
    p = FMA(p, r, SPLAT(0.04166839083f));                                       \
    p = FMA(p, r, SPLAT(0.166665204f));                                         \
    p = FMA(p, r, SPLAT(0.4999999343f));                                        \
    const TYPE sum = SPLAT(1.0f) + r;                                           \
    const TYPE lost = r - (sum - SPLAT(1.0f)); /* what its rounding took off */ \
    p = sum + FMA(p, r * r, lost);                                              \
    const TYPE first = FMA(n, SPLAT(0.5f), to_integer);                         \
    const TYPE second = n - (first - to_integer) + to_integer;                  \
    return p * RK_POWER_OF_TWO(first) * RK_POWER_OF_TWO(second);                \
  }

/// log(x) = e * ln(2) + log(1 + f), where x = 2^e * (1 + f) with 1 + f in [2/3, 4/3).
#define RK_DEFINE_LOG(TYPE, BITS, SPLAT, FMA)                                              \
  RK_OVERLOAD TYPE rk_log(TYPE x) {                                                        \
    const TYPE zero = SPLAT(0.0f), infinity = SPLAT(RK_INFINITY);                          \
    const TYPE normal_min = SPLAT(1.17549435e-38f);                                        \
    const TYPE scaled = rk_where_greater(normal_min, x, x * SPLAT(8388608.0f), x);         \
    const TYPE bias = rk_where_greater(normal_min, x, SPLAT(8388758.0f), /* 2^23 + 150 */  \
                                       SPLAT(8388735.0f));               /* 2^23 + 127 */  \
    const BITS shifted = rk_bits(scaled) + (0x3f800000u - 0x3f2aaaabu);                    \
    const TYPE e = rk_from_bits((shifted >> 23) + 0x4b000000u) - bias;                     \
    const TYPE f = rk_from_bits((shifted & 0x7fffffu) + 0x3f2aaaabu) - SPLAT(1.0f);        \
    TYPE p = SPLAT(-0.1289164669f);                                                        \
    p = FMA(p, f, SPLAT(0.1398442943f));                                                   \
    p = FMA(p, f, SPLAT(-0.1218426914f));                                                  \
    p = FMA(p, f, SPLAT(0.1400587053f));                                                   \
    p = FMA(p, f, SPLAT(-0.1668048683f));                                                  \
    p = FMA(p, f, SPLAT(0.2001040583f));                                                   \
    p = FMA(p, f, SPLAT(-0.2499979768f));                                                  \
    p = FMA(p, f, SPLAT(0.3333321598f));                                                   \
    p = FMA(p, f, SPLAT(-0.5f));                                                           \
    p = FMA(p, f * f, f);                                                                  \
    const TYPE finite = FMA(e, SPLAT(0.693147181f), p);                                    \
    const TYPE edge = rk_where_greater(zero, x, SPLAT(RK_NAN), x - infinity); /* x <= 0 */ \
    return rk_where_greater(x, zero, rk_where_greater(infinity, x, finite, x), edge);      \
  }

RK_DEFINE_EXP(rk_f32, (rk_f32), rk_fma)
RK_DEFINE_EXP(rk_f32x16, rk_splat16, rk_fma16)
RK_DEFINE_LOG(rk_f32, rk_u32, (rk_f32), rk_fma)
RK_DEFINE_LOG(rk_f32x16, rk_u32x16, rk_splat16, rk_fma16)

#endif
