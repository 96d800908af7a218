/// The checks of a command. Every operand is checked before any of it is touched, so a hostile
/// command gets a fault and changes nothing.
///
/// Faults and their `fault_detail`:
///   bad_command      the command's offset
///   unknown_op       the op's id
///   bad_operand      which operand: 0.. an input, RK_OPERAND_OUTPUT the output (also: it overlaps
///                    an input)
///   reply_too_small  bytes that the reply would need
///   bad_shape        the op's id
///   index_out_of_bounds  see rk_index_fault in ops/args.h
#ifndef RINGKERNEL_RK_BIND_H
#define RINGKERNEL_RK_BIND_H

#include "rk_message.h"

#include "ops/args.h"

/// Ids from protocol/ops.def.
enum rk_op_id {
#define RK_OP(id, name, inputs, types, attrs, rule, rereads) RK_OP_ID_##name = id,
#include "ringkernel/protocol/ops.def"
#undef RK_OP
};

/// Element types of operands and output, as ops.def names them.
enum rk_op_types {
  RK_TYPES_f32,
  RK_TYPES_any,
  RK_TYPES_indexed,
  RK_TYPES_compared,
  RK_TYPES_converted,
  RK_TYPES_selected
};

#define RK_OPERAND_OUTPUT RK_INPUTS_MAX
#define RK_OPERAND_ALIGN 64u

/// Whether operand `operand` of the command, an input or the output, may have its element type
/// beside the first input's (the second's, where the first is a condition).
RK_INLINE rk_u32 rk_dtype_fits(rk_u32 types, RK_GLOBAL const rk_command* command, rk_u32 operand) {
  const rk_u32 is_output = operand == RK_OPERAND_OUTPUT;
  const rk_u32 dtype = is_output ? command->output.dtype : command->inputs[operand].dtype;
  switch (types) {
    case RK_TYPES_f32: return dtype == RK_DTYPE_F32;
    case RK_TYPES_indexed:
      if (operand == 1) return dtype == RK_DTYPE_I32 || dtype == RK_DTYPE_I64;
      break;
    case RK_TYPES_compared:
      if (is_output) return dtype == RK_DTYPE_I32;
      break;
    case RK_TYPES_converted:
      if (is_output) return 1;
      break;
    case RK_TYPES_selected:
      return dtype == (operand == 0 ? RK_DTYPE_I32 : command->inputs[1].dtype);
    default: break;
  }
  return dtype == command->inputs[0].dtype;
}

/// Whether the operand's own words agree: type, rank, extents, count. An overflow cannot hide: the
/// product is below 2^32 before each step, or `excess` has noted that it was not.
RK_INLINE rk_u32 rk_operand_is_sound(RK_GLOBAL const rk_operand* operand) {
  const rk_u32 rank = operand->rank < RK_RANK_MAX ? operand->rank : RK_RANK_MAX;
  rk_u64 count = 1;
  rk_u64 excess = 0;
  for (rk_u32 dim = 0; dim < rank; ++dim) {
    count *= operand->dims[dim];
    excess |= count >> 32;
  }
  rk_u32 padding = 0;
  for (rk_u32 dim = 0; dim < RK_RANK_MAX; ++dim)
    padding |= dim < rank ? 0u : operand->dims[dim] ^ 1u;
  return operand->dtype >= RK_DTYPE_F32 && operand->dtype <= RK_DTYPE_I64 &&
         operand->rank == rank && padding == 0 && excess == 0 && count != 0 &&
         count == operand->element_count && operand->offset % RK_OPERAND_ALIGN == 0;
}

RK_INLINE rk_u64 rk_operand_bytes(RK_GLOBAL const rk_operand* operand) {
  return rk_operand_words(operand) * sizeof(rk_f32);
}

RK_INLINE rk_u32 rk_region_holds(rk_u64 region_bytes, rk_u64 offset, rk_u64 bytes) {
  return offset <= region_bytes && bytes <= region_bytes - offset;
}

/// Where operands of that place begin, and how many bytes there are. 0: no place in the arena.
RK_INLINE rk_u32 rk_find_in_arena(const rk_message* message, rk_u32 place, rk_bytes* region,
                                  rk_u64* bytes) {
  if (place != RK_PLACE_ARENA && place != RK_PLACE_OWN) return 0;
  const rk_u64 begin = place == RK_PLACE_OWN ? message->own : 0;
  *region = message->arena + begin;
  *bytes = message->arena_bytes - begin;
  return 1;
}

