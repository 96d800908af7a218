/// Ops that take elements from where a stride for each dim leads: transpose, slice, index. And pad,
/// which brings them there.
///
/// The first three describe themselves to an odometer, whose a-offsets are those of the input and
/// whose b-offsets are those of the output, both in elements. The output is dense, so its innermost
/// dim has stride 1.
#ifndef RINGKERNEL_OPS_STRIDED_CL
#define RINGKERNEL_OPS_STRIDED_CL

#include "ops/args.h"
#include "ops/odometer.h"

#define RK_TILE_SIDE 16u

/// Turns a whole tile over: interleaving rows i and i + 8, four times.
RK_INLINE void rk_turn_whole_tile(RK_GLOBAL rk_f32* to, rk_u64 to_stride,
                                  RK_GLOBAL const rk_f32* from, rk_u64 from_stride) {
  rk_f32x16 x[RK_TILE_SIDE];
  RK_UNROLL for (rk_u32 i = 0; i < RK_TILE_SIDE; ++i) x[i] = rk_load16_near(from + i * from_stride);
  RK_UNROLL for (rk_u32 turn = 0; turn < 4; ++turn) {
    rk_f32x16 y[RK_TILE_SIDE];
    RK_UNROLL for (rk_u32 i = 0; i < RK_TILE_SIDE / 2; ++i) {
      y[2 * i] = rk_interleave_low16(x[i], x[i + RK_TILE_SIDE / 2]);
      y[2 * i + 1] = rk_interleave_high16(x[i], x[i + RK_TILE_SIDE / 2]);
    }
    RK_UNROLL for (rk_u32 i = 0; i < RK_TILE_SIDE; ++i) x[i] = y[i];
  }
  RK_UNROLL for (rk_u32 i = 0; i < RK_TILE_SIDE; ++i) rk_store16_near(to + i * to_stride, x[i]);
}

/// One tile of a matrix that is turned over: output rows and columns are input columns and rows.
/// The next one is `ahead` output columns further. Each of its lines is on another page, where the
/// hardware does not look ahead.
RK_INLINE void rk_turn_tile(RK_GLOBAL rk_f32* to, rk_u64 to_stride, RK_GLOBAL const rk_f32* from,
                            rk_u64 from_stride, rk_u64 rows, rk_u64 columns, rk_u64 ahead) {
  if (!RK_IS_GPU && rows == RK_TILE_SIDE && columns == RK_TILE_SIDE) {
    for (rk_u32 i = 0; i < RK_TILE_SIDE; ++i) {
      rk_prefetch_read((rk_const_bytes)(from + (ahead + i) * from_stride));
      rk_prefetch_write((rk_bytes)(to + i * to_stride + ahead));
    }
    rk_turn_whole_tile(to, to_stride, from, from_stride);
    return;
  }
  for (rk_u64 row = 0; row < rows; ++row) {
    for (rk_u64 column = 0; column < columns; ++column)
      to[row * to_stride + column] = from[column * from_stride + row];
  }
}

/// If the innermost dim of the output strides through the input while the elements of another dim
/// lie side by side there, that one becomes the second dim of the walk; else 0.
RK_INLINE rk_u32 rk_find_turned_dim(rk_odometer* walk) {
  if (walk->rank < 2 || walk->a_strides[0] == 1) return 0;
  rk_u32 dim = 1;
  while (dim < walk->rank && walk->a_strides[dim] != 1) ++dim;
  if (dim == walk->rank) return 0;
  const rk_u32 extent = walk->extents[dim];
  const rk_u32 b_stride = walk->b_strides[dim];
  walk->extents[dim] = walk->extents[1];
  walk->a_strides[dim] = walk->a_strides[1];
  walk->b_strides[dim] = walk->b_strides[1];
  walk->extents[1] = extent;
  walk->a_strides[1] = 1;
  walk->b_strides[1] = b_stride;
  return 1;
}

