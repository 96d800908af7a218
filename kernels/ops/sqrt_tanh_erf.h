/// sqrt, tanh and erf, the one implementation for every backend, as in exp_log.h: arithmetic of
/// this file only, no function of a driver or of a C library, so that the bits are the same
/// everywhere. The same statements are compiled for 16 elements and for one.
///
/// tanh and erf work on |x| and put the sign back by its bit: odd, bit for bit. A NaN keeps its
/// sign and its payload, and becomes quiet. It goes its own way, as x + x: with Intel's driver its
/// sign was another one behind the arithmetic. Polynomials: minimax fits (Remez) of this project.
#ifndef RINGKERNEL_OPS_SQRT_TANH_ERF_H
#define RINGKERNEL_OPS_SQRT_TANH_ERF_H

#include "ops/exp_log.h"

/// |x|, and `magnitude` with the sign of x: the sum flips the highest bit, and carries nowhere.
#define RK_MAGNITUDE(x) rk_from_bits(rk_bits(x) & 0x7fffffffu)
#define RK_WITH_SIGN_OF(x, magnitude) rk_from_bits(rk_bits(magnitude) + (rk_bits(x) & 0x80000000u))

/// The bits, halved and negated, are nearly 1/sqrt(x); a polynomial in their error and one exact
/// residual complete it. Correctly rounded: equal to IEEE's for each of the 2^32 bit patterns.
#define RK_DEFINE_SQRT(TYPE, BITS, SPLAT, FMA)                                                  \
  RK_OVERLOAD TYPE rk_sqrt(TYPE x) {                                                            \
    const TYPE zero = SPLAT(0.0f), one = SPLAT(1.0f), infinity = SPLAT(RK_INFINITY);            \
    const TYPE small = SPLAT(5.42101086e-20f); /* 2^-64: below, a residual might be inexact */  \
    const TYPE scaled = x * rk_where_greater(small, x, SPLAT(1.84467441e19f), one); /* 2^64 */  \
    const TYPE back = rk_where_greater(small, x, SPLAT(2.32830644e-10f), one);      /* 2^-32 */ \
    const BITS halved = -(rk_bits(scaled) >> 1);                                                \
    const TYPE y = rk_from_bits(halved + 0x5f208000u); /* 1/sqrt, within 13 percent */          \
    const TYPE near_root = scaled * y;                                                          \
    const TYPE e = FMA(near_root, y, SPLAT(-0.796875f)); /* within 0.05 of 0 */                 \
    TYPE p = SPLAT(0.7628446817f);                                                              \
    p = FMA(p, e, SPLAT(-0.6941697001f));                                                       \
    p = FMA(p, e, SPLAT(0.6615368724f));                                                        \
    p = FMA(p, e, SPLAT(-0.702884376f));                                                        \
    p = FMA(p, e, SPLAT(1.120224118f));                                                         \
    const TYPE root = near_root * p;                                                            \
    const TYPE slope = rk_from_bits(halved + 0x5ea08000u) * p; /* 1 / (2 * root) */             \
    const TYPE residual = FMA(-root, root, scaled);            /* exact */                      \
    const TYPE rounded = FMA(residual, slope, root) * back;                                     \
    const TYPE number = rk_where_greater(zero, x, SPLAT(RK_NAN), rounded); /* -0 stays */       \
    return rk_where_greater(infinity, x, number, x + x);                                        \
  }