/// Where an input or output of a graph lies: an offset, which is a multiple of RK_OPERAND_ALIGN,
/// and the place. As its command says, or as the table of the message says; RK_PLACE_NONE: nowhere.
RK_INLINE rk_u64 rk_look_up(const rk_message* message, RK_GLOBAL const rk_operand* operand) {
  const rk_u32 entry = operand->binding;
  if (operand->place != RK_PLACE_MESSAGE || operand->offset % RK_OPERAND_ALIGN != 0)
    return RK_PLACE_NONE;
  if (message->bindings == 1) return operand->offset | RK_PLACE_MESSAGE; /* there is no table */
  if (entry >= message->bindings) return RK_PLACE_NONE; /* nor a graph, if it is 0 */
  const rk_u64 bound = ((RK_GLOBAL const rk_u64*)message->payload)[entry - 1u];
  const rk_u32 place = (rk_u32)(bound % RK_OPERAND_ALIGN);
  return place == RK_PLACE_MESSAGE || place == RK_PLACE_ARENA ? bound : RK_PLACE_NONE;
}

/// Binds such an input, or the output. By itself, so that the others cost what they would without
/// it.
RK_NOINLINE rk_u32 rk_bind_bound(rk_message* message, rk_op_args* args, rk_u32 which,
                                 rk_u32 types) {
  const rk_u32 is_output = which == RK_OPERAND_OUTPUT;
  RK_GLOBAL const rk_operand* operand =
      is_output ? &args->command->output : &args->command->inputs[which];
  const rk_u64 bound = rk_look_up(message, operand);
  const rk_u32 place = (rk_u32)(bound % RK_OPERAND_ALIGN);
  const rk_u64 offset = bound - place;
  rk_u64 bytes = rk_operand_bytes(operand);
  message->fault_detail = which;
  if (place == RK_PLACE_NONE || !rk_operand_is_sound(operand) ||
      !rk_dtype_fits(types, args->command, which))
    return RK_FAULT_bad_operand;
  if (place == RK_PLACE_ARENA) {
    if (is_output && operand->rank == 0) bytes *= RK_SCALAR_ELEMENTS;
    if (!rk_region_holds(message->arena_bytes, offset, bytes)) return RK_FAULT_bad_operand;
  } else if (!is_output) {
    if (!rk_region_holds(message->payload_bytes, offset, bytes)) return RK_FAULT_bad_operand;
  } else if (!rk_region_holds(message->reply_bytes, offset, bytes)) {
    message->fault_detail = offset + bytes;
    return RK_FAULT_reply_too_small;
  }
  const rk_bytes arena = message->arena + offset;
  if (is_output)
    args->output = (RK_GLOBAL rk_f32*)(place == RK_PLACE_ARENA ? arena : message->reply + offset);
  else
    args->inputs[which] =
        (RK_GLOBAL const rk_f32*)(place == RK_PLACE_ARENA ? (rk_const_bytes)arena
                                                          : message->payload + offset);
  return RK_FAULT_NONE;
}

/// Of a bound output: whether it lies in the reply, which is no place where an operand of this
/// message may lie.
RK_INLINE rk_u32 rk_output_is_in_reply(const rk_message* message,
                                       RK_GLOBAL const rk_operand* output) {
  if (output->place != RK_PLACE_MESSAGE) return 0;
  return output->binding == 0 || rk_look_up(message, output) % RK_OPERAND_ALIGN == RK_PLACE_MESSAGE;
}

RK_INLINE rk_u32 rk_bind_input(rk_message* message, rk_op_args* args, rk_u32 input, rk_u32 types) {
  RK_GLOBAL const rk_operand* operand = &args->command->inputs[input];
  if (operand->binding != 0) return rk_bind_bound(message, args, input, types);
  const rk_u64 bytes = rk_operand_bytes(operand);
  rk_bytes resident = 0;
  rk_u64 region_bytes = message->payload_bytes;
  message->fault_detail = input;
  if (operand->place != RK_PLACE_MESSAGE &&
      !rk_find_in_arena(message, operand->place, &resident, &region_bytes))
    return RK_FAULT_bad_operand;
  const rk_const_bytes region =
      operand->place == RK_PLACE_MESSAGE ? message->payload : (rk_const_bytes)resident;
  if (!rk_operand_is_sound(operand)) return RK_FAULT_bad_operand;
  if (!rk_dtype_fits(types, args->command, input)) return RK_FAULT_bad_operand;
  if (!rk_region_holds(region_bytes, operand->offset, bytes)) return RK_FAULT_bad_operand;
  args->inputs[input] = (RK_GLOBAL const rk_f32*)(region + operand->offset);
  return RK_FAULT_NONE;
}

