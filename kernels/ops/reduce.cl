/// sum, mean, sum_all, mean_all.
///
/// The order is part of the result. The n elements that make one output, in row-major order, are
/// summed by a tree over their index alone: chunks of 256; in a chunk, lane l of 16 starts at +0
/// and adds elements l, l + 16, l + 32, ... in turn; the lanes are halved four times (l and l + 8,
/// then l and l + 4, ...); chunk sums meet in pairs of equal weight, earlier + later, and what is
/// left at the end is added from the lightest to the heaviest, heavier + lighter. Memory layout,
/// axes and the number of lanes change no bit.
#ifndef RINGKERNEL_OPS_REDUCE_CL
#define RINGKERNEL_OPS_REDUCE_CL

#include "ops/args.h"
#include "ops/odometer.h"

#define RK_SUM_LANES 16u
#define RK_SUM_CHUNK 256u
/// Elements: a chunk's additions wait for each other, and what comes next for them.
#define RK_SUM_AHEAD 1024u
/// Chunks of 2^32 elements number 2^24, so that at most 25 sums of different weight wait.
#define RK_SUM_LEVELS 25

/// The tree above the chunks, for one output (TYPE rk_f32) or 16 neighbours (rk_f32x16): a binary
/// counter whose digits are the sums that wait for a partner. SUMS declares `sums`, room for
/// RK_SUM_LEVELS of them.
#define RK_SUM_TREE(TYPE, name, SUMS)                                                          \
  typedef struct name {                                                                        \
    rk_u64 chunks;                                                                             \
    rk_u32 waiting;                                                                            \
    SUMS;                                                                                      \
  } name;                                                                                      \
  RK_INLINE void name##_push(name* tree, TYPE sum) {                                           \
    for (rk_u64 carry = tree->chunks; (carry & 1) != 0; carry >>= 1)                           \
      sum = tree->sums[--tree->waiting] + sum;                                                 \
    tree->sums[tree->waiting++] = sum;                                                         \
    ++tree->chunks;                                                                            \
  }                                                                                            \
  RK_INLINE TYPE name##_total(const name* tree) {                                              \
    TYPE sum = tree->sums[tree->waiting - 1];                                                  \
    for (rk_u32 left = tree->waiting - 1; left != 0; --left) sum = tree->sums[left - 1] + sum; \
    return sum;                                                                                \
  }

RK_SUM_TREE(rk_f32, rk_sum_tree, rk_f32 sums[RK_SUM_LEVELS])
RK_SUM_TREE(rk_f32x16, rk_sum_tree16, RK_GLOBAL rk_f32x16* sums)
RK_STATIC_ASSERT((RK_SUM_LEVELS + RK_SUM_LANES) * sizeof(rk_f32x16) <= RK_WORKSPACE_BYTES,
                 "The wide tree and its lanes do not fit into the workspace.");

/// `count` elements that lie side by side. Not inlined: among its caller's other paths GCC's code
/// for the loop was slower by 15 %.
RK_NOINLINE rk_f32 rk_sum_dense(RK_GLOBAL const rk_f32* from, rk_u64 count) {
  rk_sum_tree tree;
  tree.chunks = 0;
  tree.waiting = 0;
  for (rk_u64 chunk = 0; chunk < count; chunk += RK_SUM_CHUNK) {
    const rk_u64 end = count - chunk < RK_SUM_CHUNK ? count : chunk + RK_SUM_CHUNK;
    rk_f32x16 lanes = rk_splat16(0.0f);
    rk_u64 i = chunk;
    for (; i + RK_SUM_LANES <= end; i += RK_SUM_LANES) {
      rk_prefetch_read((rk_const_bytes)(from + i + RK_SUM_AHEAD));
      lanes = lanes + rk_load16(from + i);
    }
    if (i < end) {
      rk_f32 tail[RK_SUM_LANES];
      for (rk_u32 lane = 0; lane < RK_SUM_LANES; ++lane)
        tail[lane] = i + lane < end ? from[i + lane] : 0.0f;
      lanes = lanes + rk_load16_private(tail);
    }
    rk_sum_tree_push(&tree, rk_sum_halves16(lanes));
  }
  return rk_sum_tree_total(&tree);
}

