/// softmax: exp(x - the largest), divided by the sum of that, along the masked dims. Bit for bit
/// what reduce_max, sub, exp, sum and div give one after the other.
#ifndef RINGKERNEL_OPS_SOFTMAX_CL
#define RINGKERNEL_OPS_SOFTMAX_CL

#include "ops/reduce_max.cl"
#include "ops/sqrt_tanh_erf.h"

/// `count` elements that lie side by side.
RK_INLINE void rk_softmax_dense(RK_GLOBAL rk_f32* to, RK_GLOBAL const rk_f32* from, rk_u64 count) {
  const rk_f32x16 most = rk_splat16(rk_max_dense(from, count));
  if (count <= RK_WIDTH) {
    const rk_f32x16 powers = rk_exp(rk_load_part16(from, count) - most);
    rk_f32 lanes[16];
    rk_store16_private(lanes, powers);
    for (rk_u64 i = count; i < RK_WIDTH; ++i) lanes[i] = 0.0f;
    const rk_f32 total = rk_sum_halves16(rk_load16_private(lanes));
    rk_store_part16(to, count, powers / rk_splat16(total));
    return;
  }
  for (rk_u64 i = 0; i < count; i += RK_WIDTH)
    rk_store_part16(to + i, count - i, rk_exp(rk_load_part16(from + i, count - i) - most));
  const rk_f32x16 sum = rk_splat16(rk_sum_dense(to, count));
  for (rk_u64 i = 0; i < count; i += RK_WIDTH)
    rk_store_part16(to + i, count - i, rk_load_part16(to + i, count - i) / sum);
}

/// `count` elements wherever `reduced` leads; it ends where it began.
RK_INLINE void rk_softmax_scattered(RK_GLOBAL rk_f32* to, RK_GLOBAL const rk_f32* from,
                                    rk_odometer* reduced, rk_u64 count) {
  rk_f32 most = from[0];
  do {
    most = rk_max(most, from[reduced->a]);
  } while (rk_odometer_next(reduced, 0));
  do {
    to[reduced->a] = rk_exp(from[reduced->a] - most);
  } while (rk_odometer_next(reduced, 0));
  const rk_f32 sum = rk_sum_scattered(to, reduced, count);
  do {
    to[reduced->a] = to[reduced->a] / sum;
  } while (rk_odometer_next(reduced, 0));
}

/// The same for 16 that lie side by side.
RK_INLINE void rk_softmax_scattered16(RK_GLOBAL rk_f32* to, RK_GLOBAL const rk_f32* from,
                                      rk_odometer* reduced, rk_u64 count,
                                      RK_GLOBAL rk_f32* workspace) {
  rk_f32x16 most = rk_load16(from);
  do {
    most = rk_max(most, rk_load16(from + reduced->a));
  } while (rk_odometer_next(reduced, 0));
  do {
    rk_store16(to + reduced->a, rk_exp(rk_load16(from + reduced->a) - most));
  } while (rk_odometer_next(reduced, 0));
  const rk_f32x16 sum = rk_sum_scattered16(to, reduced, count, workspace);
  do {
    rk_store16(to + reduced->a, rk_load16(to + reduced->a) / sum);
  } while (rk_odometer_next(reduced, 0));
}

RK_OUTLINE rk_u32 rk_op_softmax(const rk_op_args* args) {
  rk_odometer kept;
  rk_odometer reduced;
  RK_GLOBAL const rk_operand* in = &args->command->inputs[0];
  const rk_u32 mask = args->command->attrs.reduce.axis_mask;
  if (!rk_same_shape(&args->command->output, in) || !rk_split_axes(in, mask, &kept, &reduced))
    return RK_FAULT_bad_shape;
  rk_u64 count = 1;
  for (rk_u32 dim = 0; dim < reduced.rank; ++dim) count *= reduced.extents[dim];
  // A GPU goes element by element: parts of vectors would be private memory of each work-item.
  const rk_u32 is_dense =
      !RK_IS_GPU && (reduced.rank == 0 || (reduced.rank == 1 && reduced.a_strides[0] == 1));
  const rk_u64 run = rk_odometer_run(&kept);
  const rk_u64 step = kept.rank == 0 ? 0 : kept.a_strides[0];
  const rk_u32 is_wide = !RK_IS_GPU && step == 1;
  rk_u64 unit = 0;
  do {
    RK_GLOBAL const rk_f32* from = args->inputs[0] + kept.a;
    RK_GLOBAL rk_f32* to = args->output + kept.a;
    rk_u64 i = 0;
    for (; is_wide && i + RK_WIDTH <= run; i += RK_WIDTH) {
      if (unit++ % args->lanes != args->lane) continue;
      rk_turn_set_packed(args->turn, 0);
      rk_softmax_scattered16(to + i, from + i, &reduced, count, args->workspace);
    }
    for (; i < run; ++i) {
      if (unit++ % args->lanes != args->lane) continue;
      if (is_dense)
        rk_softmax_dense(to + i * step, from + i * step, count);
      else
        rk_softmax_scattered(to + i * step, from + i * step, &reduced, count);
    }
  } while (rk_odometer_next(&kept, 1));
  return RK_FAULT_NONE;
}

#endif