/// x + x^3 * P(x^2) up to 0.96. Above, 1 - 2 / (exp(2x) + 1), where exp(2x) = 2^n * exp(2r) and
/// both terms of the divisor are divided by 2^n. Error below 0.93 units in the last place; numbers
/// below 2^-12, subnormal ones too, give themselves.
#define RK_DEFINE_TANH(TYPE, SPLAT, FMA)                                                     \
  RK_OVERLOAD TYPE rk_tanh(TYPE x) {                                                         \
    const TYPE one = SPLAT(1.0f), most = SPLAT(10.0f); /* 1 */                               \
    const TYPE to_integer = SPLAT(RK_ROUND);                                                 \
    const TYPE magnitude = RK_MAGNITUDE(x);                                                  \
    const TYPE square = magnitude * magnitude;                                               \
    TYPE p = SPLAT(-0.0003951415711f);                                                       \
    p = FMA(p, square, SPLAT(0.002415170893f));                                              \
    p = FMA(p, square, SPLAT(-0.008083592169f));                                             \
    p = FMA(p, square, SPLAT(0.02156801336f));                                               \
    p = FMA(p, square, SPLAT(-0.05390403792f));                                              \
    p = FMA(p, square, SPLAT(0.133326754f));                                                 \
    p = FMA(p, square, SPLAT(-0.3333331048f));                                               \
    const TYPE low = FMA(magnitude * square, p, magnitude);                                  \
    const TYPE bounded = rk_where_greater(magnitude, most, most, magnitude);                 \
    const TYPE minus_n = FMA(bounded, SPLAT(-2.88539008f), to_integer);                      \
    const TYPE r = FMA(minus_n - to_integer, SPLAT(0.34657359f), bounded);                   \
    const TYPE power = RK_POWER_OF_TWO(minus_n);                                             \
    TYPE q = SPLAT(0.04420673847f);                                                          \
    q = FMA(q, r, SPLAT(0.1338994801f));                                                     \
    q = FMA(q, r, SPLAT(0.3333471119f));                                                     \
    q = FMA(q, r, SPLAT(0.6666608453f));                                                     \
    q = FMA(q, r, SPLAT(0.9999998808f));                                                     \
    q = FMA(q, r * r, r); /* exp(2r)/2 - 1/2 */                                              \
    const TYPE high = one - power / (FMA(power, SPLAT(0.5f), SPLAT(0.5f)) + q);              \
    const TYPE y = RK_WITH_SIGN_OF(x, rk_where_greater(magnitude, SPLAT(0.96f), high, low)); \
    return rk_where_nan(x, x + x, y);                                                        \
  }

/// x + x * P(x^2 - 1/2) up to 1.075, a polynomial in x - 2.2 above: P around the middle of its
/// range, where its terms, and what their rounding costs, are small. Error below 0.86 units in the
/// last place.
#define RK_DEFINE_ERF(TYPE, SPLAT, FMA)                                                     \
  RK_OVERLOAD TYPE rk_erf(TYPE x) {                                                         \
    const TYPE most = SPLAT(3.9375f); /* 1 */                                               \
    const TYPE magnitude = RK_MAGNITUDE(x);                                                 \
    const TYPE z = FMA(magnitude, magnitude, SPLAT(-0.5f));                                 \
    TYPE p = SPLAT(7.347780775e-05f);                                                       \
    p = FMA(p, z, SPLAT(-0.0005654119886f));                                                \
    p = FMA(p, z, SPLAT(0.003482264234f));                                                  \
    p = FMA(p, z, SPLAT(-0.01828333177f));                                                  \
    p = FMA(p, z, SPLAT(0.07940979302f));                                                   \
    p = FMA(p, z, SPLAT(-0.2810721993f));                                                   \
    p = FMA(p, z, SPLAT(-0.03453125805f));                                                  \
    const TYPE low = FMA(magnitude, p, magnitude);                                          \
    const TYPE u = rk_where_greater(magnitude, most, most, magnitude) - SPLAT(2.20703125f); \
    TYPE q = SPLAT(8.627785633e-07f);                                                       \
    q = FMA(q, u, SPLAT(-2.770876108e-06f));                                                \
    q = FMA(q, u, SPLAT(-1.172808879e-05f));                                                \
    q = FMA(q, u, SPLAT(6.790844054e-05f));                                                 \
    q = FMA(q, u, SPLAT(-5.818527643e-05f));                                                \
    q = FMA(q, u, SPLAT(-0.0003406979667f));                                                \
    q = FMA(q, u, SPLAT(0.001149398624f));                                                  \
    q = FMA(q, u, SPLAT(-0.001052863081f));                                                 \
    q = FMA(q, u, SPLAT(-0.002651462797f));                                                 \
    q = FMA(q, u, SPLAT(0.01138186455f));                                                   \
    q = FMA(q, u, SPLAT(-0.02145104669f));                                                  \
    q = FMA(q, u, SPLAT(0.02520473488f));                                                   \
    q = FMA(q, u, SPLAT(-0.01909067295f));                                                  \
    q = FMA(q, u, SPLAT(0.008649978787f));                                                  \
    q = FMA(q, u, SPLAT(0.9981989264f));                                                    \
    const TYPE y = RK_WITH_SIGN_OF(x, rk_where_greater(magnitude, SPLAT(1.075f), q, low));  \
    return rk_where_nan(x, x + x, y);                                                       \
  }

RK_DEFINE_SQRT(rk_f32, rk_u32, (rk_f32), rk_fma)
RK_DEFINE_SQRT(rk_f32x16, rk_u32x16, rk_splat16, rk_fma16)
RK_DEFINE_TANH(rk_f32, (rk_f32), rk_fma)
RK_DEFINE_TANH(rk_f32x16, rk_splat16, rk_fma16)
RK_DEFINE_ERF(rk_f32, (rk_f32), rk_fma)
RK_DEFINE_ERF(rk_f32x16, rk_splat16, rk_fma16)

#endif
