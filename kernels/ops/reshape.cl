/// Ops that keep elements in the order in which they lie: copy, reshape, expand_dims, squeeze; and
/// fill.
#ifndef RINGKERNEL_OPS_RESHAPE_CL
#define RINGKERNEL_OPS_RESHAPE_CL

#include "ops/args.h"

RK_INLINE void rk_move_elements(const rk_op_args* args) {
  const rk_u64 count = rk_operand_words(&args->command->output);
  for (rk_u64 i = args->lane * RK_WIDTH; i < count; i += args->lanes * RK_WIDTH) {
    if (i + RK_WIDTH <= count) {
      rk_store16(args->output + i, rk_load16(args->inputs[0] + i));
    } else {
      for (rk_u64 j = i; j < count; ++j) args->output[j] = args->inputs[0][j];
    }
  }
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
  for (rk_u64 i = args->lane * RK_WIDTH; i < count; i += args->lanes * RK_WIDTH) {
    if (i + RK_WIDTH <= count) {
      rk_store16(args->output + i, values);
    } else {
      for (rk_u64 j = i; j < count; ++j) args->output[j] = pattern[j % value_words];
    }
  }
  return RK_FAULT_NONE;
}

#endif
