/// The command: what the device executes for one message. Fixed size, equal byte for byte to the
/// FlatBuffers struct `Command` of `schemas/message.fbs`.
///
///     0      16       64       112      160      208     272
///     +------+--------+--------+--------+--------+-------+
///     | head | output | input0 | input1 | input2 | attrs |
///     +------+--------+--------+--------+--------+-------+
#ifndef RINGKERNEL_PROTOCOL_COMMAND_H
#define RINGKERNEL_PROTOCOL_COMMAND_H

#include "ringkernel/protocol/abi.h"
#include "ringkernel/protocol/op_attrs.h"

/// Highest rank of a tensor.
#define RK_RANK_MAX 8u

/// Most inputs of an op.
#define RK_INPUTS_MAX 3u

/// Element types (rk_operand.dtype). Zero means "no tensor".
#define RK_DTYPE_NONE 0u
#define RK_DTYPE_F32 1u
#define RK_DTYPE_I32 2u
#define RK_DTYPE_I64 3u

/// Where the elements of an operand lie (rk_operand.place).
#define RK_PLACE_NONE 0u    /* no operand */
#define RK_PLACE_MESSAGE 1u /* in the message: offset from payload start (request or reply) */
#define RK_PLACE_ARENA 2u   /* resident: offset from arena start */
#define RK_PLACE_CHAIN 3u   /* in a graph: handed on by the command before; no offset */
#define RK_PLACE_OWN 4u     /* in a graph: offset from the ring kernel's own region */

/// rk_command.op of a command that runs others, which lie in the arena (rk_attrs_graph). It has one
/// input and at most one output, both plain words in the message: there the others find their
/// operands of place RK_PLACE_MESSAGE. Not in ops.def: only the host's compiler makes such a
/// command.
#define RK_OP_GRAPH 0xffffu

/// Most commands that one runs.
#define RK_GRAPH_COMMANDS_MAX 4096u

/// Most entries of the table by which a graph's message says where inputs and outputs lie.
#define RK_GRAPH_BINDINGS_MAX 64u

/// Most commands of a chain: each but the last has an output of place RK_PLACE_CHAIN, and each but
/// the first an input of that place. All are elementwise f32 ops with outputs of one shape; another
/// input has that shape, its innermost dims, or one element (kernels/rk_chain.h).
#define RK_CHAIN_COMMANDS_MAX 16u

/// Elements that an output of rank 0 takes in the arena: the value, and three zeros that the device
/// sets, so that it is a tensor that every device can hold. Offsets leave room for them.
#define RK_SCALAR_ELEMENTS 4u

/// One tensor operand: dense, row-major.
/// Written by: host.  Read by: device.
typedef struct rk_operand {
  rk_u64 offset; /* bytes, see `place`; multiple of 64 */
  rk_u8 place;   /* RK_PLACE_* */
  rk_u8 dtype;   /* RK_DTYPE_* */
  rk_u8 rank;    /* 0..RK_RANK_MAX */
  rk_u8 binding; /* of a graph's commands, place MESSAGE: its entry (rk_attrs_graph), from 1 on;
                    else zero */
  rk_u32 element_count; /* product of dims; 1 for rank 0 */
  rk_u32 dims[8];       /* extents, outermost first; 1 beyond rank */
} rk_operand;

/// Written by: host.  Read by: device.
typedef struct rk_command {
  rk_u16 op;          /* id from ops.def; 0 = noop */
  rk_u8 input_count;  /* 0..RK_INPUTS_MAX */
  rk_u8 output_count; /* 0 or 1 */
  rk_u32 flags;       /* reserved, zero */
  rk_u64 reserved;    /* zero */
  rk_operand output;  /* place MESSAGE: offset from the start of the *reply* payload */
  rk_operand inputs[3];
  rk_op_attrs attrs;
} rk_command;

#endif
