/// conv2d with groups of channels: windows are read where they lie. The order is that of
/// ops/product.h, for each output over the channels of its group; how many outputs are computed at
/// the same time changes no bit.
///
/// Depthwise, with one channel and one output in a group, 16 channels are a vector. With larger
/// groups 16 outputs of a group are one; in smaller ones the rest of the vector is for nothing. A
/// GPU computes one output at a time: vectors would be private memory of each work-item.
#ifndef RINGKERNEL_OPS_CONV2D_GROUPS_H
#define RINGKERNEL_OPS_CONV2D_GROUPS_H

#include "ops/args.h"
#include "ops/product_small.h"
#include "ops/window_lines.h"

typedef struct rk_groups {
  rk_window_lines lines;
  RK_GLOBAL const rk_f32* filter;
  RK_GLOBAL const rk_f32* filter_end;
  rk_u64 filter_step; /* from one k to the next */
  rk_u64 channels;    /* of a group */
  rk_u64 outputs;     /* of a group */
} rk_groups;

#if RK_IS_GPU

#define RK_GROUPS_TILE 1

RK_INLINE rk_f32 rk_groups_output(const rk_groups* groups, const rk_window_piece* piece,
                                  rk_u64 column, rk_u64 output) {
  const rk_window* window = &groups->lines.window;
  const rk_u64 first = column * window->column_stride; /* the padding's first is 0 */
  const rk_u64 channel = output / groups->outputs * groups->channels;
  rk_f32 sum = 0.0f;
  rk_f32 total = 0.0f;
  RK_GLOBAL const rk_f32* filter = groups->filter + output;
  rk_u64 left = RK_BLOCK_DEPTH;
  for (rk_u64 row = 0; row < groups->lines.rows; ++row) {
    RK_GLOBAL const rk_f32* line = rk_window_row(window, piece, row);
    for (rk_u64 i = first; i < first + window->columns; ++i) {
      const rk_u32 is_inside =
          line != 0 && i >= window->pad_left && i - window->pad_left < window->image_columns;
      const rk_u64 from = (i - window->pad_left) * window->channels + channel;
      for (rk_u64 k = 0; k < groups->channels; ++k, filter += groups->filter_step) {
        sum = rk_fma(is_inside ? line[from + k] : 0.0f, *filter, sum);
        if (--left != 0) continue;
        total = total + sum;
        sum = 0.0f;
        left = RK_BLOCK_DEPTH;
      }
    }
  }
  return left != RK_BLOCK_DEPTH ? total + sum : total;
}

RK_INLINE void rk_groups_open(rk_groups* groups, const rk_op_args* args) {
  (void)groups;
  (void)args;
}

RK_INLINE void rk_groups_piece(const rk_groups* groups, const rk_window_piece* piece) {
  for (rk_u64 column = piece->column; column < piece->end; ++column) {
    RK_GLOBAL rk_f32* to = piece->line + column * groups->lines.outputs;
    for (rk_u64 output = 0; output < groups->lines.outputs; ++output)
      to[output] = rk_groups_output(groups, piece, column, output);
  }
}

#else

/// The sum of a block is added after the last k of the block, and after the last k of all.
#define RK_GROUPS_ADD(COLUMNS)                     \
  RK_UNROLL for (rk_u32 t = 0; t < COLUMNS; ++t) { \
    total[t] = total[t] + sum[t];                  \
    sum[t] = rk_splat16(0.0f);                     \
  }

// --- depthwise ----------------------------------------------------------------------------------

/// Neighbours that meet the same vector of the filter: as many as have room in the registers.
#if defined(__AVX512F__)
#define RK_DEPTHWISE_COLUMNS 8
#elif defined(__AVX__)
#define RK_DEPTHWISE_COLUMNS 4
#else
#define RK_DEPTHWISE_COLUMNS 2
#endif

