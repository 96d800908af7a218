/// What the body of an op gets. Dispatch has checked each operand by itself: it lies in memory that
/// the op may touch, is f32, aligned to 64 bytes, and its element count is the product of its
/// extents. The body checks that the shapes fit each other (RK_FAULT_bad_shape).
///
/// A body is lane-strided: lane `lane` of `lanes` writes its share of the output, no lane writes
/// what another one writes, and the bits of the result do not depend on `lanes`.
#ifndef RINGKERNEL_OPS_ARGS_H
#define RINGKERNEL_OPS_ARGS_H

#include "ringkernel/protocol/command.h"

/// Elements of a vector, 64-bit so that counters of elements do not overflow.
#define RK_WIDTH ((rk_u64)16)

typedef struct rk_op_args {
  RK_GLOBAL const rk_command* command;
  RK_GLOBAL const rk_f32* inputs[RK_INPUTS_MAX];
  RK_GLOBAL rk_f32* output;
  rk_u32 lane;
  rk_u32 lanes;
} rk_op_args;

RK_INLINE rk_u32 rk_same_shape(RK_GLOBAL const rk_operand* a, RK_GLOBAL const rk_operand* b) {
  rk_u32 difference = (rk_u32)(a->rank ^ b->rank);
  for (rk_u32 dim = 0; dim < RK_RANK_MAX; ++dim) difference |= a->dims[dim] ^ b->dims[dim];
  return difference == 0;
}

#endif
