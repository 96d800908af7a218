/// Fixed-size attribute records of the ops, as they stand in rk_command: those of attrs.def, which
/// says what their words mean, and a graph's.
#ifndef RINGKERNEL_PROTOCOL_OP_ATTRS_H
#define RINGKERNEL_PROTOCOL_OP_ATTRS_H

#include "ringkernel/protocol/abi.h"

/// What compare asks (rk_attrs_compare.comparison). Greater is less with the operands swapped.
#define RK_COMPARE_EQUAL 0u
#define RK_COMPARE_NOT_EQUAL 1u
#define RK_COMPARE_LESS 2u
#define RK_COMPARE_LESS_EQUAL 3u

/// rk_attrs_<record> for each record of the list.
/// Written by: host.  Read by: device.
#define RK_RECORD(record) typedef struct rk_attrs_##record {
#define RK_WORD(record, word, offset, field) rk_u32 word;
#define RK_WORDS(record, words, count, offset, field) rk_u32 words[count];
#define RK_RECORD_END(record, bytes) \
  }                                  \
  rk_attrs_##record;
#include "ringkernel/protocol/attrs.def"

/// RK_OP_GRAPH: the commands to run, one after the other. Several ring kernels may run the same
/// ones, each with an `own` region for what it keeps and what commands give each other
/// (RK_PLACE_OWN).
///
/// Without a table, the graph's inputs and outputs lie in the message, where the commands say. With
/// one, which is the beginning of the graph command's input, it says for each of them where it lies
/// in this message: rk_u64[bindings], each an offset, which is a multiple of 64, and in its low
/// bits RK_PLACE_MESSAGE or RK_PLACE_ARENA. Written by: host.  Read by: device.
typedef struct rk_attrs_graph {
  rk_u64 commands; /* arena offset of rk_command[count]; multiple of 64 */
  rk_u32 count;    /* at most RK_GRAPH_COMMANDS_MAX */
  rk_u32 bindings; /* entries of the table, at most RK_GRAPH_BINDINGS_MAX; 0: there is none */
  rk_u64 own;      /* arena offset; multiple of 64 */
} rk_attrs_graph;

/// 64 bytes, whichever record is used; what an op does not use is zero.
/// Written by: host.  Read by: device.
typedef union rk_op_attrs {
  rk_u32 words[16];
#define RK_RECORD(record) rk_attrs_##record record;
#include "ringkernel/protocol/attrs.def"
  rk_attrs_graph graph;
} rk_op_attrs;

#endif
