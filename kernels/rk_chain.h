/// Chains: elementwise f32 ops of a graph that hand their values on in vectors, not by memory.
///
/// A chain is a run of commands, each but the last with an output of place RK_PLACE_CHAIN
/// (protocol/command.h). It starts with a tensor of the outputs' shape; each command computes on
/// the value so far and, if its op has two inputs, on one operand more. All of them are done for
/// 128 elements before the next 128 are loaded. A vector op rounds each element as the op by itself
/// does, so the results have the same bits.
#ifndef RINGKERNEL_RK_CHAIN_H
#define RINGKERNEL_RK_CHAIN_H

#include "rk_bind.h"

#include "ops/elementwise.cl"

/// How a command reads its other operand.
#define RK_INPUT_NONE 0u  /* its op has one input */
#define RK_INPUT_CHAIN 1u /* the value so far */
#define RK_INPUT_WHOLE 2u /* a tensor of the outputs' shape */
#define RK_INPUT_ROW 3u   /* one that repeats for each row */
#define RK_INPUT_ONE 4u   /* one element */

/// Beside the id of an op: the value so far is its second input.
#define RK_LINK_SWAPPED 0x10000u

typedef struct rk_link {
  rk_u32 op; /* and RK_LINK_SWAPPED */
  rk_u32 how;
  RK_GLOBAL const rk_f32* from;
} rk_link;

typedef struct rk_chain {
  RK_GLOBAL const rk_f32* start;
  rk_link links[RK_CHAIN_COMMANDS_MAX];
  rk_u32 count;
  rk_u64 elements;
  rk_u64 row;   /* elements of the operands that repeat, or all */
  rk_u64 line;  /* elements that are walked in one go: a row, or all */
  rk_u64 wraps; /* where operands that repeat begin anew within a line; or never */
  RK_GLOBAL rk_f32* output;
} rk_chain;

// --- binding ----------------------------------------------------------------------------------

RK_INLINE rk_u32 rk_op_chains(rk_u32 op) {
  switch (op) {
#define RK_CASE(name, expression) case RK_OP_ID_##name:
    RK_NUMERIC_OPS(RK_CASE)
    RK_ORDERED_OPS(RK_CASE)
    RK_BINARY_OPS(RK_CASE)
    RK_UNARY_OPS(RK_CASE)
    return 1;
#undef RK_CASE
    default: return 0;
  }
}

/// How an input in memory is read for outputs of the shape of `out`; RK_INPUT_NONE: not in a chain.
/// `row` is 0 until an input has said how long rows are.
RK_INLINE rk_u32 rk_chain_input(RK_GLOBAL const rk_operand* out, RK_GLOBAL const rk_operand* in,
                                rk_u64* row) {
  if (rk_same_shape(out, in)) return RK_INPUT_WHOLE;
  if (in->rank > out->rank) return RK_INPUT_NONE;
  if (in->element_count == 1) return RK_INPUT_ONE;
  rk_u32 inner = 0;
  rk_u64 count = 1;
  for (; inner < in->rank && count != in->element_count; ++inner) {
    const rk_u32 extent = in->dims[in->rank - 1u - inner];
    if (extent != out->dims[out->rank - 1u - inner]) return RK_INPUT_NONE;
    count *= extent;
  }
  if (*row != 0 && *row != count) return RK_INPUT_NONE;
  *row = count;
  return RK_INPUT_ROW;
}

