/// From a message to the body of its op, or to the commands of a graph. rk_bind.h checks them.
#ifndef RINGKERNEL_RK_DISPATCH_H
#define RINGKERNEL_RK_DISPATCH_H

#include "rk_bind.h"
#include "rk_chain.h"

#include "ops/cast.cl"
#include "ops/compare.cl"
#include "ops/concat.cl"
#include "ops/conv2d.cl"
#include "ops/dot.cl"
#include "ops/gather.cl"
#include "ops/matmul.cl"
#include "ops/max_pool.cl"
#include "ops/reduce.cl"
#include "ops/reduce_max.cl"
#include "ops/reshape.cl"
#include "ops/select.cl"
#include "ops/softmax.cl"
#include "ops/strided.cl"

RK_INLINE rk_u32 rk_op_noop(const rk_op_args* args) {
  (void)args;
  return RK_FAULT_NONE;
}

/// The zeros behind a result of rank 0 in the arena. No input can begin among them, for the
/// alignment of operands, nor reach over them, because it would overlap the result.
RK_INLINE void rk_pad_scalar(const rk_message* message, const rk_op_args* args) {
  RK_GLOBAL const rk_operand* operand = &args->command->output;
  if (args->command->output_count == 0) return; /* noop: nothing is bound */
  if (operand->rank != 0 || args->lane != 0 || rk_output_is_in_reply(message, operand)) return;
  const rk_u32 words = rk_element_words(operand);
  for (rk_u32 word = words; word < RK_SCALAR_ELEMENTS * words; ++word) args->output[word] = 0.0f;
}

/// What a command costs that does not count its own work, in multiply-adds.
RK_INLINE rk_u64 rk_command_work(RK_GLOBAL const rk_command* command) {
  const rk_u64 in = command->inputs[0].element_count;
  const rk_u64 out = command->output.element_count;
  return (in > out ? in : out) * RK_TURN_ELEMENT;
}

/// Executes one command of the table. Not inlined: messages and graphs share it.
RK_NOINLINE rk_u32 rk_run(rk_message* message, rk_op_args* args) {
  rk_u32 fault = rk_bind(message, args);
  if (fault != RK_FAULT_NONE) return fault;
  message->fault_detail = args->command->op;
  args->fault_detail = &message->fault_detail;
  switch (args->command->op) {
#define RK_OP(id, name, inputs, types, attrs, rule, rereads) \
  case id:                                                   \
    fault = rk_op_##name(args);                              \
    break;
#include "ringkernel/protocol/ops.def"
#undef RK_OP
    default: fault = RK_FAULT_unknown_op; break;
  }
  if (fault != RK_FAULT_NONE) return fault;
  rk_turn_work(args->turn, rk_command_work(args->command));
  rk_pad_scalar(message, args);
  message->fault_detail = 0;
  return RK_FAULT_NONE;
}

/// Runs the commands of a graph, until one of them fails. Each is checked like a message's own,
/// with the graph's input as payload and its output as reply, or the places that a table binds;
/// what they give each other lies in the ring kernel's own region, or goes down a chain. One lane
/// only: several would have to wait for each other between the commands. Its turn may be over
/// between two commands, or inside one.
RK_OUTLINE rk_u32 rk_run_graph(rk_message* message, rk_op_args* args) {
  RK_GLOBAL const rk_command* graph = args->command;
  const rk_attrs_graph run = graph->attrs.graph;
  message->fault_detail = message->selector;
  if (args->lanes != 1 || graph->input_count != 1 || graph->output_count > 1 || graph->flags != 0 ||
      graph->reserved != 0 ||
      (graph->output_count != 0 && graph->output.place != RK_PLACE_MESSAGE) ||
      graph->inputs[0].place != RK_PLACE_MESSAGE || run.bindings > RK_GRAPH_BINDINGS_MAX ||
      run.count > RK_GRAPH_COMMANDS_MAX || run.commands % RK_OPERAND_ALIGN != 0 ||
      !rk_region_holds(message->arena_bytes, run.commands, run.count * sizeof(rk_command)) ||
      run.own % RK_OPERAND_ALIGN != 0 || run.own > message->arena_bytes)
    return RK_FAULT_bad_command;
  rk_u32 fault = rk_bind_input(message, args, 0, RK_TYPES_f32);
  if (fault == RK_FAULT_NONE && graph->output_count != 0)
    fault = rk_bind_output(message, args, RK_TYPES_f32);
  if (fault != RK_FAULT_NONE) return fault;
  rk_message inner = *message;
  inner.payload = (rk_const_bytes)args->inputs[0];
  inner.payload_bytes = (rk_u32)rk_operand_bytes(&graph->inputs[0]);
  inner.reply_bytes = 0; /* all its outputs are bound to tensors */
  if (graph->output_count != 0) {
    inner.reply = (rk_bytes)args->output;
    inner.reply_bytes = (rk_u32)rk_operand_bytes(&graph->output);
  }
  inner.own = run.own;
  inner.bindings = 1u + run.bindings;
  message->fault_detail = message->selector;
  if (run.bindings * sizeof(rk_u64) > inner.payload_bytes) return RK_FAULT_bad_command;
  RK_GLOBAL const rk_command* command =
      (RK_GLOBAL const rk_command*)(message->arena + run.commands);
  RK_LOCAL rk_turn* turn = args->turn;
  rk_u32 ran = 1;
  rk_u32 i = turn != 0 ? turn->command : 0;
  for (; i < run.count; i += ran) {
    fault = rk_turn_next(turn, rk_turn_first(turn));
    if (fault != RK_FAULT_NONE) break;
    args->command = command + i;
    if (args->command->output.place == RK_PLACE_CHAIN) {
      fault = rk_run_chain(&inner, args, command + i, run.count - i, &ran);
      if (fault == RK_FAULT_NONE) rk_pad_scalar(&inner, args);
    } else {
      ran = 1;
      fault = rk_run(&inner, args);
    }
    if (fault != RK_FAULT_NONE) break;
    if (turn != 0) turn->step = 0;
  }
  if (turn != 0) turn->command = i;
  message->fault_detail = inner.fault_detail;
  return fault;
}

/// Executes the message's command as lane `lane` of `lanes`.
RK_INLINE rk_u32 rk_dispatch(rk_message* message, rk_u32 lane, rk_u32 lanes) {
  rk_op_args args;
  args.lane = lane;
  args.lanes = lanes;
#if defined(RK_RESUMES)
  args.turn = message->turn;
#else
  args.turn = 0;
#endif
  args.workspace = (RK_GLOBAL rk_f32*)(message->workspace + (rk_u64)lane * RK_WORKSPACE_BYTES);
  const rk_u32 fault = rk_find_command(message, &args);
  if (fault != RK_FAULT_NONE) return fault;
  if (args.command->op == RK_OP_GRAPH) return rk_run_graph(message, &args);
  return rk_run(message, &args);
}

#endif
