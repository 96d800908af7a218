/// Elementwise ops. An op is its expression, which is compiled once for 16 elements and once for
/// one; both give the same bits, because every IEEE operation is rounded alike at any width.
#ifndef RINGKERNEL_OPS_ELEMENTWISE_CL
#define RINGKERNEL_OPS_ELEMENTWISE_CL

#include "ops/args.h"
#include "ops/odometer.h"
#include "ops/order.h"
#include "ops/sqrt_tanh_erf.h"

RK_INLINE rk_u32 rk_elementwise_begin(const rk_op_args* args, rk_odometer* walk) {
  RK_GLOBAL const rk_operand* out = &args->command->output;
  RK_GLOBAL const rk_operand* a = &args->command->inputs[0];
  RK_GLOBAL const rk_operand* b = &args->command->inputs[1];
  rk_odometer_begin(walk);
  if (rk_same_shape(out, a) && rk_same_shape(out, b)) {
    rk_odometer_push(walk, out->element_count, 1, 1);
    return RK_FAULT_NONE;
  }
  return rk_odometer_push_broadcast(walk, out, a, b, 0, 1, 1) ? RK_FAULT_NONE : RK_FAULT_bad_shape;
}

/// Two operands `x` and `y` with broadcasting. Within a run each of them advances or stays.
#define RK_BINARY_F32(name, expression)                                        \
  RK_INLINE rk_u32 name(const rk_op_args* args) {                              \
    rk_odometer walk;                                                          \
    const rk_u32 fault = rk_elementwise_begin(args, &walk);                    \
    if (fault != RK_FAULT_NONE) return fault;                                  \
    const rk_u64 length = rk_odometer_run(&walk);                              \
    const rk_u64 a_step = walk.rank == 0 ? 0 : walk.a_strides[0];              \
    const rk_u64 b_step = walk.rank == 0 ? 0 : walk.b_strides[0];              \
    RK_GLOBAL rk_f32* out = args->output;                                      \
    do {                                                                       \
      RK_GLOBAL const rk_f32* a = args->inputs[0] + walk.a;                    \
      RK_GLOBAL const rk_f32* b = args->inputs[1] + walk.b;                    \
      rk_u64 i = args->lane * RK_WIDTH;                                        \
      for (; i + RK_WIDTH <= length; i += args->lanes * RK_WIDTH) {            \
        const rk_f32x16 x = a_step != 0 ? rk_load16(a + i) : rk_splat16(a[0]); \
        const rk_f32x16 y = b_step != 0 ? rk_load16(b + i) : rk_splat16(b[0]); \
        rk_store16(out + i, expression);                                       \
      }                                                                        \
      for (; i < length; ++i) {                                                \
        const rk_f32 x = a[i * a_step];                                        \
        const rk_f32 y = b[i * b_step];                                        \
        out[i] = expression;                                                   \
      }                                                                        \
      out += length;                                                           \
    } while (rk_odometer_next(&walk, 1));                                      \
    return RK_FAULT_NONE;                                                      \
  }

#define RK_BINARY_INTEGERS(name, TYPE, expression)                               \
  RK_INLINE rk_u32 name(const rk_op_args* args) {                                \
    rk_odometer walk;                                                            \
    const rk_u32 fault = rk_elementwise_begin(args, &walk);                      \
    if (fault != RK_FAULT_NONE) return fault;                                    \
    const rk_u64 length = rk_odometer_run(&walk);                                \
    const rk_u64 a_step = walk.rank == 0 ? 0 : walk.a_strides[0];                \
    const rk_u64 b_step = walk.rank == 0 ? 0 : walk.b_strides[0];                \
    RK_GLOBAL TYPE* out = (RK_GLOBAL TYPE*)args->output;                         \
    do {                                                                         \
      RK_GLOBAL const TYPE* a = (RK_GLOBAL const TYPE*)args->inputs[0] + walk.a; \
      RK_GLOBAL const TYPE* b = (RK_GLOBAL const TYPE*)args->inputs[1] + walk.b; \
      for (rk_u64 i = args->lane; i < length; i += args->lanes) {                \
        const TYPE x = a[i * a_step];                                            \
        const TYPE y = b[i * b_step];                                            \
        out[i] = expression;                                                     \
      }                                                                          \
      out += length;                                                             \
    } while (rk_odometer_next(&walk, 1));                                        \
    return RK_FAULT_NONE;                                                        \
  }