/// Outputs `column` and its next neighbours, for the channels from `channel` on. All columns of
/// their windows are inside of the image, all loads inside of the operands, and the filter has not
/// more than one block.
RK_INLINE void rk_depthwise_tile(const rk_groups* groups, const rk_window_piece* piece,
                                 rk_u64 column, rk_u64 channel) {
  const rk_window* window = &groups->lines.window;
  const rk_u64 channels = window->channels;
  const rk_u64 step = window->column_stride * channels;
  const rk_u64 skipped = (column * window->column_stride - window->pad_left) * channels + channel;
  rk_f32x16 sum[RK_DEPTHWISE_COLUMNS];
  RK_UNROLL for (rk_u32 t = 0; t < RK_DEPTHWISE_COLUMNS; ++t) sum[t] = rk_splat16(0.0f);
  RK_GLOBAL const rk_f32* filter = groups->filter + channel;
  for (rk_u64 row = 0; row < groups->lines.rows; ++row) {
    RK_GLOBAL const rk_f32* from = rk_window_row(window, piece, row);
    if (from == 0) {
      for (rk_u64 i = 0; i < window->columns; ++i, filter += groups->filter_step) {
        const rk_f32x16 y = rk_load16_near(filter);
        RK_UNROLL for (rk_u32 t = 0; t < RK_DEPTHWISE_COLUMNS; ++t) {
          sum[t] = rk_fma16(rk_splat16(0.0f), y, sum[t]);
        }
      }
      continue;
    }
    from += skipped;
    for (rk_u64 i = 0; i < window->columns; ++i, filter += groups->filter_step, from += channels) {
      const rk_f32x16 y = rk_load16_near(filter);
      RK_UNROLL for (rk_u32 t = 0; t < RK_DEPTHWISE_COLUMNS; ++t) {
        sum[t] = rk_fma16(rk_load16_near(from + t * step), y, sum[t]);
      }
    }
  }
  RK_GLOBAL rk_f32* to = piece->line + column * channels + channel;
  RK_UNROLL for (rk_u32 t = 0; t < RK_DEPTHWISE_COLUMNS; ++t) {
    rk_store_some(to + t * channels, rk_splat16(0.0f) + sum[t], channels);
  }
}

/// One output, wherever its window lies, for VECTORS vectors of channels from `channel` on.
#define RK_DEPTHWISE_ONE(name, VECTORS)                                                         \
  RK_INLINE void name(const rk_groups* groups, const rk_window_piece* piece, rk_u64 column,     \
                      rk_u64 channel) {                                                         \
    const rk_window* window = &groups->lines.window;                                            \
    const rk_u64 channels = window->channels;                                                   \
    const rk_u64 first = column * window->column_stride; /* the padding's first is 0 */         \
    rk_f32x16 sum[VECTORS];                                                                     \
    rk_f32x16 total[VECTORS];                                                                   \
    RK_UNROLL for (rk_u32 v = 0; v < VECTORS; ++v) {                                            \
      sum[v] = rk_splat16(0.0f);                                                                \
      total[v] = rk_splat16(0.0f);                                                              \
    }                                                                                           \
    RK_GLOBAL const rk_f32* filter = groups->filter + channel;                                  \
    rk_u64 left = RK_BLOCK_DEPTH;                                                               \
    for (rk_u64 row = 0; row < groups->lines.rows; ++row) {                                     \
      RK_GLOBAL const rk_f32* line = rk_window_row(window, piece, row);                         \
      for (rk_u64 i = first; i < first + window->columns; ++i, filter += groups->filter_step) { \
        const rk_u32 is_inside =                                                                \
            line != 0 && i >= window->pad_left && i - window->pad_left < window->image_columns; \
        const rk_u64 from = (i - window->pad_left) * channels + channel;                        \
        RK_UNROLL for (rk_u32 v = 0; v < VECTORS; ++v) {                                        \
          rk_f32x16 x = rk_splat16(0.0f);                                                       \
          if (is_inside)                                                                        \
            x = rk_load_some(line + from + v * 16,                                              \
                             (rk_u64)(groups->lines.images_end - line) - from - v * 16);        \
          const rk_u64 rest = (rk_u64)(groups->filter_end - filter) - v * 16;                   \
          sum[v] = rk_fma16(x, rk_load_some(filter + v * 16, rest), sum[v]);                    \
        }                                                                                       \
        if (--left != 0) continue;                                                              \
        RK_GROUPS_ADD(VECTORS)                                                                  \
        left = RK_BLOCK_DEPTH;                                                                  \
      }                                                                                         \
    }                                                                                           \
    if (left != RK_BLOCK_DEPTH) {                                                               \
      RK_GROUPS_ADD(VECTORS)                                                                    \
    }                                                                                           \
    RK_GLOBAL rk_f32* to = piece->line + column * channels + channel;                           \
    RK_UNROLL for (rk_u32 v = 0; v < VECTORS; ++v) {                                            \
      rk_store_some(to + v * 16, total[v], channels);                                           \
    }                                                                                           \
  }

/// Channels that are done one after the other for a piece: what their windows have in common stays
/// in the nearest cache.
#define RK_DEPTHWISE_VECTORS 4
#define RK_DEPTHWISE_CHANNELS (RK_DEPTHWISE_VECTORS * RK_WIDTH)
RK_DEPTHWISE_ONE(rk_depthwise_one, 1)
RK_DEPTHWISE_ONE(rk_depthwise_several, RK_DEPTHWISE_VECTORS) /* they do not wait for each other */

