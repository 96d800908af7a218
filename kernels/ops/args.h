/// What the body of an op gets. Dispatch has checked each operand by itself: it lies in memory that
/// the op may touch, has an element type that the table allows, is aligned to 64 bytes, and its
/// element count is the product of its extents; so does the output. The body checks that the shapes
/// fit each other (RK_FAULT_bad_shape).
///
/// Whatever the type, operands come as words of 32 bits, f32 by name: an op that only moves
/// elements moves words and never looks at the type. An i64 is two words.
///
/// A body is lane-strided: lane `lane` of `lanes` writes its share of the output, no lane writes
/// what another one writes, and the bits of the result do not depend on `lanes`.
///
/// A body that may take long works in steps (rk_turn.h): it returns RK_AGAIN where its turn is
/// over, and goes on from there when it is called again. No bit of the result depends on where.
///
/// A body keeps at most 1 KiB in private memory, that of what it calls included. Whatever is larger
/// lies in the workspace.
#ifndef RINGKERNEL_OPS_ARGS_H
#define RINGKERNEL_OPS_ARGS_H

#include "ringkernel/protocol/command.h"
#include "rk_turn.h"
#include "rk_workspace.h"

/// Elements of a vector, 64-bit so that counters of elements do not overflow.
#define RK_WIDTH ((rk_u64)16)

typedef struct rk_op_args {
  RK_GLOBAL const rk_command* command;
  RK_GLOBAL const rk_f32* inputs[RK_INPUTS_MAX];
  RK_GLOBAL rk_f32* output;
  RK_GLOBAL rk_f32* workspace; /* this lane's, RK_WORKSPACE_BYTES; an op may leave anything there */
  rk_u32 lane;
  rk_u32 lanes;
  /* Null: the op runs to its end, as with several lanes. Not beside `workspace`: a compiler would
     copy the two as one vector, and wait until both of the message's words are stored. */
  RK_LOCAL rk_turn* turn;
  rk_u64* fault_detail; /* holds the op's id; index_out_of_bounds has another */
} rk_op_args;

/// Integer elements for arithmetic: unsigned, so that sums and products wrap, and allowed to be the
/// words that another op moved.
typedef rk_u32 __attribute__((may_alias)) rk_element32;
typedef rk_u64 __attribute__((may_alias)) rk_element64;
/// The same for what depends on the sign.
typedef rk_i32 __attribute__((may_alias)) rk_signed32;
typedef rk_i64 __attribute__((may_alias)) rk_signed64;

/// Words of one element.
RK_INLINE rk_u32 rk_element_words(RK_GLOBAL const rk_operand* operand) {
  return operand->dtype == RK_DTYPE_I64 ? 2 : 1;
}

RK_INLINE rk_u64 rk_operand_words(RK_GLOBAL const rk_operand* operand) {
  return (rk_u64)operand->element_count * rk_element_words(operand);
}

/// Copies words that lie side by side.
RK_INLINE void rk_move_words(RK_GLOBAL rk_f32* to, RK_GLOBAL const rk_f32* from, rk_u64 words) {
  rk_u64 i = 0;
  for (; i + RK_WIDTH <= words; i += RK_WIDTH) rk_store16(to + i, rk_load16(from + i));
  for (; i < words; ++i) to[i] = from[i];
}

/// The first `count` of 16 elements, and zeros.
RK_INLINE rk_f32x16 rk_load_part16(RK_GLOBAL const rk_f32* from, rk_u64 count) {
  if (count >= RK_WIDTH) return rk_load16(from);
  rk_f32 elements[16];
  for (rk_u64 i = 0; i < RK_WIDTH; ++i) elements[i] = i < count ? from[i] : 0.0f;
  return rk_load16_private(elements);
}

/// Stores the first `count` of 16 elements.
RK_INLINE void rk_store_part16(RK_GLOBAL rk_f32* to, rk_u64 count, rk_f32x16 value) {
  if (count >= RK_WIDTH) {
    rk_store16(to, value);
    return;
  }
  rk_f32 elements[16];
  rk_store16_private(elements, value);
  for (rk_u64 i = 0; i < count; ++i) to[i] = elements[i];
}

/// The fault of an index that lies outside. The detail has the index's position in its upper half
/// and in the lower one the index itself, or the nearest number that 32 bits hold.
RK_INLINE rk_u32 rk_index_fault(const rk_op_args* args, rk_u64 position, rk_i64 index) {
  const rk_i64 low = -(rk_i64)0x80000000;
  const rk_i64 high = 0x7fffffff;
  const rk_i64 near = index < low ? low : index > high ? high : index;
  *args->fault_detail = position << 32 | ((rk_u64)near & 0xffffffffu);
  return RK_FAULT_index_out_of_bounds;
}

RK_INLINE rk_u32 rk_same_shape(RK_GLOBAL const rk_operand* a, RK_GLOBAL const rk_operand* b) {
  rk_u32 difference = (rk_u32)(a->rank ^ b->rank);
  for (rk_u32 dim = 0; dim < RK_RANK_MAX; ++dim) difference |= a->dims[dim] ^ b->dims[dim];
  return difference == 0;
}

/// An op from what it does for each element type. The names come whole: `max` by itself is a macro
/// of some drivers.
#define RK_DISPATCH_TYPES(op, f32_body, i32_body, i64_body) \
  RK_INLINE rk_u32 op(const rk_op_args* args) {             \
    switch (args->command->output.dtype) {                  \
      case RK_DTYPE_I32: return i32_body(args);             \
      case RK_DTYPE_I64: return i64_body(args);             \
      default: return f32_body(args);                       \
    }                                                       \
  }

#endif
