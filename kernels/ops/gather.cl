/// gather: rows of the first operand, which are its parts along dim 0, in the order of the indices.
#ifndef RINGKERNEL_OPS_GATHER_CL
#define RINGKERNEL_OPS_GATHER_CL

#include "ops/args.h"

RK_INLINE rk_i64 rk_gather_index(const rk_op_args* args, rk_u64 position) {
  RK_GLOBAL const rk_f32* words = args->inputs[1];
  if (args->command->inputs[1].dtype == RK_DTYPE_I64)
    return (rk_i64)((RK_GLOBAL const rk_element64*)words)[position];
  return (rk_i32)((RK_GLOBAL const rk_element32*)words)[position];
}

RK_INLINE rk_u32 rk_gather_fits(RK_GLOBAL const rk_operand* out, RK_GLOBAL const rk_operand* in,
                                RK_GLOBAL const rk_operand* indices) {
  if (in->rank == 0 || out->rank != indices->rank + in->rank - 1u) return 0;
  rk_u32 difference = 0;
  for (rk_u32 dim = 0; dim < indices->rank; ++dim)
    difference |= out->dims[dim] ^ indices->dims[dim];
  for (rk_u32 dim = 1; dim < in->rank; ++dim)
    difference |= out->dims[indices->rank + dim - 1u] ^ in->dims[dim];
  return difference == 0;
}

RK_INLINE rk_u32 rk_op_gather(const rk_op_args* args) {
  RK_GLOBAL const rk_operand* in = &args->command->inputs[0];
  RK_GLOBAL const rk_operand* indices = &args->command->inputs[1];
  if (!rk_gather_fits(&args->command->output, in, indices)) return RK_FAULT_bad_shape;
  for (rk_u64 i = 0; i < indices->element_count; ++i) {  // all of them, before anything is written
    const rk_i64 index = rk_gather_index(args, i);
    if (index < 0 || index >= in->dims[0]) return rk_index_fault(args, i, index);
  }
  const rk_u64 words = rk_operand_words(in) / in->dims[0];
  for (rk_u64 i = args->lane; i < indices->element_count; i += args->lanes)
    rk_move_words(args->output + i * words,
                  args->inputs[0] + (rk_u64)rk_gather_index(args, i) * words, words);
  return RK_FAULT_NONE;
}

#endif