/// The two innermost dims are matrices to turn over.
RK_INLINE void rk_move_turned(const rk_op_args* args, rk_odometer* walk) {
  const rk_u64 rows = walk->extents[1];
  const rk_u64 columns = walk->extents[0];
  const rk_u64 to_stride = walk->b_strides[1];
  const rk_u64 from_stride = walk->a_strides[0];
  rk_u64 unit = 0;
  do {
    RK_GLOBAL rk_f32* to = args->output + walk->b;
    RK_GLOBAL const rk_f32* from = args->inputs[0] + walk->a;
    for (rk_u64 row = 0; row < rows; row += RK_TILE_SIDE) {
      const rk_u64 height = rows - row < RK_TILE_SIDE ? rows - row : RK_TILE_SIDE;
      for (rk_u64 column = 0; column < columns; column += RK_TILE_SIDE) {
        if (unit++ % args->lanes != args->lane) continue;
        const rk_u64 width = columns - column < RK_TILE_SIDE ? columns - column : RK_TILE_SIDE;
        rk_turn_tile(to + row * to_stride + column, to_stride, from + column * from_stride + row,
                     from_stride, height, width, args->lanes * RK_TILE_SIDE);
      }
    }
  } while (rk_odometer_next(walk, 2));
}

RK_INLINE void rk_move_strided(const rk_op_args* args, rk_odometer* walk) {
  const rk_u64 words = rk_element_words(&args->command->output);
  if (words == 1 && rk_find_turned_dim(walk)) {
    rk_move_turned(args, walk);
    return;
  }
  const rk_u64 run = rk_odometer_run(walk);
  const rk_u64 step = walk->rank == 0 ? 1 : walk->a_strides[0];
  rk_u64 unit = 0;
  do {
    if (unit++ % args->lanes != args->lane) continue;
    RK_GLOBAL rk_f32* to = args->output + walk->b * words;
    RK_GLOBAL const rk_f32* from = args->inputs[0] + walk->a * words;
    if (step == 1) {
      rk_move_words(to, from, run * words);
    } else {
      for (rk_u64 i = 0; i < run; ++i) {
        for (rk_u64 word = 0; word < words; ++word)
          to[i * words + word] = from[i * step * words + word];
      }
    }
  } while (rk_odometer_next(walk, 1));
}

RK_INLINE rk_u32 rk_op_transpose(const rk_op_args* args) {
  RK_GLOBAL const rk_operand* in = &args->command->inputs[0];
  RK_GLOBAL const rk_operand* out = &args->command->output;
  const rk_u32 rank = in->rank;
  if (out->rank != rank) return RK_FAULT_bad_shape;
  rk_u32 in_strides[RK_RANK_MAX];
  rk_u32 stride = 1;
  for (rk_u32 dim = rank; dim-- != 0;) {
    in_strides[dim] = stride;
    stride *= in->dims[dim];
  }
  rk_odometer walk;
  rk_odometer_begin(&walk);
  rk_u32 seen = 0;
  stride = 1;
  for (rk_u32 dim = rank; dim-- != 0;) {
    const rk_u32 from = args->command->attrs.transpose.permutation[dim];
    if (from >= rank || out->dims[dim] != in->dims[from]) return RK_FAULT_bad_shape;
    seen |= 1u << from;
    rk_odometer_push(&walk, out->dims[dim], in_strides[from], stride);
    stride *= out->dims[dim];
  }
  if (seen != (1u << rank) - 1u) return RK_FAULT_bad_shape;
  rk_move_strided(args, &walk);
  return RK_FAULT_NONE;
}

RK_INLINE rk_u32 rk_op_slice(const rk_op_args* args) {
  RK_GLOBAL const rk_operand* in = &args->command->inputs[0];
  RK_GLOBAL const rk_operand* out = &args->command->output;
  if (out->rank != in->rank) return RK_FAULT_bad_shape;
  rk_odometer walk;
  rk_odometer_begin(&walk);
  rk_u32 in_stride = 1;
  rk_u32 out_stride = 1;
  for (rk_u32 dim = in->rank; dim-- != 0;) {
    const rk_u64 start = args->command->attrs.slice.starts[dim];
    const rk_u64 step = args->command->attrs.slice.steps[dim];
    const rk_u32 extent = out->dims[dim];
    if (step == 0 || start + (extent - 1) * step >= in->dims[dim]) return RK_FAULT_bad_shape;
    walk.a += start * in_stride;
    rk_odometer_push(&walk, extent, in_stride * (rk_u32)step, out_stride);
    in_stride *= in->dims[dim];
    out_stride *= extent;
  }
  rk_move_strided(args, &walk);
  return RK_FAULT_NONE;
}