/// Of fewer than 16 channels the filter is packed, 16 elements from tap to tap.
RK_INLINE void rk_depthwise_pack(rk_groups* groups, RK_GLOBAL rk_f32* RK_RESTRICT to) {
  const rk_u64 channels = groups->lines.window.channels;
  RK_GLOBAL const rk_f32* from = groups->filter;
  rk_u64 taps = 0;
  for (; from < groups->filter_end; from += channels, ++taps)
    rk_store16_near(to + taps * 16, rk_load_some(from, (rk_u64)(groups->filter_end - from)));
  groups->filter = to;
  groups->filter_end = to + taps * 16;
  groups->filter_step = 16;
}

/// Channels `first` to `end`, one block of them; `inside` is where tiles may be.
RK_INLINE void rk_depthwise_channels(const rk_groups* groups, const rk_window_piece* piece,
                                     const rk_window_inside* inside, rk_u64 first, rk_u64 end) {
  const rk_u64 channels = groups->lines.window.channels;
  const rk_u64 tile = RK_DEPTHWISE_COLUMNS;
  for (rk_u64 column = piece->column; column < piece->end;) {
    if (column >= inside->first && column < inside->end) {
      // The last tile goes back to where it is whole: some outputs are computed twice.
      const rk_u64 from = rk_least(column, inside->end - tile);
      for (rk_u64 channel = first; channel < end; channel += RK_WIDTH)
        rk_depthwise_tile(groups, piece, from, rk_whole_vector(channel, channels));
      column = from + tile;
      continue;
    }
    if (end - first == RK_DEPTHWISE_CHANNELS) {
      rk_depthwise_several(groups, piece, column, first);
    } else {
      for (rk_u64 channel = first; channel < end; channel += RK_WIDTH)
        rk_depthwise_one(groups, piece, column, rk_whole_vector(channel, channels));
    }
    ++column;
  }
}

RK_INLINE void rk_depthwise_piece(const rk_groups* groups, const rk_window_piece* piece) {
  const rk_window* window = &groups->lines.window;
  const rk_u64 channels = window->channels;
  rk_window_inside inside = rk_window_inside_of(window, piece);
  // Behind the last channels of an image's few there may be nothing to load.
  if (channels < RK_WIDTH) {
    const rk_u64 spare = (RK_WIDTH - 1) / channels / window->column_stride + 1;
    inside.end = inside.end - inside.first > spare ? inside.end - spare : inside.first;
  }
  if (inside.end - inside.first < RK_DEPTHWISE_COLUMNS ||
      groups->lines.rows * window->columns > RK_BLOCK_DEPTH)
    inside.end = inside.first;
  for (rk_u64 first = 0; first < channels; first += RK_DEPTHWISE_CHANNELS)
    rk_depthwise_channels(groups, piece, &inside, first,
                          rk_least(first + RK_DEPTHWISE_CHANNELS, channels));
}

// --- larger groups ------------------------------------------------------------------------------

#define RK_GROUPED_COLUMNS 4

/// COLUMNS neighbours from output `column` on, up to 16 outputs of group `group` from `output` on.
/// One alone may have columns in the padding.
#define RK_GROUPED_TILE(name, COLUMNS)                                                          \
  RK_INLINE void name(const rk_groups* groups, const rk_window_piece* piece, rk_u64 column,     \
                      rk_u64 group, rk_u64 output) {                                            \
    const rk_window* window = &groups->lines.window;                                            \
    const rk_u64 step = window->column_stride * window->channels;                               \
    const rk_u64 first = column * window->column_stride;                                        \
    rk_f32x16 sum[COLUMNS];                                                                     \
    rk_f32x16 total[COLUMNS];                                                                   \
    RK_UNROLL for (rk_u32 t = 0; t < COLUMNS; ++t) {                                            \
      sum[t] = rk_splat16(0.0f);                                                                \
      total[t] = rk_splat16(0.0f);                                                              \
    }                                                                                           \
    RK_GLOBAL const rk_f32* filter = groups->filter + group * groups->outputs + output;         \
    rk_u64 left = RK_BLOCK_DEPTH;                                                               \
    for (rk_u64 row = 0; row < groups->lines.rows; ++row) {                                     \
      RK_GLOBAL const rk_f32* line = rk_window_row(window, piece, row);                         \
      for (rk_u64 i = first; i < first + window->columns; ++i) {                                \
        const rk_u32 is_inside =                                                                \
            line != 0 && i >= window->pad_left && i - window->pad_left < window->image_columns; \
        RK_GLOBAL const rk_f32* from = line;                                                    \
        if (is_inside)                                                                          \
          from += (i - window->pad_left) * window->channels + group * groups->channels;         \
        for (rk_u64 k = 0; k < groups->channels; ++k, filter += groups->filter_step) {          \
          const rk_f32x16 y = rk_load_some(filter, (rk_u64)(groups->filter_end - filter));      \
          RK_UNROLL for (rk_u32 t = 0; t < COLUMNS; ++t) {                                      \
            sum[t] = rk_fma16(rk_splat16(is_inside ? from[t * step + k] : 0.0f), y, sum[t]);    \
          }                                                                                     \
          if (--left != 0) continue;                                                            \
          RK_GROUPS_ADD(COLUMNS)                                                                \
          left = RK_BLOCK_DEPTH;                                                                \
        }                                                                                       \
      }                                                                                         \
    }                                                                                           \
    if (left != RK_BLOCK_DEPTH) {                                                               \
      RK_GROUPS_ADD(COLUMNS)                                                                    \
    }                                                                                           \
    RK_GLOBAL rk_f32* to =                                                                      \
        piece->line + column * groups->lines.outputs + group * groups->outputs + output;        \
    RK_UNROLL for (rk_u32 t = 0; t < COLUMNS; ++t) {                                            \
      rk_store_some(to + t * groups->lines.outputs, total[t], groups->outputs - output);        \
    }                                                                                           \
  }