/// A binary op on f32.
#define RK_ELEMENTWISE_BINARY(name, expression) RK_BINARY_F32(rk_op_##name, expression)

/// A binary op on f32 and, with the same expression on unsigned numbers, on i32 and i64.
#define RK_ELEMENTWISE_NUMERIC(name, expression)                \
  RK_BINARY_F32(rk_##name##_f32, expression)                    \
  RK_BINARY_INTEGERS(rk_##name##_i32, rk_element32, expression) \
  RK_BINARY_INTEGERS(rk_##name##_i64, rk_element64, expression) \
  RK_DISPATCH_TYPES(rk_op_##name, rk_##name##_f32, rk_##name##_i32, rk_##name##_i64)

/// A binary op on f32 and, with the same expression on signed numbers, on i32 and i64.
#define RK_ELEMENTWISE_ORDERED(name, expression)               \
  RK_BINARY_F32(rk_##name##_f32, expression)                   \
  RK_BINARY_INTEGERS(rk_##name##_i32, rk_signed32, expression) \
  RK_BINARY_INTEGERS(rk_##name##_i64, rk_signed64, expression) \
  RK_DISPATCH_TYPES(rk_op_##name, rk_##name##_f32, rk_##name##_i32, rk_##name##_i64)

/// One operand `x`; `zero` is +0 of the same width.
#define RK_ELEMENTWISE_UNARY(name, expression)                                        \
  RK_INLINE rk_u32 rk_op_##name(const rk_op_args* args) {                             \
    if (!rk_same_shape(&args->command->output, &args->command->inputs[0]))            \
      return RK_FAULT_bad_shape;                                                      \
    const rk_u64 length = args->command->output.element_count;                        \
    for (rk_u64 i = args->lane * RK_WIDTH; i < length; i += args->lanes * RK_WIDTH) { \
      if (i + RK_WIDTH <= length) {                                                   \
        const rk_f32x16 zero = rk_splat16(0.0f);                                      \
        (void)zero; /* not every op uses it */                                        \
        const rk_f32x16 x = rk_load16(args->inputs[0] + i);                           \
        rk_store16(args->output + i, expression);                                     \
      } else {                                                                        \
        const rk_f32 zero = 0.0f;                                                     \
        (void)zero;                                                                   \
        for (rk_u64 j = i; j < length; ++j) {                                         \
          const rk_f32 x = args->inputs[0][j];                                        \
          args->output[j] = expression;                                               \
        }                                                                             \
      }                                                                               \
    }                                                                                 \
    return RK_FAULT_NONE;                                                             \
  }

/// The ops on f32 and their expressions: what OP makes of each.
#define RK_NUMERIC_OPS(OP) OP(add, x + y) OP(mul, x* y) OP(sub, x - y)
#define RK_ORDERED_OPS(OP) OP(max, rk_max(x, y)) OP(min, rk_min(x, y))
#define RK_BINARY_OPS(OP) OP(div, x / y)
#define RK_UNARY_OPS(OP)                       \
  OP(relu, rk_where_greater(x, zero, x, zero)) \
  OP(neg, -x)                                  \
  OP(exp, rk_exp(x)) OP(log, rk_log(x)) OP(sqrt, rk_sqrt(x)) OP(tanh, rk_tanh(x)) OP(erf, rk_erf(x))

RK_NUMERIC_OPS(RK_ELEMENTWISE_NUMERIC)
RK_ORDERED_OPS(RK_ELEMENTWISE_ORDERED)
RK_BINARY_OPS(RK_ELEMENTWISE_BINARY)
RK_UNARY_OPS(RK_ELEMENTWISE_UNARY)

#endif
