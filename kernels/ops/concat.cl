/// concat: the second operand behind the first, along the one dim in which the output is longer.
#ifndef RINGKERNEL_OPS_CONCAT_CL
#define RINGKERNEL_OPS_CONCAT_CL

#include "ops/args.h"

RK_INLINE rk_u32 rk_op_concat(const rk_op_args* args) {
  RK_GLOBAL const rk_operand* out = &args->command->output;
  RK_GLOBAL const rk_operand* a = &args->command->inputs[0];
  RK_GLOBAL const rk_operand* b = &args->command->inputs[1];
  if (a->rank != out->rank || b->rank != out->rank) return RK_FAULT_bad_shape;
  rk_u32 axis = 0;
  while (axis < out->rank && a->dims[axis] == out->dims[axis]) ++axis;
  if (axis == out->rank || (rk_u64)a->dims[axis] + b->dims[axis] != out->dims[axis])
    return RK_FAULT_bad_shape;
  rk_u64 outer = 1;
  for (rk_u32 dim = 0; dim < out->rank; ++dim) {
    if (dim == axis) continue;
    if (a->dims[dim] != out->dims[dim] || b->dims[dim] != out->dims[dim]) return RK_FAULT_bad_shape;
    if (dim < axis) outer *= out->dims[dim];
  }
  const rk_u64 a_words = rk_operand_words(a) / outer;
  const rk_u64 b_words = rk_operand_words(b) / outer;
  RK_GLOBAL rk_f32* to = args->output;
  rk_u64 unit = 0;
  for (rk_u64 i = 0; i < outer; ++i) {
    if (unit++ % args->lanes == args->lane)
      rk_move_words(to, args->inputs[0] + i * a_words, a_words);
    to += a_words;
    if (unit++ % args->lanes == args->lane)
      rk_move_words(to, args->inputs[1] + i * b_words, b_words);
    to += b_words;
  }
  return RK_FAULT_NONE;
}

#endif