RK_GROUPED_TILE(rk_grouped_tile, RK_GROUPED_COLUMNS)
RK_GROUPED_TILE(rk_grouped_one, 1)

RK_INLINE void rk_grouped_outputs(const rk_groups* groups, const rk_window_piece* piece,
                                  rk_u64 column, rk_u32 is_tile) {
  const rk_u64 count = groups->lines.outputs / groups->outputs;
  for (rk_u64 group = 0; group < count; ++group) {
    for (rk_u64 output = 0; output < groups->outputs; output += RK_WIDTH) {
      if (is_tile)
        rk_grouped_tile(groups, piece, column, group, output);
      else
        rk_grouped_one(groups, piece, column, group, output);
    }
  }
}

RK_INLINE void rk_grouped_piece(const rk_groups* groups, const rk_window_piece* piece) {
  const rk_window_inside inside = rk_window_inside_of(&groups->lines.window, piece);
  for (rk_u64 column = piece->column; column < piece->end;) {
    const rk_u32 is_tile = column >= inside.first && column + RK_GROUPED_COLUMNS <= inside.end;
    rk_grouped_outputs(groups, piece, column, is_tile);
    column += is_tile ? RK_GROUPED_COLUMNS : 1;
  }
}

// --- both ---------------------------------------------------------------------------------------

#define RK_GROUPS_TILE (RK_DEPTHWISE_COLUMNS * RK_GROUPED_COLUMNS)

RK_INLINE rk_u32 rk_groups_are_depthwise(const rk_groups* groups) {
  return groups->channels == 1 && groups->outputs == 1;
}

/// Packs what is read packed.
RK_INLINE void rk_groups_open(rk_groups* groups, const rk_op_args* args) {
  const rk_u64 taps = groups->lines.rows * groups->lines.window.columns;
  if (!rk_groups_are_depthwise(groups) || groups->lines.window.channels >= RK_WIDTH ||
      taps > RK_WORKSPACE_BYTES / sizeof(rk_f32) / 16)
    return;
  rk_turn_set_packed(args->turn, 0);
  rk_depthwise_pack(groups, args->workspace);
}

RK_INLINE void rk_groups_piece(const rk_groups* groups, const rk_window_piece* piece) {
  if (rk_groups_are_depthwise(groups))
    rk_depthwise_piece(groups, piece);
  else
    rk_grouped_piece(groups, piece);
}

#endif

/// This lane's steps. A verdict of rk_turn_next.
RK_INLINE rk_u32 rk_groups_run(rk_groups* groups, const rk_op_args* args, rk_u64 lines_count) {
  rk_window_lines* lines = &groups->lines;
  const rk_u64 work = lines->outputs * lines->rows * lines->window.columns * groups->channels;
  rk_window_lines_plan(lines, lines_count, work, RK_GROUPS_TILE);
  rk_groups_open(groups, args);
  rk_u64 step = rk_turn_first(args->turn) + args->lane;
  for (; step < lines->steps; step += args->lanes) {
    const rk_u32 verdict = rk_turn_next(args->turn, step);
    if (verdict != RK_FAULT_NONE) return verdict;
    const rk_window_piece piece = rk_window_piece_of(lines, step);
    rk_groups_piece(groups, &piece);
    rk_turn_work(args->turn, (piece.end - piece.column) * work);
  }
  return RK_FAULT_NONE;
}

#endif
