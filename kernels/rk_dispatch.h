/// From a message to the body of its op. Every operand is checked before any of it is touched, so a
/// hostile command gets a fault and changes nothing.
///
/// Faults and their `fault_detail`:
///   bad_command      the command's offset
///   unknown_op       the op's id
///   bad_operand      which operand: 0.. an input, RK_OPERAND_OUTPUT the output (also: it overlaps
///                    an input)
///   reply_too_small  bytes that the reply would need
///   bad_shape        the op's id
#ifndef RINGKERNEL_RK_DISPATCH_H
#define RINGKERNEL_RK_DISPATCH_H

#include "rk_message.h"

#include "ops/args.h"

#include "ops/conv2d.cl"
#include "ops/elementwise.cl"
#include "ops/matmul.cl"
#include "ops/reduce.cl"
#include "ops/reshape.cl"

/// Ids from protocol/ops.def.
enum rk_op_id {
#define RK_OP(id, name, inputs, attrs, rule) RK_OP_ID_##name = id,
#include "ringkernel/protocol/ops.def"
#undef RK_OP
};

#define RK_OPERAND_OUTPUT RK_INPUTS_MAX
#define RK_OPERAND_ALIGN 64u

RK_INLINE rk_u32 rk_op_noop(const rk_op_args* args) {
  (void)args;
  return RK_FAULT_NONE;
}

/// Whether the operand's own words agree: f32, rank, extents, count. An overflow cannot hide: the
/// product is below 2^32 before each step, or `excess` has noted that it was not.
RK_INLINE rk_u32 rk_operand_is_sound(RK_GLOBAL const rk_operand* operand) {
  rk_u64 count = 1;
  rk_u64 excess = 0;
  rk_u32 padding = 0;
  for (rk_u32 dim = 0; dim < RK_RANK_MAX; ++dim) {
    count *= operand->dims[dim];
    excess |= count >> 32;
    if (dim >= operand->rank) padding |= operand->dims[dim] ^ 1u;
  }
  return operand->dtype == RK_DTYPE_F32 && operand->rank <= RK_RANK_MAX && padding == 0 &&
         excess == 0 && count != 0 && count == operand->element_count &&
         operand->offset % RK_OPERAND_ALIGN == 0 && operand->reserved == 0;
}

RK_INLINE rk_u64 rk_operand_bytes(RK_GLOBAL const rk_operand* operand) {
  return (rk_u64)operand->element_count * 4u;
}

RK_INLINE rk_u32 rk_region_holds(rk_u64 region_bytes, rk_u64 offset, rk_u64 bytes) {
  return offset <= region_bytes && bytes <= region_bytes - offset;
}

RK_INLINE rk_u32 rk_bind_input(rk_message* message, rk_op_args* args, rk_u32 input) {
  RK_GLOBAL const rk_operand* operand = &args->command->inputs[input];
  const rk_u64 bytes = rk_operand_bytes(operand);
  rk_const_bytes region = message->payload;
  rk_u64 region_bytes = message->payload_bytes;
  if (operand->place == RK_PLACE_ARENA) {
    region = message->arena;
    region_bytes = message->arena_bytes;
  }
  message->fault_detail = input;
  if (operand->place != RK_PLACE_MESSAGE && operand->place != RK_PLACE_ARENA)
    return RK_FAULT_bad_operand;
  if (!rk_operand_is_sound(operand)) return RK_FAULT_bad_operand;
  if (!rk_region_holds(region_bytes, operand->offset, bytes)) return RK_FAULT_bad_operand;
  args->inputs[input] = (RK_GLOBAL const rk_f32*)(region + operand->offset);
  return RK_FAULT_NONE;
}

