/// max_pool: the largest element of each window, channel by channel. Padding takes no part. NaN
/// stays; a maximum of 0 is +0, so that the order of a window's elements changes no bit.
#ifndef RINGKERNEL_OPS_MAX_POOL_CL
#define RINGKERNEL_OPS_MAX_POOL_CL

#include "ops/args.h"
#include "ops/exp_log.h"
#include "ops/window_lines.h"

/// What a window has of its image.
typedef struct rk_pool_part {
  RK_GLOBAL const rk_f32* from; /* the first element */
  rk_u64 rows;
  rk_u64 columns;
} rk_pool_part;

/// How many of `extent` elements from `first` on lie in the `length` behind `pad`; `*first` becomes
/// the first of them, counted from the end of the padding. A window is never all padding.
RK_INLINE rk_u64 rk_pool_inside(rk_u64* first, rk_u64 extent, rk_u64 pad, rk_u64 length) {
  const rk_u64 end = rk_least(*first + extent, pad + length) - pad;
  *first = *first > pad ? *first - pad : 0;
  return end - *first;
}

#define RK_POOL_LARGEST(TYPE, name, SPLAT, LOAD)                                                \
  RK_INLINE TYPE name(const rk_window_lines* lines, const rk_pool_part* part, rk_u64 channel) { \
    const rk_u64 channels = lines->window.channels;                                             \
    const rk_u64 row_step = lines->window.image_columns * channels;                             \
    TYPE most = SPLAT(-RK_INFINITY);                                                            \
    RK_GLOBAL const rk_f32* line = part->from + channel;                                        \
    for (rk_u64 row = 0; row < part->rows; ++row, line += row_step) {                           \
      RK_GLOBAL const rk_f32* from = line;                                                      \
      for (rk_u64 column = 0; column < part->columns; ++column, from += channels) {             \
        const TYPE x = LOAD(from, (rk_u64)(lines->images_end - from));                          \
        most = rk_where_nan(most, most, rk_where_greater(most, x, most, x));                    \
      }                                                                                         \
    }                                                                                           \
    return most + SPLAT(0.0f);                                                                  \
  }

#if RK_IS_GPU
#define RK_POOL_LOAD(from, left) (*(from))
RK_POOL_LARGEST(rk_f32, rk_pool_largest, (rk_f32), RK_POOL_LOAD)
#else
#define RK_POOL_LOAD(from, left) rk_load16_near(from)
RK_POOL_LARGEST(rk_f32x16, rk_pool_largest, rk_splat16, RK_POOL_LOAD)
/// Of fewer than 16 channels.
RK_POOL_LARGEST(rk_f32x16, rk_pool_largest_few, rk_splat16, rk_load_some)
#endif

RK_INLINE void rk_pool_piece(const rk_window_lines* lines, const rk_window_piece* piece) {
  const rk_window* window = &lines->window;
  const rk_u64 channels = window->channels;
  rk_pool_part part;
  rk_u64 row = piece->first_row;
  part.rows = rk_pool_inside(&row, lines->rows, window->pad_top, window->image_rows);
  RK_GLOBAL const rk_f32* line = piece->image + row * window->image_columns * channels;
  for (rk_u64 i = piece->column; i < piece->end; ++i) {
    rk_u64 column = i * window->column_stride;
    part.columns =
        rk_pool_inside(&column, window->columns, window->pad_left, window->image_columns);
    part.from = line + column * channels;
    RK_GLOBAL rk_f32* to = piece->line + i * channels;
#if RK_IS_GPU
    for (rk_u64 channel = 0; channel < channels; ++channel)
      to[channel] = rk_pool_largest(lines, &part, channel);
#else
    if (channels < RK_WIDTH) {
      rk_store_some(to, rk_pool_largest_few(lines, &part, 0), channels);
      continue;
    }
    for (rk_u64 channel = 0; channel < channels; channel += RK_WIDTH) {
      const rk_u64 at = rk_whole_vector(channel, channels);
      rk_store16_near(to + at, rk_pool_largest(lines, &part, at));
    }
#endif
  }
}

RK_OUTLINE rk_u32 rk_op_max_pool(const rk_op_args* args) {
  RK_GLOBAL const rk_operand* out = &args->command->output;
  RK_GLOBAL const rk_operand* images = &args->command->inputs[0];
  RK_GLOBAL const rk_attrs_pool* attrs = &args->command->attrs.pool;
  if (images->rank != 4 || out->rank != 4) return RK_FAULT_bad_shape;
  if (out->dims[0] != images->dims[0] || out->dims[3] != images->dims[3]) return RK_FAULT_bad_shape;
  for (rk_u32 axis = 0; axis < 2; ++axis) {
    const rk_u32 extent = attrs->window[axis];
    const rk_u32 before = attrs->pads[2 * axis];
    const rk_u32 after = attrs->pads[2 * axis + 1];
    if (before >= extent || after >= extent ||
        !rk_windows_fit(out->dims[1 + axis], extent, attrs->strides[axis], images->dims[1 + axis],
                        before, after))
      return RK_FAULT_bad_shape;
  }
  rk_window_lines lines;
  lines.window.image_rows = images->dims[1];
  lines.window.image_columns = images->dims[2];
  lines.window.channels = images->dims[3];
  lines.window.columns = attrs->window[1];
  lines.window.output_rows = out->dims[1];
  lines.window.output_columns = out->dims[2];
  lines.window.row_stride = attrs->strides[0];
  lines.window.column_stride = attrs->strides[1];
  lines.window.pad_top = attrs->pads[0];
  lines.window.pad_left = attrs->pads[2];
  lines.rows = attrs->window[0];
  lines.outputs = images->dims[3];
  lines.images = args->inputs[0];
  lines.images_end = lines.images + images->element_count;
  lines.output = args->output;
  // What a window holds of its image is not more than the image.
  const rk_u64 taps = rk_least(lines.rows, lines.window.image_rows) *
                      rk_least(lines.window.columns, lines.window.image_columns);
  const rk_u64 work = taps * lines.outputs;
  rk_window_lines_plan(&lines, (rk_u64)out->dims[0] * out->dims[1], work, 1);
  rk_u64 step = rk_turn_first(args->turn) + args->lane;
  for (; step < lines.steps; step += args->lanes) {
    const rk_u32 verdict = rk_turn_next(args->turn, step);
    if (verdict != RK_FAULT_NONE) return verdict;
    const rk_window_piece piece = rk_window_piece_of(&lines, step);
    rk_pool_piece(&lines, &piece);
    rk_turn_work(args->turn, (piece.end - piece.column) * work);
  }
  return RK_FAULT_NONE;
}

#endif