/// Binds the inputs of the chain's next command, which args->command is.
RK_INLINE rk_u32 rk_chain_bind_link(rk_message* message, rk_op_args* args, rk_chain* chain) {
  RK_GLOBAL const rk_command* command = args->command;
  rk_u32 types = RK_TYPES_f32;
  const rk_u32 fault = rk_bind_counts(message, args, &types);
  if (fault != RK_FAULT_NONE) return fault;
  message->fault_detail = command->op;
  if (!rk_op_chains(command->op)) return RK_FAULT_bad_command;
  rk_u32 how[2] = {RK_INPUT_NONE, RK_INPUT_NONE};
  for (rk_u32 input = 0; input < command->input_count; ++input) {
    RK_GLOBAL const rk_operand* operand = &command->inputs[input];
    if (operand->place == RK_PLACE_CHAIN) {
      message->fault_detail = input;
      if (chain->count == 0 || operand->dtype != RK_DTYPE_F32 ||
          !rk_same_shape(operand, &command->output))
        return RK_FAULT_bad_operand;
      how[input] = RK_INPUT_CHAIN;
      continue;
    }
    const rk_u32 bad = rk_bind_input(message, args, input, RK_TYPES_f32);
    if (bad != RK_FAULT_NONE) return bad;
    message->fault_detail = command->op;
    how[input] = rk_chain_input(&command->output, operand, &chain->row);
    if (how[input] == RK_INPUT_NONE) return RK_FAULT_bad_shape;
  }
  const rk_u32 leads = chain->count == 0 ? RK_INPUT_WHOLE : RK_INPUT_CHAIN;
  const rk_u32 lead = how[0] == leads ? 0 : 1;
  if (how[lead] != leads) return RK_FAULT_bad_shape;
  if (chain->count == 0) chain->start = args->inputs[lead];
  rk_link* link = &chain->links[chain->count++];
  link->op = command->op | (lead == 0 ? 0 : RK_LINK_SWAPPED);
  link->how = how[1 - lead];
  link->from = link->how >= RK_INPUT_WHOLE ? args->inputs[1 - lead] : 0;
  return RK_FAULT_NONE;
}

RK_INLINE rk_u32 rk_chain_overlaps(const rk_chain* chain, RK_GLOBAL const rk_f32* from,
                                   rk_u64 words) {
  return from < chain->output + chain->elements && chain->output < from + words;
}

/// The chain's result may be one of its operands, element for element, but not otherwise share
/// words with one, which is read again after they are written.
RK_INLINE rk_u32 rk_chain_is_separate(const rk_chain* chain) {
  const rk_u64 all = chain->elements;
  if (chain->start != chain->output && rk_chain_overlaps(chain, chain->start, all)) return 0;
  for (rk_u32 i = 0; i < chain->count; ++i) {
    const rk_link* link = &chain->links[i];
    if (link->how == RK_INPUT_NONE || link->how == RK_INPUT_CHAIN) continue;
    if (link->how == RK_INPUT_WHOLE && link->from == chain->output) continue;
    const rk_u64 repeats = link->how == RK_INPUT_ROW ? chain->row : 1;
    if (rk_chain_overlaps(chain, link->from, link->how == RK_INPUT_WHOLE ? all : repeats)) return 0;
  }
  return 1;
}

/// Binds the commands from `first` on, of which there are `count`, up to the end of the chain.
RK_INLINE rk_u32 rk_chain_bind(rk_message* message, rk_op_args* args, rk_chain* chain,
                               RK_GLOBAL const rk_command* first, rk_u32 count) {
  RK_GLOBAL const rk_operand* out = &first->output;
  chain->start = 0;
  chain->count = 0;
  chain->row = 0;
  for (rk_u32 i = 0; i < count && i < RK_CHAIN_COMMANDS_MAX; ++i) {
    args->command = first + i;
    RK_GLOBAL const rk_operand* result = &args->command->output;
    message->fault_detail = RK_OPERAND_OUTPUT;
    if (!rk_operand_is_sound(result) || result->dtype != RK_DTYPE_F32 ||
        !rk_same_shape(result, out))
      return RK_FAULT_bad_operand;
    const rk_u32 fault = rk_chain_bind_link(message, args, chain);
    if (fault != RK_FAULT_NONE) return fault;
    if (result->place == RK_PLACE_CHAIN) continue;
    const rk_u32 bad = rk_bind_output(message, args, RK_TYPES_f32);
    if (bad != RK_FAULT_NONE) return bad;
    chain->elements = result->element_count;
    if (chain->row == 0) chain->row = chain->elements;
    chain->output = args->output;
    if (!rk_output_is_in_reply(message, result) && !rk_chain_is_separate(chain))
      return RK_FAULT_bad_operand;
    return RK_FAULT_NONE;
  }
  message->fault_detail = RK_OPERAND_OUTPUT;  // a chain without an end
  return RK_FAULT_bad_command;
}

