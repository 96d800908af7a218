/// Windows that are taken where they lie, line by line of the outputs: conv2d with groups of
/// channels, and max_pool. A line, or a piece of a long one, is a step (rk_turn.h).
#ifndef RINGKERNEL_OPS_WINDOW_LINES_H
#define RINGKERNEL_OPS_WINDOW_LINES_H

#include "ops/args.h"
#include "ops/product_small.h"
#include "ops/window.h"

typedef struct rk_window_lines {
  rk_window window;
  rk_u64 rows;    /* of a window */
  rk_u64 outputs; /* channels of the result */
  RK_GLOBAL const rk_f32* images;
  RK_GLOBAL const rk_f32* images_end;
  RK_GLOBAL rk_f32* output;
  rk_u64 piece;  /* outputs of a line in one step */
  rk_u64 pieces; /* of a line */
  rk_u64 steps;
} rk_window_lines;

/// A piece of a line of outputs.
typedef struct rk_window_piece {
  RK_GLOBAL const rk_f32* image;
  RK_GLOBAL rk_f32* line; /* its outputs, those of other pieces included */
  rk_u64 first_row;       /* of its windows, counted from the padding's first */
  rk_u64 column;          /* first output */
  rk_u64 end;             /* behind the last */
} rk_window_piece;

/// Multiply-adds of a step, about. On a GPU it is one place, for there are many lanes.
#if RK_IS_GPU
#define RK_LINE_STEP ((rk_u64)1)
#else
#define RK_LINE_STEP ((rk_u64)1 << 20)
#endif

/// Whether `outputs` windows of `extent` elements, `stride` apart, are what fits into `length`
/// elements with padding on both sides. A padded extent fits into 32 bits, so that nothing below
/// overflows.
RK_INLINE rk_u32 rk_windows_fit(rk_u64 outputs, rk_u64 extent, rk_u64 stride, rk_u64 length,
                                rk_u64 pad_before, rk_u64 pad_after) {
  const rk_u64 padded = length + pad_before + pad_after;
  return stride != 0 && padded >> 32 == 0 && extent <= padded &&
         outputs == (padded - extent) / stride + 1;
}

/// Divides the outputs into steps; `work` is that of one place. Pieces are whole `tile`s of places.
RK_INLINE void rk_window_lines_plan(rk_window_lines* lines, rk_u64 lines_count, rk_u64 work,
                                    rk_u64 tile) {
  const rk_u64 tiles = RK_LINE_STEP / tile / work;
  lines->piece = (tiles != 0 ? tiles : 1) * tile;
  lines->pieces = (lines->window.output_columns + lines->piece - 1) / lines->piece;
  lines->steps = lines_count * lines->pieces;
}

RK_INLINE rk_window_piece rk_window_piece_of(const rk_window_lines* lines, rk_u64 step) {
  const rk_window* window = &lines->window;
  const rk_u64 line = step / lines->pieces;
  rk_window_piece piece;
  piece.image = lines->images + line / window->output_rows * window->image_rows *
                                    window->image_columns * window->channels;
  piece.line = lines->output + line * window->output_columns * lines->outputs;
  piece.first_row = line % window->output_rows * window->row_stride;
  piece.column = step % lines->pieces * lines->piece;
  piece.end = rk_least(piece.column + lines->piece, window->output_columns);
  return piece;
}

/// The outputs of a piece whose windows have no column in the padding: from `first` to `end`, which
/// may be the same.
typedef struct rk_window_inside {
  rk_u64 first;
  rk_u64 end;
} rk_window_inside;

RK_INLINE rk_window_inside rk_window_inside_of(const rk_window* window,
                                               const rk_window_piece* piece) {
  const rk_u64 stride = window->column_stride;
  const rk_u64 held_end = window->pad_left + window->image_columns;
  const rk_u64 end = held_end >= window->columns ? (held_end - window->columns) / stride + 1 : 0;
  rk_window_inside inside;
  inside.first = (window->pad_left + stride - 1) / stride;
  if (inside.first < piece->column) inside.first = piece->column;
  inside.end = rk_least(end, piece->end);
  if (inside.end < inside.first) inside.end = inside.first;
  return inside;
}

/// Where a vector begins that has channel `channel`: inside of the channels, if they are that many,
/// so that the last ones are computed twice where they are no whole number of vectors.
RK_INLINE rk_u64 rk_whole_vector(rk_u64 channel, rk_u64 channels) {
  return channels < RK_WIDTH ? 0 : rk_least(channel, channels - RK_WIDTH);
}

/// Where a row of a window begins at column 0 of the image; null: the row is padding.
RK_INLINE RK_GLOBAL const rk_f32* rk_window_row(const rk_window* window,
                                                const rk_window_piece* piece, rk_u64 row) {
  const rk_u64 padded_row = piece->first_row + row;
  if (padded_row < window->pad_top || padded_row - window->pad_top >= window->image_rows) return 0;
  return piece->image + (padded_row - window->pad_top) * window->image_columns * window->channels;
}

#endif
