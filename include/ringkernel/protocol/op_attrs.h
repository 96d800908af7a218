/// Fixed-size attribute records of the ops, as they stand in rk_command. The host's shape rules
/// have resolved everything that needs thinking (negative axes, padding modes, inferred dims).
#ifndef RINGKERNEL_PROTOCOL_OP_ATTRS_H
#define RINGKERNEL_PROTOCOL_OP_ATTRS_H

#include "ringkernel/protocol/abi.h"

/// sum, mean, reduce_max, softmax, and the full reductions.
/// Written by: host.  Read by: device.
typedef struct rk_attrs_reduce {
  rk_u32 axis_mask; /* bit d set: input dim d is reduced; never empty for rank > 0 */
  rk_u32 keepdims;  /* 1: reduced dims stay with extent 1; the device only needs axis_mask */
} rk_attrs_reduce;
RK_LAYOUT(rk_attrs_reduce, 8);
RK_FIELD(rk_attrs_reduce, axis_mask, 0);
RK_FIELD(rk_attrs_reduce, keepdims, 4);

/// expand_dims, squeeze, concat.
/// Written by: host.  Read by: nobody on the device, where the shapes say it all.
typedef struct rk_attrs_axes {
  rk_u32 axis_mask; /* bit d set: dim d of the higher rank has come (expand_dims) or goes (squeeze);
                       dim d is the one along which operands follow each other (concat) */
} rk_attrs_axes;
RK_LAYOUT(rk_attrs_axes, 4);
RK_FIELD(rk_attrs_axes, axis_mask, 0);

/// Written by: host.  Read by: device.
typedef struct rk_attrs_transpose {
  rk_u32 permutation[8]; /* output dim d is input dim permutation[d]; 0 beyond the rank */
} rk_attrs_transpose;
RK_LAYOUT(rk_attrs_transpose, 32);
RK_FIELD(rk_attrs_transpose, permutation, 0);

/// Written by: host.  Read by: device.
typedef struct rk_attrs_index {
  rk_u32 indices[8]; /* of the element, one for each dim; 0 beyond the rank */
} rk_attrs_index;
RK_LAYOUT(rk_attrs_index, 32);
RK_FIELD(rk_attrs_index, indices, 0);

/// Where a slice ends follows from the extents of the output.
/// Written by: host.  Read by: device.
typedef struct rk_attrs_slice {
  rk_u32 starts[8]; /* first index in each dim; 0 beyond the rank */
  rk_u32 steps[8];  /* from one index to the next, at least 1; 0 beyond the rank */
} rk_attrs_slice;
RK_LAYOUT(rk_attrs_slice, 64);
RK_FIELD(rk_attrs_slice, starts, 0);
RK_FIELD(rk_attrs_slice, steps, 32);

/// conv2d. The host has turned every way of padding into four numbers.
/// Written by: host.  Read by: device.
typedef struct rk_attrs_conv2d {
  rk_u32 strides[2]; /* vertical, horizontal; positive */
  rk_u32 pads[4];    /* zeros around each image: top, bottom, left, right */
  rk_u32 groups;     /* of channels, each with outputs of its own; 0: one */
} rk_attrs_conv2d;
RK_LAYOUT(rk_attrs_conv2d, 28);
RK_FIELD(rk_attrs_conv2d, strides, 0);
RK_FIELD(rk_attrs_conv2d, pads, 8);
RK_FIELD(rk_attrs_conv2d, groups, 24);

/// max_pool. The host has turned every way of padding into four numbers.
/// Written by: host.  Read by: device.
typedef struct rk_attrs_pool {
  rk_u32 window[2];  /* rows, columns; positive */
  rk_u32 strides[2]; /* vertical, horizontal; positive */
  rk_u32 pads[4];    /* what lies around each image: top, bottom, left, right; below the window */
} rk_attrs_pool;
RK_LAYOUT(rk_attrs_pool, 32);
RK_FIELD(rk_attrs_pool, window, 0);
RK_FIELD(rk_attrs_pool, strides, 8);
RK_FIELD(rk_attrs_pool, pads, 16);

/// What compare asks (rk_attrs_compare.comparison). Greater is less with the operands swapped.
#define RK_COMPARE_EQUAL 0u
#define RK_COMPARE_NOT_EQUAL 1u
#define RK_COMPARE_LESS 2u
#define RK_COMPARE_LESS_EQUAL 3u

/// Written by: host.  Read by: device.
typedef struct rk_attrs_compare {
  rk_u32 comparison; /* RK_COMPARE_* */
} rk_attrs_compare;
RK_LAYOUT(rk_attrs_compare, 4);
RK_FIELD(rk_attrs_compare, comparison, 0);

/// Written by: host.  Read by: nobody on the device, where the output's type says it.
typedef struct rk_attrs_cast {
  rk_u32 dtype; /* RK_DTYPE_* of the output */
} rk_attrs_cast;
RK_LAYOUT(rk_attrs_cast, 4);
RK_FIELD(rk_attrs_cast, dtype, 0);

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
RK_LAYOUT(rk_attrs_graph, 24);
RK_FIELD(rk_attrs_graph, commands, 0);
RK_FIELD(rk_attrs_graph, count, 8);
RK_FIELD(rk_attrs_graph, bindings, 12);
RK_FIELD(rk_attrs_graph, own, 16);

/// 64 bytes, whichever record is used; what an op does not use is zero.
/// Written by: host.  Read by: device.
typedef union rk_op_attrs {
  rk_u32 words[16];
  rk_attrs_reduce reduce;
  rk_attrs_axes axes;
  rk_attrs_transpose transpose;
  rk_attrs_index index;
  rk_attrs_slice slice;
  rk_attrs_conv2d conv2d;
  rk_attrs_compare compare;
  rk_attrs_cast cast;
  rk_attrs_pool pool;
  rk_attrs_graph graph;
} rk_op_attrs;
RK_LAYOUT(rk_op_attrs, 64);
RK_FIELD(rk_op_attrs, words, 0);
RK_FIELD(rk_op_attrs, reduce, 0);
RK_FIELD(rk_op_attrs, axes, 0);
RK_FIELD(rk_op_attrs, transpose, 0);
RK_FIELD(rk_op_attrs, index, 0);
RK_FIELD(rk_op_attrs, slice, 0);
RK_FIELD(rk_op_attrs, conv2d, 0);
RK_FIELD(rk_op_attrs, compare, 0);
RK_FIELD(rk_op_attrs, cast, 0);
RK_FIELD(rk_op_attrs, pool, 0);
RK_FIELD(rk_op_attrs, graph, 0);

#endif