RK_INLINE rk_u32 rk_op_index(const rk_op_args* args) {
  RK_GLOBAL const rk_operand* in = &args->command->inputs[0];
  if (args->command->output.rank != 0) return RK_FAULT_bad_shape;
  rk_odometer walk;
  rk_odometer_begin(&walk);
  for (rk_u32 dim = 0; dim < in->rank; ++dim) {
    const rk_u32 index = args->command->attrs.index.indices[dim];
    if (index >= in->dims[dim]) return rk_index_fault(args, dim, index);
    walk.a = walk.a * in->dims[dim] + index;
  }
  rk_move_strided(args, &walk);
  return RK_FAULT_NONE;
}

/// Two words again and again: those of one element, or twice its only one.
RK_INLINE void rk_repeat_words(RK_GLOBAL rk_f32* to, rk_u64 words, rk_f32 even, rk_f32 odd) {
  const rk_f32x16 vector = rk_interleave_low16(rk_splat16(even), rk_splat16(odd));
  rk_u64 i = 0;
  for (; i + RK_WIDTH <= words; i += RK_WIDTH) rk_store16(to + i, vector);
  for (; i < words; ++i) to[i] = i % 2 == 0 ? even : odd;
}

/// Which of the input's rows is in the output's row `row`; 0: none, it is padding alone. A row is
/// what lies at one index of the dims outside of `dim`.
RK_INLINE rk_u32 rk_find_padded_row(const rk_op_args* args, rk_u32 dim, rk_u32 row, rk_u64* from) {
  rk_u64 stride = 1;
  *from = 0;
  while (dim-- != 0) {
    const rk_u32 in_extent = args->command->inputs[0].dims[dim];
    const rk_u32 out_extent = args->command->output.dims[dim];
    const rk_u32 index = row % out_extent - args->command->attrs.pad.low[dim];
    if (index >= in_extent) return 0; /* also before the first one, where it has wrapped */
    *from += index * stride;
    stride *= in_extent;
    row /= out_extent;
  }
  return 1;
}

/// Row by row, along the innermost dim that has padding and those inside of it.
RK_INLINE rk_u32 rk_op_pad(const rk_op_args* args) {
  RK_GLOBAL const rk_operand* in = &args->command->inputs[0];
  RK_GLOBAL const rk_operand* out = &args->command->output;
  RK_GLOBAL const rk_attrs_pad* pads = &args->command->attrs.pad;
  if (out->rank != in->rank) return RK_FAULT_bad_shape;
  for (rk_u32 dim = 0; dim < in->rank; ++dim)
    if ((rk_u64)pads->low[dim] + in->dims[dim] + pads->high[dim] != out->dims[dim])
      return RK_FAULT_bad_shape;
  const rk_u32 words = rk_element_words(out);
  const rk_f32 even = args->inputs[1][0];
  const rk_f32 odd = args->inputs[1][words - 1u];
  rk_u32 dim = in->rank;
  rk_u64 run = words;
  while (dim != 0 && in->dims[dim - 1u] == out->dims[dim - 1u]) run *= in->dims[--dim];
  rk_u64 before = 0;
  rk_u64 behind = 0;
  if (dim != 0) {
    --dim;
    before = pads->low[dim] * run;
    behind = pads->high[dim] * run;
    run *= in->dims[dim];
  }
  const rk_u64 row_words = before + run + behind;
  const rk_u64 rows = rk_operand_words(out) / row_words;
  for (rk_u64 row = args->lane; row < rows; row += args->lanes) {
    RK_GLOBAL rk_f32* to = args->output + row * row_words;
    rk_u64 from = 0;
    if (!rk_find_padded_row(args, dim, (rk_u32)row, &from)) {
      rk_repeat_words(to, row_words, even, odd);
      continue;
    }
    rk_repeat_words(to, before, even, odd);
    rk_move_words(to + before, args->inputs[0] + from * run, run);
    rk_repeat_words(to + before + run, behind, even, odd);
  }
  return RK_FAULT_NONE;
}

#endif
