/// compare: 1 where it holds, else 0, as i32. A NaN is neither less than, equal to nor greater than
/// anything, so that it is only not equal.
#ifndef RINGKERNEL_OPS_COMPARE_CL
#define RINGKERNEL_OPS_COMPARE_CL

#include "ops/elementwise.cl"

/// What the comparison makes of each of the ways in which two elements can lie.
typedef struct rk_verdicts {
  rk_u32 less;
  rk_u32 equal;
  rk_u32 greater;
  rk_u32 unordered;
} rk_verdicts;

RK_INLINE rk_verdicts rk_compare_verdicts(rk_u32 comparison) {
  rk_verdicts verdicts;
  const rk_u32 differs = comparison == RK_COMPARE_NOT_EQUAL;
  verdicts.less = differs || comparison >= RK_COMPARE_LESS;
  verdicts.equal = comparison == RK_COMPARE_EQUAL || comparison == RK_COMPARE_LESS_EQUAL;
  verdicts.greater = differs;
  verdicts.unordered = differs;
  return verdicts;
}

/// The verdicts travel as the bits of floats, which no arithmetic touches.
RK_OUTLINE rk_u32 rk_compare_f32(const rk_op_args* args, rk_verdicts verdicts) {
  rk_odometer walk;
  const rk_u32 fault = rk_elementwise_begin(args, &walk);
  if (fault != RK_FAULT_NONE) return fault;
  const rk_u64 length = rk_odometer_run(&walk);
  const rk_u64 a_step = walk.rank == 0 ? 0 : walk.a_strides[0];
  const rk_u64 b_step = walk.rank == 0 ? 0 : walk.b_strides[0];
  const rk_f32x16 less = rk_splat16(rk_from_bits(verdicts.less));
  const rk_f32x16 equal = rk_splat16(rk_from_bits(verdicts.equal));
  const rk_f32x16 greater = rk_splat16(rk_from_bits(verdicts.greater));
  const rk_f32x16 unordered = rk_splat16(rk_from_bits(verdicts.unordered));
  RK_GLOBAL rk_f32* out = args->output;
  do {
    RK_GLOBAL const rk_f32* a = args->inputs[0] + walk.a;
    RK_GLOBAL const rk_f32* b = args->inputs[1] + walk.b;
    rk_u64 i = args->lane * RK_WIDTH;
    for (; i + RK_WIDTH <= length; i += args->lanes * RK_WIDTH) {
      const rk_f32x16 x = a_step != 0 ? rk_load16(a + i) : rk_splat16(a[0]);
      const rk_f32x16 y = b_step != 0 ? rk_load16(b + i) : rk_splat16(b[0]);
      const rk_f32x16 ordered = rk_where_nan(x, unordered, rk_where_nan(y, unordered, equal));
      rk_store16(out + i, rk_where_greater(x, y, greater, rk_where_greater(y, x, less, ordered)));
    }
    for (; i < length; ++i) {
      const rk_f32 x = a[i * a_step];
      const rk_f32 y = b[i * b_step];
      ((RK_GLOBAL rk_element32*)out)[i] = x > y    ? verdicts.greater
                                          : x < y  ? verdicts.less
                                          : x == y ? verdicts.equal
                                                   : verdicts.unordered;
    }
    out += length;
  } while (rk_odometer_next(&walk, 1));
  return RK_FAULT_NONE;
}

#define RK_COMPARE_INTEGERS(name, TYPE)                                             \
  RK_OUTLINE rk_u32 name(const rk_op_args* args, rk_verdicts verdicts) {            \
    rk_odometer walk;                                                               \
    const rk_u32 fault = rk_elementwise_begin(args, &walk);                         \
    if (fault != RK_FAULT_NONE) return fault;                                       \
    const rk_u64 length = rk_odometer_run(&walk);                                   \
    const rk_u64 a_step = walk.rank == 0 ? 0 : walk.a_strides[0];                   \
    const rk_u64 b_step = walk.rank == 0 ? 0 : walk.b_strides[0];                   \
    RK_GLOBAL rk_element32* out = (RK_GLOBAL rk_element32*)args->output;            \
    do {                                                                            \
      RK_GLOBAL const TYPE* a = (RK_GLOBAL const TYPE*)args->inputs[0] + walk.a;    \
      RK_GLOBAL const TYPE* b = (RK_GLOBAL const TYPE*)args->inputs[1] + walk.b;    \
      for (rk_u64 i = args->lane; i < length; i += args->lanes) {                   \
        const TYPE x = a[i * a_step];                                               \
        const TYPE y = b[i * b_step];                                               \
        out[i] = x > y ? verdicts.greater : x < y ? verdicts.less : verdicts.equal; \
      }                                                                             \
      out += length;                                                                \
    } while (rk_odometer_next(&walk, 1));                                           \
    return RK_FAULT_NONE;                                                           \
  }

RK_COMPARE_INTEGERS(rk_compare_i32, rk_signed32)
RK_COMPARE_INTEGERS(rk_compare_i64, rk_signed64)

RK_INLINE rk_u32 rk_op_compare(const rk_op_args* args) {
  const rk_u32 comparison = args->command->attrs.compare.comparison;
  if (comparison > RK_COMPARE_LESS_EQUAL) return RK_FAULT_bad_shape;
  const rk_verdicts verdicts = rk_compare_verdicts(comparison);
  switch (args->command->inputs[0].dtype) {
    case RK_DTYPE_I32: return rk_compare_i32(args, verdicts);
    case RK_DTYPE_I64: return rk_compare_i64(args, verdicts);
    default: return rk_compare_f32(args, verdicts);
  }
}

#endif
