/// reduce_max: the largest element, NaN if one is NaN, and +0 where the largest is a zero. So the
/// order in which elements meet changes no bit.
#ifndef RINGKERNEL_OPS_REDUCE_MAX_CL
#define RINGKERNEL_OPS_REDUCE_MAX_CL

#include "ops/order.h"
#include "ops/reduce.cl"

/// Of elements that lie side by side.
RK_INLINE rk_f32 rk_max_dense(RK_GLOBAL const rk_f32* from, rk_u64 count) {
  rk_f32 most = from[0];
  rk_u64 i = 1;
  if (count >= 2 * RK_WIDTH) {
    rk_f32x16 left = rk_load16(from);
    rk_f32x16 right = rk_load16(from + RK_WIDTH);
    for (i = 2 * RK_WIDTH; i + 2 * RK_WIDTH <= count; i += 2 * RK_WIDTH) {
      left = rk_max(left, rk_load16(from + i));
      right = rk_max(right, rk_load16(from + i + RK_WIDTH));
    }
    rk_f32 lanes[16];
    rk_store16_private(lanes, rk_max(left, right));
    for (rk_u32 lane = 0; lane < 16u; ++lane) most = rk_max(most, lanes[lane]);
  }
  for (; i < count; ++i) most = rk_max(most, from[i]);
  return most;
}

RK_OUTLINE rk_u32 rk_reduce_max_f32(const rk_op_args* args) {
  rk_odometer kept;
  rk_odometer reduced;
  if (!rk_reduce_split(args->command, &kept, &reduced)) return RK_FAULT_bad_shape;
  const rk_u64 inner = rk_odometer_run(&reduced);
  const rk_u64 inner_step = reduced.rank == 0 ? 0 : reduced.a_strides[0];
  const rk_u64 run = rk_odometer_run(&kept);
  const rk_u64 step = kept.rank == 0 ? 0 : kept.a_strides[0];
  RK_GLOBAL rk_f32* out = args->output;
  rk_u64 unit = 0;
  do {
    RK_GLOBAL const rk_f32* from = args->inputs[0] + kept.a;
    rk_u64 i = 0;
    for (; step == 1 && i + RK_WIDTH <= run; i += RK_WIDTH) {  // 16 neighbours at once
      if (unit++ % args->lanes != args->lane) continue;
      rk_f32x16 most = rk_load16(from + i);
      do {
        for (rk_u64 j = 0; j < inner; ++j)
          most = rk_max(most, rk_load16(from + i + reduced.a + j * inner_step));
      } while (rk_odometer_next(&reduced, 1));
      rk_store16(out + i, most + rk_splat16(0.0f));
    }
    for (; i < run; ++i) {
      if (unit++ % args->lanes != args->lane) continue;
      RK_GLOBAL const rk_f32* first = from + i * step;
      rk_f32 most = first[0];
      do {
        if (inner_step == 1) {
          most = rk_max(most, rk_max_dense(first + reduced.a, inner));
        } else {
          for (rk_u64 j = 0; j < inner; ++j) most = rk_max(most, first[reduced.a + j * inner_step]);
        }
      } while (rk_odometer_next(&reduced, 1));
      out[i] = most + 0.0f;
    }
    out += run;
  } while (rk_odometer_next(&kept, 1));
  return RK_FAULT_NONE;
}

RK_REDUCE_INTEGERS(rk_reduce_max_i32, rk_signed32, from[0], rk_max(result, element))
RK_REDUCE_INTEGERS(rk_reduce_max_i64, rk_signed64, from[0], rk_max(result, element))
RK_DISPATCH_TYPES(rk_op_reduce_max, rk_reduce_max_f32, rk_reduce_max_i32, rk_reduce_max_i64)

#endif