RK_INLINE rk_u32 rk_bind_output(rk_message* message, rk_op_args* args) {
  RK_GLOBAL const rk_operand* operand = &args->command->output;
  const rk_u64 bytes = rk_operand_bytes(operand);
  message->fault_detail = RK_OPERAND_OUTPUT;
  if (!rk_operand_is_sound(operand)) return RK_FAULT_bad_operand;
  if (operand->place == RK_PLACE_MESSAGE) {
    if (!rk_region_holds(message->reply_bytes, operand->offset, bytes)) {
      message->fault_detail = operand->offset + bytes;
      return RK_FAULT_reply_too_small;
    }
    args->output = (RK_GLOBAL rk_f32*)(message->reply + operand->offset);
    return RK_FAULT_NONE;
  }
  if (operand->place != RK_PLACE_ARENA) return RK_FAULT_bad_operand;
  if (!rk_region_holds(message->arena_bytes, operand->offset, bytes)) return RK_FAULT_bad_operand;
  args->output = (RK_GLOBAL rk_f32*)(message->arena + operand->offset);
  return RK_FAULT_NONE;
}

/// An output may be one of the inputs, element for element, but not part of one: then the result
/// would depend on the order of the work. matmul and conv2d, which read elements again, allow
/// neither.
RK_INLINE rk_u32 rk_output_is_separate(const rk_op_args* args, rk_u32 input_count) {
  RK_GLOBAL const rk_f32* out = args->output;
  const rk_u32 out_count = args->command->output.element_count;
  const rk_u32 reads_again =
      args->command->op == RK_OP_ID_matmul || args->command->op == RK_OP_ID_conv2d;
  for (rk_u32 i = 0; i < input_count; ++i) {
    RK_GLOBAL const rk_f32* in = args->inputs[i];
    const rk_u32 in_count = args->command->inputs[i].element_count;
    const rk_u32 overlaps = in < out + out_count && out < in + in_count;
    const rk_u32 is_same = in == out && in_count == out_count;
    if (overlaps && (!is_same || reads_again)) return 0;
  }
  return 1;
}

/// Finds the command and checks that it has the operands that the table says. `attrs` need no
/// check here: a body reads only its own record and checks that.
RK_INLINE rk_u32 rk_bind(rk_message* message, rk_op_args* args) {
  const rk_u32 offset = message->command_offset;
  message->fault_detail = offset;
  if (offset == 0 || offset % 8 != 0 ||
      !rk_region_holds(message->payload_bytes, offset, sizeof(rk_command)))
    return RK_FAULT_bad_command;
  args->command = (RK_GLOBAL const rk_command*)(message->payload + offset);
  rk_u32 input_count = 0;
  switch (args->command->op) {
#define RK_OP(id, name, inputs, attrs, rule) \
  case id:                                   \
    input_count = inputs;                    \
    break;
#include "ringkernel/protocol/ops.def"
#undef RK_OP
    default: message->fault_detail = args->command->op; return RK_FAULT_unknown_op;
  }
  const rk_u32 output_count = args->command->op == RK_OP_ID_noop ? 0 : 1;
  if (args->command->input_count != input_count || args->command->output_count != output_count ||
      args->command->flags != 0 || args->command->reserved != 0)
    return RK_FAULT_bad_command;
  for (rk_u32 input = 0; input < input_count; ++input) {
    const rk_u32 fault = rk_bind_input(message, args, input);
    if (fault != RK_FAULT_NONE) return fault;
  }
  if (output_count == 0) return RK_FAULT_NONE;
  const rk_u32 fault = rk_bind_output(message, args);
  if (fault != RK_FAULT_NONE) return fault;
  return rk_output_is_separate(args, input_count) ? RK_FAULT_NONE : RK_FAULT_bad_operand;
}

/// Executes the message's command as lane `lane` of `lanes`.
RK_INLINE rk_u32 rk_dispatch(rk_message* message, rk_u32 lane, rk_u32 lanes) {
  rk_op_args args;
  args.lane = lane;
  args.lanes = lanes;
  rk_u32 fault = rk_bind(message, &args);
  if (fault != RK_FAULT_NONE) return fault;
  switch (args.command->op) {
#define RK_OP(id, name, inputs, attrs, rule) \
  case id:                                   \
    fault = rk_op_##name(&args);             \
    break;
#include "ringkernel/protocol/ops.def"
#undef RK_OP
    default: fault = RK_FAULT_unknown_op; break;
  }
  message->fault_detail = fault == RK_FAULT_NONE ? 0 : args.command->op;
  return fault;
}

#endif
