/// select: an element of the second operand where the condition, the first, is not 0, and of the
/// third elsewhere. All three broadcast to the output, which is walked row by row.
#ifndef RINGKERNEL_OPS_SELECT_CL
#define RINGKERNEL_OPS_SELECT_CL

#include "ops/args.h"

/// Extent of the operand that stands for dim `inner` of the output, counted from the innermost.
RK_INLINE rk_u32 rk_aligned_extent(RK_GLOBAL const rk_operand* operand, rk_u32 inner) {
  return inner < operand->rank ? operand->dims[operand->rank - 1u - inner] : 1;
}

/// Whether the output is the broadcast of the three.
RK_INLINE rk_u32 rk_select_fits(RK_GLOBAL const rk_command* command) {
  RK_GLOBAL const rk_operand* out = &command->output;
  rk_u32 rank = 0;
  for (rk_u32 i = 0; i < 3; ++i)
    rank = command->inputs[i].rank > rank ? command->inputs[i].rank : rank;
  if (out->rank != rank) return 0;
  for (rk_u32 inner = 0; inner < rank; ++inner) {
    const rk_u32 extent = rk_aligned_extent(out, inner);
    rk_u32 longest = 1;
    for (rk_u32 i = 0; i < 3; ++i) {
      const rk_u32 own = rk_aligned_extent(&command->inputs[i], inner);
      if (own != 1 && own != extent) return 0;
      longest = own > longest ? own : longest;
    }
    if (longest != extent) return 0;
  }
  return 1;
}

/// Where row `row` of the output begins in the operand, in elements.
RK_INLINE rk_u64 rk_row_in(RK_GLOBAL const rk_operand* operand, RK_GLOBAL const rk_operand* out,
                           rk_u64 row) {
  rk_u64 offset = 0;
  rk_u64 stride = rk_aligned_extent(operand, 0);
  for (rk_u32 inner = 1; inner < out->rank; ++inner) {
    const rk_u32 extent = rk_aligned_extent(out, inner);
    const rk_u32 own = rk_aligned_extent(operand, inner);
    if (own != 1) offset += row % extent * stride;
    row /= extent;
    stride *= own;
  }
  return offset;
}

/// A row of `length` elements from where each operand's row begins; a step is 0 or 1.
#define RK_SELECT_ROW(name, TYPE)                                                                \
  RK_INLINE void name(const rk_op_args* args, rk_u64 to, const rk_u64* from, const rk_u64* step, \
                      rk_u64 length) {                                                           \
    RK_GLOBAL TYPE* out = (RK_GLOBAL TYPE*)args->output + to;                                    \
    RK_GLOBAL const rk_signed32* condition =                                                     \
        (RK_GLOBAL const rk_signed32*)args->inputs[0] + from[0];                                 \
    RK_GLOBAL const TYPE* a = (RK_GLOBAL const TYPE*)args->inputs[1] + from[1];                  \
    RK_GLOBAL const TYPE* b = (RK_GLOBAL const TYPE*)args->inputs[2] + from[2];                  \
    for (rk_u64 i = args->lane; i < length; i += args->lanes)                                    \
      out[i] = condition[i * step[0]] != 0 ? a[i * step[1]] : b[i * step[2]];                    \
  }

RK_SELECT_ROW(rk_select_row32, rk_element32)
RK_SELECT_ROW(rk_select_row64, rk_element64)

RK_OUTLINE rk_u32 rk_op_select(const rk_op_args* args) {
  RK_GLOBAL const rk_operand* out = &args->command->output;
  if (!rk_select_fits(args->command)) return RK_FAULT_bad_shape;
  rk_u32 is_one_row = 1;
  for (rk_u32 i = 0; i < 3; ++i) {
    RK_GLOBAL const rk_operand* operand = &args->command->inputs[i];
    is_one_row &= rk_same_shape(operand, out) || operand->element_count == 1;
  }
  const rk_u64 length = is_one_row ? out->element_count : rk_aligned_extent(out, 0);
  const rk_u64 rows = out->element_count / length;
  for (rk_u64 row = 0; row < rows; ++row) {
    rk_u64 from[3];
    rk_u64 step[3];
    for (rk_u32 i = 0; i < 3; ++i) {
      RK_GLOBAL const rk_operand* operand = &args->command->inputs[i];
      from[i] = is_one_row ? 0 : rk_row_in(operand, out, row);
      step[i] = is_one_row ? operand->element_count != 1 : rk_aligned_extent(operand, 0) != 1;
    }
    if (rk_element_words(out) == 2)
      rk_select_row64(args, row * length, from, step, length);
    else
      rk_select_row32(args, row * length, from, step, length);
  }
  return RK_FAULT_NONE;
}

#endif
