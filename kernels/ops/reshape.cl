/// Ops that keep elements in the order in which they lie: copy, reshape, expand_dims, squeeze; and
/// fill.
#ifndef RINGKERNEL_OPS_RESHAPE_CL
#define RINGKERNEL_OPS_RESHAPE_CL

#include "ops/args.h"

RK_INLINE void rk_move_elements(const rk_op_args* args) {
  const rk_u64 count = rk_operand_words(&args->command->output);
  const rk_u64 stride = args->lanes * RK_WIDTH;
  RK_GLOBAL const rk_f32* from = args->inputs[0];
  RK_GLOBAL rk_f32* to = args->output;
  rk_u64 i = args->lane * RK_WIDTH;
  for (; i + RK_WIDTH <= count; i += stride) rk_store16(to + i, rk_load16(from + i));
  for (rk_u64 j = i; j < count; ++j) to[j] = from[j];
}

RK_INLINE rk_u32 rk_op_copy(const rk_op_args* args) {
  if (!rk_same_shape(&args->command->output, &args->command->inputs[0])) return RK_FAULT_bad_shape;
  rk_move_elements(args);
  return RK_FAULT_NONE;
}

RK_INLINE rk_u32 rk_op_reshape(const rk_op_args* args) {
  if (args->command->output.element_count != args->command->inputs[0].element_count)
    return RK_FAULT_bad_shape;
  rk_move_elements(args);
  return RK_FAULT_NONE;
}

RK_INLINE rk_u32 rk_op_expand_dims(const rk_op_args* args) { return rk_op_reshape(args); }
RK_INLINE rk_u32 rk_op_squeeze(const rk_op_args* args) { return rk_op_reshape(args); }

RK_INLINE rk_u32 rk_op_fill(const rk_op_args* args) {
  const rk_u64 count = rk_operand_words(&args->command->output);
  const rk_u32 value_words = rk_element_words(&args->command->output);
  rk_f32 pattern[RK_WIDTH];
  for (rk_u32 i = 0; i < RK_WIDTH; ++i) pattern[i] = args->inputs[0][i % value_words];
  const rk_f32x16 values = rk_load16_private(pattern);
  const rk_u64 stride = args->lanes * RK_WIDTH;
  RK_GLOBAL rk_f32* to = args->output;
  rk_u64 i = args->lane * RK_WIDTH;
  for (; i + RK_WIDTH <= count; i += stride) rk_store16(to + i, values);
  for (rk_u64 j = i; j < count; ++j) to[j] = pattern[j - i];
  return RK_FAULT_NONE;
}

#endif