RK_INLINE rk_u32 rk_bind_output(rk_message* message, rk_op_args* args, rk_u32 types) {
  RK_GLOBAL const rk_operand* operand = &args->command->output;
  if (operand->binding != 0) return rk_bind_bound(message, args, RK_OPERAND_OUTPUT, types);
  const rk_u64 bytes = rk_operand_bytes(operand);
  message->fault_detail = RK_OPERAND_OUTPUT;
  if (!rk_operand_is_sound(operand) || !rk_dtype_fits(types, args->command, RK_OPERAND_OUTPUT))
    return RK_FAULT_bad_operand;
  if (operand->place == RK_PLACE_MESSAGE) {
    if (!rk_region_holds(message->reply_bytes, operand->offset, bytes)) {
      message->fault_detail = operand->offset + bytes;
      return RK_FAULT_reply_too_small;
    }
    args->output = (RK_GLOBAL rk_f32*)(message->reply + operand->offset);
    return RK_FAULT_NONE;
  }
  rk_bytes region = 0;
  rk_u64 region_bytes = 0;
  if (!rk_find_in_arena(message, operand->place, &region, &region_bytes))
    return RK_FAULT_bad_operand;
  const rk_u64 resident_bytes = operand->rank == 0 ? RK_SCALAR_ELEMENTS * bytes : bytes;
  if (!rk_region_holds(region_bytes, operand->offset, resident_bytes)) return RK_FAULT_bad_operand;
  args->output = (RK_GLOBAL rk_f32*)(region + operand->offset);
  return RK_FAULT_NONE;
}

/// What ops.def says in its column `rereads`: nothing is the safe answer.
enum rk_op_rereads { RK_REREADS_no = 0, RK_REREADS_ = 1 };

/// Whether the op may read elements of an input after it has written others in their order.
RK_INLINE rk_u32 rk_op_rereads(rk_u32 op) {
  switch (op) {
#define RK_OP(id, name, inputs, operand_types, attrs, rule, rereads) \
  case id:                                                           \
    return RK_REREADS_##rereads;
#include "ringkernel/protocol/ops.def"
#undef RK_OP
    default: return 1;
  }
}

/// An output may be one of the inputs, element for element, but not part of one: then the result
/// would depend on the order of the work. An op that reads again allows neither.
RK_INLINE rk_u32 rk_output_is_separate(const rk_op_args* args, rk_u32 input_count) {
  RK_GLOBAL const rk_f32* out = args->output;
  const rk_u64 out_words = rk_operand_words(&args->command->output);
  for (rk_u32 i = 0; i < input_count; ++i) {
    RK_GLOBAL const rk_f32* in = args->inputs[i];
    const rk_u64 in_words = rk_operand_words(&args->command->inputs[i]);
    const rk_u32 overlaps = in < out + out_words && out < in + in_words;
    const rk_u32 is_same =
        in == out && in_words == out_words &&
        rk_element_words(&args->command->inputs[i]) == rk_element_words(&args->command->output);
    if (overlaps && (!is_same || rk_op_rereads(args->command->op))) return 0;
  }
  return 1;
}

/// Finds the message's command.
RK_INLINE rk_u32 rk_find_command(rk_message* message, rk_op_args* args) {
  const rk_u32 offset = message->selector;
  message->fault_detail = offset;
  if (offset == 0 || offset % 8 != 0 ||
      !rk_region_holds(message->payload_bytes, offset, sizeof(rk_command)))
    return RK_FAULT_bad_command;
  args->command = (RK_GLOBAL const rk_command*)(message->payload + offset);
  return RK_FAULT_NONE;
}

/// Checks that the command has as many operands as the table says.
RK_INLINE rk_u32 rk_bind_counts(rk_message* message, rk_op_args* args, rk_u32* types) {
  message->fault_detail = message->selector;
  rk_u32 input_count = 0;
  switch (args->command->op) {
#define RK_OP(id, name, inputs, operand_types, attrs, rule, rereads) \
  case id:                                                           \
    input_count = inputs;                                            \
    *types = RK_TYPES_##operand_types;                               \
    break;
#include "ringkernel/protocol/ops.def"
#undef RK_OP
    default: message->fault_detail = args->command->op; return RK_FAULT_unknown_op;
  }
  const rk_u32 output_count = args->command->op == RK_OP_ID_noop ? 0 : 1;
  if (args->command->input_count != input_count || args->command->output_count != output_count ||
      args->command->flags != 0 || args->command->reserved != 0)
    return RK_FAULT_bad_command;
  return RK_FAULT_NONE;
}

/// Checks that the command has the operands that the table says. `attrs` need no check here: a body
/// reads only its own record and checks that.
RK_INLINE rk_u32 rk_bind(rk_message* message, rk_op_args* args) {
  rk_u32 types = RK_TYPES_f32;
  const rk_u32 bad = rk_bind_counts(message, args, &types);
  if (bad != RK_FAULT_NONE) return bad;
  const rk_u32 input_count = args->command->input_count;
  for (rk_u32 input = 0; input < input_count; ++input) {
    const rk_u32 fault = rk_bind_input(message, args, input, types);
    if (fault != RK_FAULT_NONE) return fault;
  }
  if (args->command->output_count == 0) return RK_FAULT_NONE;
  const rk_u32 fault = rk_bind_output(message, args, types);
  if (fault != RK_FAULT_NONE) return fault;
  if (rk_output_is_in_reply(message, &args->command->output)) return RK_FAULT_NONE;
  return rk_output_is_separate(args, input_count) ? RK_FAULT_NONE : RK_FAULT_bad_operand;
}

#endif
