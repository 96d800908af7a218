/// The windows that conv2d slides over its images, row by row of the matrix that they would make:
/// one row for each output position, its columns in the order filter row, filter column, channel.
/// Padding is zeros, which count like any other element: zero times infinity is NaN.
#ifndef RINGKERNEL_OPS_WINDOW_H
#define RINGKERNEL_OPS_WINDOW_H

#include "ops/args.h"

typedef struct rk_window {
  rk_u64 image_rows; /* of the images, NHWC */
  rk_u64 image_columns;
  rk_u64 channels;
  rk_u64 columns; /* of the filter */
  rk_u64 output_rows;
  rk_u64 output_columns;
  rk_u64 row_stride;
  rk_u64 column_stride;
  rk_u64 pad_top;
  rk_u64 pad_left;
} rk_window;

RK_INLINE void rk_pack_line(RK_GLOBAL rk_f32* RK_RESTRICT to, RK_GLOBAL const rk_f32* from,
                            rk_u64 count) {
  rk_u64 i = 0;
  for (; i + RK_WIDTH <= count; i += RK_WIDTH) rk_store16_near(to + i, rk_load16_near(from + i));
  for (; i < count; ++i) to[i] = from[i];
}

RK_INLINE void rk_pack_zeros(RK_GLOBAL rk_f32* RK_RESTRICT to, rk_u64 count) {
  for (rk_u64 i = 0; i < count; ++i) to[i] = 0.0f;
}

/// Copies `count` elements from `first` on of a line that begins `pad` zeros before `line`, which
/// holds `length` elements and is followed by zeros.
RK_INLINE void rk_window_copy_line(RK_GLOBAL const rk_f32* line, rk_u64 length, rk_u64 pad,
                                   rk_u64 first, rk_u64 count, RK_GLOBAL rk_f32* RK_RESTRICT to) {
  const rk_u64 end = pad + length;
  const rk_u64 last = first + count;
  const rk_u64 zeros = first >= pad ? 0 : pad - first < count ? pad - first : count;
  const rk_u64 held_end = last < end ? last : end;
  const rk_u64 held_first = first + zeros;
  const rk_u64 held = held_end > held_first ? held_end - held_first : 0;
  rk_pack_zeros(to, zeros);
  if (held != 0) rk_pack_line(to + zeros, line + (held_first - pad), held);
  rk_pack_zeros(to + zeros + held, count - zeros - held);
}

/// Packs columns `k` to `k + count` of `rows` rows from `row` on, `stride` elements from one row to
/// the next.
RK_INLINE void rk_window_pack(const rk_window* window, RK_GLOBAL const rk_f32* images, rk_u64 row,
                              rk_u64 rows, rk_u64 k, rk_u64 count, RK_GLOBAL rk_f32* RK_RESTRICT to,
                              rk_u64 stride) {
  const rk_u64 line_length = window->image_columns * window->channels;
  const rk_u64 pad = window->pad_left * window->channels;
  const rk_u64 step = window->column_stride * window->channels;
  const rk_u64 run = window->columns * window->channels; /* of a window in one line */
  const rk_u64 first_line = k / run;
  const rk_u64 first_skipped = k % run;
  rk_u64 output_column = row % window->output_columns;
  rk_u64 output_row = row / window->output_columns % window->output_rows;
  rk_u64 image = row / window->output_columns / window->output_rows;
  for (; rows != 0; --rows, to += stride) {
    rk_u64 line = output_row * window->row_stride + first_line; /* the padding's first is 0 */
    rk_u64 skipped = first_skipped;
    for (rk_u64 done = 0; done < count; ++line) {
      const rk_u64 length = run - skipped < count - done ? run - skipped : count - done;
      if (line >= window->pad_top && line - window->pad_top < window->image_rows) {
        RK_GLOBAL const rk_f32* from =
            images + (image * window->image_rows + (line - window->pad_top)) * line_length;
        rk_window_copy_line(from, line_length, pad, output_column * step + skipped, length,
                            to + done);
      } else {
        rk_pack_zeros(to + done, length);
      }
      done += length;
      skipped = 0;
    }
    if (++output_column < window->output_columns) continue;
    output_column = 0;
    if (++output_row < window->output_rows) continue;
    output_row = 0;
    ++image;
  }
}

#endif