// --- running ----------------------------------------------------------------------------------

#define RK_CHAIN_CASE(code, expression, first, second) \
  case code:                                           \
    RK_UNROLL for (rk_u32 v = 0; v < vectors; ++v) {   \
      const rk_f32x16 zero = rk_splat16(0.0f);         \
      const rk_f32x16 x = first[v];                    \
      const rk_f32x16 y = second[v];                   \
      (void)zero;                                      \
      (void)y;                                         \
      value[v] = expression;                           \
    }                                                  \
    break;

#define RK_CHAIN_UNARY(name, expression) RK_CHAIN_CASE(RK_OP_ID_##name, expression, value, value)

#define RK_CHAIN_BINARY(name, expression)                  \
  RK_CHAIN_CASE(RK_OP_ID_##name, expression, value, other) \
  RK_CHAIN_CASE(RK_OP_ID_##name | RK_LINK_SWAPPED, expression, other, value)

/// The column that follows, where rows are one line.
RK_INLINE rk_u64 rk_chain_wrap(const rk_chain* chain, rk_u64 column) {
  while (column >= chain->wraps) column -= chain->wraps;
  return column;
}

/// All of the chain for VECTORS vectors from `element` on, which stand at `column` of their row.
/// `count` elements of the last vector are there.
#define RK_CHAIN_BLOCK(name, VECTORS)                                                            \
  RK_INLINE void name(const rk_chain* chain, rk_u64 element, rk_u64 column, rk_u64 count) {      \
    enum { vectors = VECTORS };                                                                  \
    rk_f32x16 value[vectors];                                                                    \
    rk_f32x16 other[vectors];                                                                    \
    RK_UNROLL for (rk_u32 v = 0; v < vectors; ++v) {                                             \
      value[v] = other[v] = rk_load_part16(chain->start + element + v * RK_WIDTH, count);        \
    }                                                                                            \
    for (rk_u32 i = 0; i < chain->count; ++i) {                                                  \
      const rk_link* link = &chain->links[i];                                                    \
      if (link->how == RK_INPUT_ONE) {                                                           \
        RK_UNROLL for (rk_u32 v = 0; v < vectors; ++v) { other[v] = rk_splat16(link->from[0]); } \
      } else if (link->how == RK_INPUT_CHAIN) {                                                  \
        RK_UNROLL for (rk_u32 v = 0; v < vectors; ++v) { other[v] = value[v]; }                  \
      } else if (link->how == RK_INPUT_ROW) {                                                    \
        rk_u64 place = column;                                                                   \
        RK_UNROLL for (rk_u32 v = 0; v < vectors; ++v) {                                         \
          other[v] = rk_load_part16(link->from + place, count);                                  \
          place = rk_chain_wrap(chain, place + RK_WIDTH);                                        \
        }                                                                                        \
      } else if (link->how == RK_INPUT_WHOLE) {                                                  \
        RK_UNROLL for (rk_u32 v = 0; v < vectors; ++v) {                                         \
          other[v] = rk_load_part16(link->from + element + v * RK_WIDTH, count);                 \
        }                                                                                        \
      }                                                                                          \
      switch (link->op) {                                                                        \
        RK_NUMERIC_OPS(RK_CHAIN_BINARY)                                                          \
        RK_ORDERED_OPS(RK_CHAIN_BINARY)                                                          \
        RK_BINARY_OPS(RK_CHAIN_BINARY)                                                           \
        RK_UNARY_OPS(RK_CHAIN_UNARY)                                                             \
        default: break;                                                                          \
      }                                                                                          \
    }                                                                                            \
    RK_UNROLL for (rk_u32 v = 0; v < vectors; ++v) {                                             \
      rk_store_part16(chain->output + element + v * RK_WIDTH, count, value[v]);                  \
    }                                                                                            \
  }

#define RK_CHAIN_VECTORS (RK_IS_GPU ? 1u : 8u)

RK_CHAIN_BLOCK(rk_chain_vectors, RK_CHAIN_VECTORS)
RK_CHAIN_BLOCK(rk_chain_vector, 1u)

/// Elements of a line between two looks whether the turn is over: whole blocks.
#define RK_CHAIN_STEP ((rk_u64)8192)

/// Rows up to here are not walked one by one, each with a vector that is not full at its end.
#define RK_CHAIN_ROW_MAX ((rk_u64)1024)
RK_STATIC_ASSERT(RK_CHAIN_COMMANDS_MAX*(1024 + 16) * sizeof(rk_f32) <= RK_WORKSPACE_BYTES,
                 "The rows of a chain do not fit into the workspace.");

/// Makes all rows one line: operands that repeat lie in the workspace with so much of their
/// beginning behind their end that a vector may start anywhere.
RK_INLINE void rk_chain_join_rows(rk_chain* chain, const rk_op_args* args) {
  RK_GLOBAL rk_f32* to = args->workspace;
  rk_turn_set_packed(args->turn, 0);
  for (rk_u32 i = 0; i < chain->count; ++i) {
    rk_link* link = &chain->links[i];
    if (link->how != RK_INPUT_ROW) continue;
    rk_move_words(to, link->from, chain->row);
    for (rk_u64 j = 0; j < RK_WIDTH; ++j) to[chain->row + j] = to[j];
    link->from = to;
    to += chain->row + RK_WIDTH;
  }
  chain->line = chain->elements;
  chain->wraps = chain->row;
}

/// Elements of a line from `column` to `end`.
RK_INLINE void rk_chain_part(const rk_chain* chain, rk_u64 line, rk_u64 column, rk_u64 end) {
  rk_u64 place = column < chain->wraps ? column : column % chain->wraps;
  for (; column + RK_CHAIN_VECTORS * RK_WIDTH <= end; column += RK_CHAIN_VECTORS * RK_WIDTH) {
    rk_chain_vectors(chain, line + column, place, RK_WIDTH);
    place = rk_chain_wrap(chain, place + RK_CHAIN_VECTORS * RK_WIDTH);
  }
  for (; column < end; column += RK_WIDTH) {
    rk_chain_vector(chain, line + column, place, chain->line - column);
    place = rk_chain_wrap(chain, place + RK_WIDTH);
  }
}

/// Runs the chain that begins with `first`, of `count` commands left. `ran` is how many it had. Its
/// step is the first element that is not done.
RK_NOINLINE rk_u32 rk_run_chain(rk_message* message, rk_op_args* args,
                                RK_GLOBAL const rk_command* first, rk_u32 count, rk_u32* ran) {
  rk_chain chain;
  const rk_u32 fault = rk_chain_bind(message, args, &chain, first, count);
  *ran = chain.count;
  if (fault != RK_FAULT_NONE) return fault;
  chain.line = chain.row;
  chain.wraps = ~(rk_u64)0;
  if (chain.row < chain.elements && chain.row <= RK_CHAIN_ROW_MAX) rk_chain_join_rows(&chain, args);
  const rk_u64 step = rk_turn_first(args->turn);
  rk_u64 column = step != 0 ? step % chain.line : 0;
  for (rk_u64 line = step - column; line < chain.elements; line += chain.line, column = 0) {
    while (column < chain.line) {
      const rk_u32 verdict = rk_turn_next(args->turn, line + column);
      if (verdict != RK_FAULT_NONE) return verdict;
      const rk_u64 left = chain.line - column;
      const rk_u64 elements = left < RK_CHAIN_STEP ? left : RK_CHAIN_STEP;
      rk_chain_part(&chain, line, column, column + elements);
      rk_turn_work(args->turn, elements * chain.count * RK_TURN_ELEMENT);
      column += elements;
    }
  }
  message->fault_detail = 0;
  return RK_FAULT_NONE;
}

#endif