/// `count` elements wherever `reduced` leads; it ends where it began.
RK_OUTLINE rk_f32 rk_sum_scattered(RK_GLOBAL const rk_f32* from, rk_odometer* reduced,
                                   rk_u64 count) {
  rk_sum_tree tree;
  tree.chunks = 0;
  tree.waiting = 0;
  for (rk_u64 chunk = 0; chunk < count; chunk += RK_SUM_CHUNK) {
    const rk_u64 length = count - chunk < RK_SUM_CHUNK ? count - chunk : RK_SUM_CHUNK;
    rk_f32 sums[RK_SUM_LANES];
    rk_store16_private(sums, rk_splat16(0.0f));
    for (rk_u64 i = 0; i < length; ++i) {
      sums[i % RK_SUM_LANES] = sums[i % RK_SUM_LANES] + from[reduced->a];
      rk_odometer_next(reduced, 0);
    }
    rk_sum_tree_push(&tree, rk_sum_halves16(rk_load16_private(sums)));
  }
  return rk_sum_tree_total(&tree);
}

/// 16 outputs whose elements lie side by side, wherever `reduced` leads.
RK_INLINE rk_f32x16 rk_sum_scattered16(RK_GLOBAL const rk_f32* from, rk_odometer* reduced,
                                       rk_u64 count, RK_GLOBAL rk_f32* workspace) {
  rk_sum_tree16 tree;
  tree.sums = (RK_GLOBAL rk_f32x16*)workspace;
  RK_GLOBAL rk_f32x16* RK_RESTRICT sums = tree.sums + RK_SUM_LEVELS;
  tree.chunks = 0;
  tree.waiting = 0;
  const rk_u32 is_even = reduced->rank == 1;  // as far from each to the next
  const rk_u64 step = is_even ? reduced->a_strides[0] : 0;
  for (rk_u64 chunk = 0; chunk < count; chunk += RK_SUM_CHUNK) {
    const rk_u64 length = count - chunk < RK_SUM_CHUNK ? count - chunk : RK_SUM_CHUNK;
    for (rk_u32 lane = 0; lane < RK_SUM_LANES; ++lane) sums[lane] = rk_splat16(0.0f);
    for (rk_u64 i = 0; is_even && i < length; ++i)
      sums[i % RK_SUM_LANES] = sums[i % RK_SUM_LANES] + rk_load16(from + (chunk + i) * step);
    for (rk_u64 i = 0; !is_even && i < length; ++i) {
      sums[i % RK_SUM_LANES] = sums[i % RK_SUM_LANES] + rk_load16(from + reduced->a);
      rk_odometer_next(reduced, 0);
    }
    for (rk_u32 left = RK_SUM_LANES / 2; left != 0; left /= 2) {
      for (rk_u32 lane = 0; lane < left; ++lane) sums[lane] = sums[lane] + sums[lane + left];
    }
    rk_sum_tree16_push(&tree, sums[0]);
  }
  return rk_sum_tree16_total(&tree);
}

/// Splits the dims into those that stay and those of the mask; 0 if it names none, or others.
RK_INLINE rk_u32 rk_split_axes(RK_GLOBAL const rk_operand* in, rk_u32 mask, rk_odometer* kept,
                               rk_odometer* reduced) {
  if (mask >> in->rank != 0 || (mask == 0 && in->rank != 0)) return 0;
  rk_odometer_begin(kept);
  rk_odometer_begin(reduced);
  rk_u32 stride = 1;
  for (rk_u32 dim = in->rank; dim-- != 0;) {
    rk_odometer_push((mask >> dim) & 1u ? reduced : kept, in->dims[dim], stride, 0);
    stride *= in->dims[dim];
  }
  return 1;
}

/// Splits the input's dims into those that stay and those that are summed over; 0 if the output's
/// shape is not what stays.
RK_INLINE rk_u32 rk_reduce_split(RK_GLOBAL const rk_command* command, rk_odometer* kept,
                                 rk_odometer* reduced) {
  RK_GLOBAL const rk_operand* in = &command->inputs[0];
  RK_GLOBAL const rk_operand* out = &command->output;
  const rk_u32 mask = command->attrs.reduce.axis_mask;
  const rk_u32 keepdims = command->attrs.reduce.keepdims;
  if (keepdims > 1 || !rk_split_axes(in, mask, kept, reduced)) return 0;
  rk_u32 out_rank = out->rank;
  for (rk_u32 dim = in->rank; dim-- != 0;) {
    const rk_u32 is_reduced = (mask >> dim) & 1u;
    if (is_reduced && !keepdims) continue;
    if (out_rank-- == 0 || out->dims[out_rank] != (is_reduced ? 1 : in->dims[dim])) return 0;
  }
  return out_rank == 0;
}

