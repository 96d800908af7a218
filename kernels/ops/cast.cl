/// cast: the same numbers with another element type. To integers towards 0; NaN is 0, and what lies
/// beyond the range becomes its end. To f32 rounded to the nearest, ties to even. From i64 to i32
/// the lower 32 bits.
#ifndef RINGKERNEL_OPS_CAST_CL
#define RINGKERNEL_OPS_CAST_CL

#include "ops/reshape.cl"

/// What C leaves undefined is sorted out before its conversion.
RK_INLINE rk_i32 rk_i32_of_f32(rk_f32 x) {
  if (x >= 2147483648.0f) return 0x7fffffff;
  if (x < -2147483648.0f) return -0x7fffffff - 1;
  return x == x ? (rk_i32)x : 0;
}
RK_INLINE rk_i64 rk_i64_of_f32(rk_f32 x) {
  const rk_i64 most = 0x7fffffffffffffff;
  if (x >= 9223372036854775808.0f) return most;
  if (x < -9223372036854775808.0f) return -most - 1;
  return x == x ? (rk_i64)x : 0;
}

#define RK_CAST(name, FROM, TO, expression)                              \
  RK_INLINE void name(const rk_op_args* args) {                          \
    RK_GLOBAL const FROM* from = (RK_GLOBAL const FROM*)args->inputs[0]; \
    RK_GLOBAL TO* to = (RK_GLOBAL TO*)args->output;                      \
    const rk_u64 count = args->command->output.element_count;            \
    for (rk_u64 i = args->lane; i < count; i += args->lanes) {           \
      const FROM x = from[i];                                            \
      to[i] = expression;                                                \
    }                                                                    \
  }

RK_CAST(rk_cast_f32_i32, rk_f32, rk_signed32, rk_i32_of_f32(x))
RK_CAST(rk_cast_f32_i64, rk_f32, rk_signed64, rk_i64_of_f32(x))
RK_CAST(rk_cast_i32_f32, rk_signed32, rk_f32, (rk_f32)x)
RK_CAST(rk_cast_i32_i64, rk_signed32, rk_signed64, (rk_i64)x)
RK_CAST(rk_cast_i64_f32, rk_signed64, rk_f32, (rk_f32)x)
RK_CAST(rk_cast_i64_i32, rk_element64, rk_element32, (rk_u32)x)

RK_INLINE rk_u32 rk_op_cast(const rk_op_args* args) {
  RK_GLOBAL const rk_operand* in = &args->command->inputs[0];
  RK_GLOBAL const rk_operand* out = &args->command->output;
  if (!rk_same_shape(out, in)) return RK_FAULT_bad_shape;
  switch (in->dtype << 4 | out->dtype) {
    case RK_DTYPE_F32 << 4 | RK_DTYPE_I32: rk_cast_f32_i32(args); break;
    case RK_DTYPE_F32 << 4 | RK_DTYPE_I64: rk_cast_f32_i64(args); break;
    case RK_DTYPE_I32 << 4 | RK_DTYPE_F32: rk_cast_i32_f32(args); break;
    case RK_DTYPE_I32 << 4 | RK_DTYPE_I64: rk_cast_i32_i64(args); break;
    case RK_DTYPE_I64 << 4 | RK_DTYPE_F32: rk_cast_i64_f32(args); break;
    case RK_DTYPE_I64 << 4 | RK_DTYPE_I32: rk_cast_i64_i32(args); break;
    default: rk_move_elements(args); break;
  }
  return RK_FAULT_NONE;
}

#endif