/// Sums over the masked dims, each divided by `divisor` where that is not 1.
RK_OUTLINE rk_u32 rk_reduce(const rk_op_args* args, rk_u32 is_mean) {
  rk_odometer kept;
  rk_odometer reduced;
  if (!rk_reduce_split(args->command, &kept, &reduced)) return RK_FAULT_bad_shape;
  const rk_u64 outputs = args->command->output.element_count;
  const rk_u64 count = args->command->inputs[0].element_count / outputs;
  const rk_f32 divisor = is_mean ? (rk_f32)count : 1.0f;
  const rk_u32 is_dense = reduced.rank == 0 || (reduced.rank == 1 && reduced.a_strides[0] == 1);
  const rk_u64 run = rk_odometer_run(&kept);
  const rk_u32 is_wide = !RK_IS_GPU && kept.rank != 0 && kept.a_strides[0] == 1;
  const rk_u64 step = kept.rank == 0 ? 0 : kept.a_strides[0];
  RK_GLOBAL rk_f32* out = args->output;
  rk_u64 unit = 0;
  do {
    RK_GLOBAL const rk_f32* from = args->inputs[0] + kept.a;
    rk_u64 i = 0;
    for (; is_wide && i + RK_WIDTH <= run; i += RK_WIDTH) {
      if (unit++ % args->lanes != args->lane) continue;
      rk_turn_set_packed(args->turn, 0);
      rk_store16(out + i, rk_sum_scattered16(from + i, &reduced, count, args->workspace) /
                              rk_splat16(divisor));
    }
    for (; i < run; ++i) {
      if (unit++ % args->lanes != args->lane) continue;
      RK_GLOBAL const rk_f32* first = from + i * step;
      const rk_f32 sum =
          is_dense ? rk_sum_dense(first, count) : rk_sum_scattered(first, &reduced, count);
      out[i] = sum / divisor;
    }
    out += run;
  } while (rk_odometer_next(&kept, 1));
  return RK_FAULT_NONE;
}

/// What each output is, for integers, whose order changes nothing: `result` begins as `first`, of
/// the elements that begin at `from`, and takes in each `element` by `expression`. Sums wrap.
#define RK_REDUCE_INTEGERS(name, TYPE, first, expression)                            \
  RK_OUTLINE rk_u32 name(const rk_op_args* args) {                                   \
    rk_odometer kept;                                                                \
    rk_odometer reduced;                                                             \
    if (!rk_reduce_split(args->command, &kept, &reduced)) return RK_FAULT_bad_shape; \
    const rk_u64 run = rk_odometer_run(&reduced);                                    \
    const rk_u64 step = reduced.rank == 0 ? 0 : reduced.a_strides[0];                \
    rk_u64 unit = 0;                                                                 \
    do {                                                                             \
      const rk_u64 i = unit++;                                                       \
      if (i % args->lanes != args->lane) continue;                                   \
      RK_GLOBAL const TYPE* from = (RK_GLOBAL const TYPE*)args->inputs[0] + kept.a;  \
      TYPE result = first;                                                           \
      do {                                                                           \
        for (rk_u64 j = 0; j < run; ++j) {                                           \
          const TYPE element = from[reduced.a + j * step];                           \
          result = expression;                                                       \
        }                                                                            \
      } while (rk_odometer_next(&reduced, 1));                                       \
      ((RK_GLOBAL TYPE*)args->output)[i] = result;                                   \
    } while (rk_odometer_next(&kept, 0));                                            \
    return RK_FAULT_NONE;                                                            \
  }

RK_REDUCE_INTEGERS(rk_sum_i32, rk_element32, 0, result + element)
RK_REDUCE_INTEGERS(rk_sum_i64, rk_element64, 0, result + element)
RK_INLINE rk_u32 rk_sum_f32(const rk_op_args* args) { return rk_reduce(args, 0); }
RK_DISPATCH_TYPES(rk_op_sum, rk_sum_f32, rk_sum_i32, rk_sum_i64)
RK_INLINE rk_u32 rk_op_mean(const rk_op_args* args) { return rk_reduce(args, 1); }

RK_INLINE rk_u32 rk_reduces_all(const rk_op_args* args) {
  return args->command->attrs.reduce.axis_mask == (1u << args->command->inputs[0].rank) - 1u;
}
RK_INLINE rk_u32 rk_op_sum_all(const rk_op_args* args) {
  if (!rk_reduces_all(args)) return RK_FAULT_bad_shape;
  return rk_op_sum(args);
}
RK_INLINE rk_u32 rk_op_mean_all(const rk_op_args* args) {
  if (!rk_reduces_all(args)) return RK_FAULT_bad_shape;
  return rk_op_mean(args);
}

#endif
