/// Products that read A where it lies: those of one row, and, but on a GPU, which has few registers
/// for each work-item, those of up to 16 columns. For them packing would take longer than the
/// product. The order is that of ops/product.h; what is done at the same time, rows or whole blocks
/// of K, changes no bit.
#ifndef RINGKERNEL_OPS_PRODUCT_SMALL_H
#define RINGKERNEL_OPS_PRODUCT_SMALL_H

#include "ops/args.h"
#include "ops/window.h"
#include "rk_turn.h"

#define RK_BLOCK_DEPTH 128u

/// All dense and row-major.
typedef struct rk_product {
  RK_GLOBAL const rk_f32* a; /* rows x depth; or, if there is a window, the images */
  RK_GLOBAL const rk_f32* b; /* depth x columns */
  RK_GLOBAL rk_f32* c;       /* rows x columns */
  rk_u64 rows;
  rk_u64 depth;
  rk_u64 columns;
  rk_u64 first_step; /* of the op: its first one of this product; behind it, of the next one */
  const rk_window* window; /* null, or a row of A is the window for one output of conv2d */
} rk_product;

RK_INLINE rk_u64 rk_least(rk_u64 a, rk_u64 b) { return a < b ? a : b; }

/// 16 elements of which the first `left` may be read; zero for the others.
RK_INLINE rk_f32x16 rk_load_some(RK_GLOBAL const rk_f32* from, rk_u64 left) {
  if (left >= 16) return rk_load16_near(from);
  rk_f32 elements[16];
  for (rk_u64 i = 0; i < 16; ++i) elements[i] = i < left ? from[i] : 0.0f;
  return rk_load16_private(elements);
}

/// Stores the first `width` elements; all if there are 16 or more.
RK_INLINE void rk_store_some(RK_GLOBAL rk_f32* to, rk_f32x16 value, rk_u64 width) {
  if (width >= 16) {
    rk_store16_near(to, value);
    return;
  }
  rk_f32 elements[16];
  rk_store16_private(elements, value);
  for (rk_u64 i = 0; i < width; ++i) to[i] = elements[i];
}

/// How many steps of the product earlier turns have done.
RK_INLINE rk_u64 rk_product_first_step(const rk_product* product, const rk_op_args* args) {
  const rk_u64 step = rk_turn_first(args->turn);
  return step > product->first_step ? step - product->first_step : 0;
}

// --- one row ------------------------------------------------------------------------------------

/// Up to VECTORS * 16 columns from `column` on. BLOCKS blocks of K are done at a time: an fma waits
/// for the one before it, but blocks do not wait for each other. All rows of B but the last ones
/// are followed by enough elements for a whole load.
#define RK_PRODUCT_ROW(name, VECTORS, BLOCKS)                                             \
  RK_INLINE void name(const rk_product* product, rk_u64 column) {                         \
    const rk_u64 columns = product->columns;                                              \
    const rk_u64 elements = product->depth * columns - column;                            \
    RK_GLOBAL const rk_f32* b = product->b + column;                                      \
    rk_f32x16 total[VECTORS];                                                             \
    RK_UNROLL for (rk_u32 v = 0; v < VECTORS; ++v) total[v] = rk_splat16(0.0f);           \
    for (rk_u64 k = 0; k < product->depth;) {                                             \
      RK_GLOBAL const rk_f32* a = product->a + k;                                         \
      const rk_u64 end = k + BLOCKS * RK_BLOCK_DEPTH;                                     \
      rk_f32x16 sum[BLOCKS][VECTORS];                                                     \
      RK_UNROLL for (rk_u32 n = 0; n < BLOCKS; ++n) {                                     \
        RK_UNROLL for (rk_u32 v = 0; v < VECTORS; ++v) sum[n][v] = rk_splat16(0.0f);      \
      }                                                                                   \
      if (end <= product->depth && (end - 1) * columns + VECTORS * 16 <= elements) {      \
        for (rk_u64 i = 0; i < RK_BLOCK_DEPTH; ++i) {                                     \
          RK_UNROLL for (rk_u32 n = 0; n < BLOCKS; ++n) {                                 \
            const rk_f32x16 x = rk_splat16(a[n * RK_BLOCK_DEPTH + i]);                    \
            RK_GLOBAL const rk_f32* row = b + (k + n * RK_BLOCK_DEPTH + i) * columns;     \
            RK_UNROLL for (rk_u32 v = 0; v < VECTORS; ++v) {                              \
              sum[n][v] = rk_fma16(x, rk_load16_near(row + v * 16), sum[n][v]);           \
            }                                                                             \
          }                                                                               \
        }                                                                                 \
        RK_UNROLL for (rk_u32 n = 0; n < BLOCKS; ++n) {                                   \
          RK_UNROLL for (rk_u32 v = 0; v < VECTORS; ++v) total[v] = total[v] + sum[n][v]; \
        }                                                                                 \
        k = end;                                                                          \
        continue;                                                                         \
      }                                                                                   \
      const rk_u64 depth = rk_least(product->depth - k, RK_BLOCK_DEPTH);                  \
      for (rk_u64 i = 0; i < depth; ++i) {                                                \
        const rk_f32x16 x = rk_splat16(a[i]);                                             \
        const rk_u64 at = (k + i) * columns;                                              \
        RK_UNROLL for (rk_u32 v = 0; v < VECTORS; ++v) {                                  \
          const rk_f32x16 y = rk_load_some(b + at + v * 16, elements - at - v * 16);      \
          sum[0][v] = rk_fma16(x, y, sum[0][v]);                                          \
        }                                                                                 \
      }                                                                                   \
      RK_UNROLL for (rk_u32 v = 0; v < VECTORS; ++v) total[v] = total[v] + sum[0][v];     \
      k += depth;                                                                         \
    }                                                                                     \
    RK_UNROLL for (rk_u32 v = 0; v < VECTORS; ++v) {                                      \
      rk_store_some(product->c + column + v * 16, total[v], columns - column - v * 16);   \
    }                                                                                     \
  }

#if RK_IS_GPU
RK_PRODUCT_ROW(rk_product_row1, 1, 1)
#else
RK_PRODUCT_ROW(rk_product_row1, 1, 4)
RK_PRODUCT_ROW(rk_product_row2, 2, 2)
RK_PRODUCT_ROW(rk_product_row4, 4, 1)
#endif

/// A step is 16 columns; those of a strip are done together.
#define RK_ROW_STEPS(product) (((product)->columns + 15) / 16)

/// Every lane takes its share of strips, the first of which is number `first` over all.
RK_INLINE rk_u32 rk_product_run_row(const rk_product* product, const rk_op_args* args,
                                    rk_u64 first) {
  rk_u64 strip = first;
  rk_u64 column = rk_product_first_step(product, args) * 16;
  for (; column < product->columns; ++strip) {
    const rk_u32 is_mine = strip % args->lanes == args->lane;
    const rk_u32 verdict = rk_turn_next(args->turn, product->first_step + column / 16);
    if (verdict != RK_FAULT_NONE) return verdict;
    rk_turn_work(args->turn, product->depth * rk_least(product->columns - column, 64));
#if !RK_IS_GPU
    const rk_u64 left = product->columns - column;
    if (left >= 64) {
      if (is_mine) rk_product_row4(product, column);
      column += 64;
      continue;
    }
    if (left >= 32) {
      if (is_mine) rk_product_row2(product, column);
      column += 32;
      continue;
    }
#endif
    if (is_mine) rk_product_row1(product, column);
    column += 16;
  }
  return RK_FAULT_NONE;
}

// --- up to 16 columns ---------------------------------------------------------------------------

/// Where the rows of A lie that are multiplied. In matmul they follow each other; windows are
/// `step` apart in a line of outputs, and each consists of several runs.
typedef struct rk_narrow {
  RK_GLOBAL const rk_f32* b; /* 16 elements from row to row */
  RK_GLOBAL const rk_f32* c_end;
  rk_u64 columns;
  rk_u64 b_floats;    /* of B as it is packed; 0: it lies as it should */
  rk_u64 padded_rows; /* of an image with its padding; 0: it has none */
  rk_u64 runs;        /* of a row of A */
  rk_u64 run;         /* elements that lie side by side */
  rk_u64 run_step;    /* from run to run */
  rk_u64 step;        /* from row to row */
  rk_u64 line;        /* rows in a line */
  rk_u64 line_step;   /* from its last row to the first of the next line */
} rk_narrow;

/// RK_TILE_ROWS rows of C, of which `count` are stored. Each store is of a whole vector where there
/// is room for it: what lies behind its row the next rows overwrite.
RK_INLINE void rk_narrow_tile(const rk_narrow* narrow, RK_GLOBAL const rk_f32* const* rows,
                              rk_u64 count, RK_GLOBAL rk_f32* c) {
  rk_f32x16 sum[RK_TILE_ROWS];
  rk_f32x16 total[RK_TILE_ROWS];
  RK_UNROLL for (rk_u32 r = 0; r < RK_TILE_ROWS; ++r) {
    sum[r] = rk_splat16(0.0f);
    total[r] = rk_splat16(0.0f);
  }
  RK_GLOBAL const rk_f32* b = narrow->b;
  rk_u64 left = RK_BLOCK_DEPTH; /* of the block */
  rk_u64 from = 0;              /* the run begins there */
  for (rk_u64 run = 0; run < narrow->runs; ++run, from += narrow->run_step) {
    for (rk_u64 i = 0; i < narrow->run;) {
      const rk_u64 end = i + rk_least(narrow->run - i, left);
      left -= end - i;
      for (; i < end; ++i, b += 16) {
        const rk_f32x16 y = rk_load16_near(b);
        RK_UNROLL for (rk_u32 r = 0; r < RK_TILE_ROWS; ++r) {
          sum[r] = rk_fma16(rk_splat16(rows[r][from + i]), y, sum[r]);
        }
      }
      if (left != 0) continue;
      RK_UNROLL for (rk_u32 r = 0; r < RK_TILE_ROWS; ++r) {
        total[r] = total[r] + sum[r];
        sum[r] = rk_splat16(0.0f);
      }
      left = RK_BLOCK_DEPTH;
    }
  }
  const rk_u32 is_open = left != RK_BLOCK_DEPTH; /* a block is not added yet */
  RK_UNROLL for (rk_u32 r = 0; r < RK_TILE_ROWS; ++r) {
    if (r >= count) break;
    const rk_f32x16 value = is_open ? total[r] + sum[r] : total[r];
    const rk_u64 room = (rk_u64)(narrow->c_end - c);
    rk_store_some(c, value, room >= 16 ? 16 : rk_least(room, narrow->columns));
    c += narrow->columns;
  }
}

/// `count` rows of C, beginning with the product of the row at `a`, number `in_line` of its line.
RK_INLINE void rk_narrow_rows(const rk_narrow* narrow, RK_GLOBAL const rk_f32* a, rk_u64 in_line,
                              rk_u64 count, RK_GLOBAL rk_f32* c) {
  for (rk_u64 row = 0; row < count; row += RK_TILE_ROWS, c += RK_TILE_ROWS * narrow->columns) {
    RK_GLOBAL const rk_f32* rows[RK_TILE_ROWS];
    RK_UNROLL for (rk_u32 r = 0; r < RK_TILE_ROWS; ++r) {
      rows[r] = a;
      if (row + r + 1 >= count) continue; /* the last row once more, for nothing */
      const rk_u32 is_next_line = ++in_line == narrow->line;
      a += is_next_line ? narrow->line_step : narrow->step;
      if (is_next_line) in_line = 0;
    }
    rk_narrow_tile(narrow, rows, rk_least(count - row, RK_TILE_ROWS), c);
  }
}

/// Packs B at 16 elements from row to row, unless it is already. Returns where it lies.
RK_INLINE RK_GLOBAL const rk_f32* rk_narrow_pack_b(const rk_product* product,
                                                   RK_GLOBAL rk_f32* RK_RESTRICT to) {
  if (product->columns == 16) return product->b;
  const rk_u64 elements = product->depth * product->columns;
  for (rk_u64 k = 0; k < product->depth; ++k) {
    const rk_u64 at = k * product->columns;
    rk_store16_near(to + k * 16, rk_load_some(product->b + at, elements - at));
  }
  return to;
}

/// Packs the image with its zeros around, as large as the windows need.
RK_INLINE void rk_narrow_pad(const rk_window* window, RK_GLOBAL const rk_f32* image, rk_u64 rows,
                             rk_u64 line, RK_GLOBAL rk_f32* RK_RESTRICT to) {
  const rk_u64 length = window->image_columns * window->channels;
  const rk_u64 pad = window->pad_left * window->channels;
  for (rk_u64 row = 0; row < rows; ++row) {
    const rk_u32 is_inside = row >= window->pad_top && row - window->pad_top < window->image_rows;
    if (is_inside)
      rk_window_copy_line(image + (row - window->pad_top) * length, length, pad, 0, line,
                          to + row * line);
    else
      rk_pack_zeros(to + row * line, line);
  }
}

/// Describes the product; false where B, or an image with its padding, is too large for the
/// workspace. What is packed is not there yet.
RK_INLINE rk_u32 rk_narrow_open(const rk_product* product, rk_narrow* narrow) {
  const rk_u64 room = RK_WORKSPACE_BYTES / sizeof(rk_f32);
  narrow->c_end = product->c + product->rows * product->columns;
  narrow->columns = product->columns;
  narrow->b_floats = product->columns == 16 ? 0 : product->depth * 16;
  narrow->padded_rows = 0;
  narrow->runs = 1;
  narrow->run = product->depth;
  narrow->run_step = 0;
  narrow->line = product->rows;
  narrow->line_step = 0;
  narrow->step = product->depth;
  if (narrow->b_floats > room) return 0;
  if (!product->window) return 1;
  const rk_window* window = product->window;
  narrow->run = window->columns * window->channels;
  narrow->runs = product->depth / narrow->run;
  narrow->step = window->column_stride * window->channels;
  narrow->line = window->output_columns;
  // What the windows reach. An image may have more, at which no window looks.
  const rk_u64 rows = (window->output_rows - 1) * window->row_stride + narrow->runs;
  const rk_u64 reach = (window->output_columns - 1) * narrow->step + narrow->run;
  narrow->run_step = window->image_columns * window->channels;
  if (window->pad_top != 0 || window->pad_left != 0 || rows > window->image_rows ||
      reach > narrow->run_step) {
    narrow->padded_rows = rows;
    narrow->run_step = reach;
    if (reach > room || rows > (room - narrow->b_floats) / reach) return 0;
  }
  narrow->line_step = window->row_stride * narrow->run_step - (narrow->line - 1) * narrow->step;
  return 1;
}

/// Multiply-adds of a step, about.
#define RK_NARROW_STEP ((rk_u64)1 << 20)

/// Whether the product is too small to be divided: most are, and are done without a look at steps.
RK_INLINE rk_u32 rk_narrow_is_one_step(const rk_product* product) {
  return product->rows * product->depth * 16 <= RK_NARROW_STEP;
}

/// How the rows of C are divided: those of an image, or all, are a group, which is taken in steps.
typedef struct rk_narrow_plan {
  rk_u64 rows;      /* of a group */
  rk_u64 step_rows; /* of a step: whole tiles, or the group */
  rk_u64 steps;     /* of a group */
} rk_narrow_plan;

RK_INLINE rk_narrow_plan rk_narrow_plan_of(const rk_product* product) {
  rk_narrow_plan plan;
  plan.rows = product->rows;
  if (product->window) plan.rows = product->window->output_rows * product->window->output_columns;
  const rk_u64 tiles = RK_NARROW_STEP / (RK_TILE_ROWS * 16) / product->depth;
  plan.step_rows = (tiles != 0 ? tiles : 1) * RK_TILE_ROWS;
  plan.steps = (plan.rows + plan.step_rows - 1) / plan.step_rows;
  return plan;
}

/// The rows of a group whose first product is that of the row at `a`, from step `step` on. A
/// verdict of rk_turn_next.
RK_INLINE rk_u32 rk_narrow_group(const rk_product* product, const rk_narrow* narrow,
                                 const rk_narrow_plan* plan, const rk_op_args* args,
                                 RK_GLOBAL const rk_f32* a, rk_u64 step, RK_GLOBAL rk_f32* c) {
  const rk_u64 line_elements = narrow->line_step + (narrow->line - 1) * narrow->step;
  rk_u64 line = 0;
  rk_u64 in_line = step * plan->step_rows;
  for (rk_u64 row = in_line; row < plan->rows; row += plan->step_rows, ++step) {
    const rk_u32 verdict = rk_turn_next(args->turn, product->first_step + step);
    if (verdict != RK_FAULT_NONE) return verdict;
    if (in_line >= narrow->line) {
      line += in_line / narrow->line;
      in_line %= narrow->line;
    }
    const rk_u64 count = rk_least(plan->rows - row, plan->step_rows);
    rk_narrow_rows(narrow, a + line * line_elements + in_line * narrow->step, in_line, count,
                   c + row * product->columns);
    rk_turn_work(args->turn, count * product->depth * 16);
    in_line += count;
  }
  return RK_FAULT_NONE;
}

RK_INLINE void rk_product_run_narrow(const rk_product* product, rk_narrow* narrow,
                                     RK_GLOBAL rk_f32* workspace) {
  narrow->b = rk_narrow_pack_b(product, workspace);
  if (!product->window) {
    rk_narrow_rows(narrow, product->a, 0, product->rows, product->c);
    return;
  }
  const rk_window* window = product->window;
  const rk_u64 outputs = window->output_rows * window->output_columns;
  RK_GLOBAL const rk_f32* image = product->a;
  RK_GLOBAL rk_f32* c = product->c;
  for (rk_u64 row = 0; row < product->rows; row += outputs) {
    RK_GLOBAL const rk_f32* a = image;
    if (narrow->padded_rows != 0) {
      RK_GLOBAL rk_f32* padded = workspace + narrow->b_floats;
      rk_narrow_pad(window, image, narrow->padded_rows, narrow->run_step, padded);
      a = padded;
    }
    rk_narrow_rows(narrow, a, 0, outputs, c);
    image += window->image_rows * window->image_columns * window->channels;
    c += outputs * product->columns;
  }
}

/// The same in steps.
RK_NOINLINE rk_u32 rk_product_step_narrow(rk_product* product, rk_narrow* narrow,
                                          const rk_op_args* args) {
  RK_GLOBAL rk_f32* workspace = args->workspace;
  const rk_narrow_plan plan = rk_narrow_plan_of(product);
  const rk_window* window = product->window;
  rk_u64 step = rk_product_first_step(product, args);
  rk_u32 is_packed = step != 0 && rk_turn_has_packed(args->turn);
  rk_turn_set_packed(args->turn, 0);
  if (is_packed && narrow->b_floats != 0)
    narrow->b = workspace;
  else
    narrow->b = rk_narrow_pack_b(product, workspace);
  rk_u64 row = 0;
  if (step != 0) {
    row = step / plan.steps * plan.rows;
    product->first_step += step / plan.steps * plan.steps;
    step %= plan.steps;
  }
  for (; row < product->rows; row += plan.rows) {
    RK_GLOBAL const rk_f32* a = product->a;
    if (product->window)
      a += row / plan.rows * (window->image_rows * window->image_columns * window->channels);
    if (narrow->padded_rows != 0) {
      RK_GLOBAL rk_f32* padded = workspace + narrow->b_floats;
      // In the midst of an image it is this image that was packed.
      if (!is_packed || step == 0)
        rk_narrow_pad(window, a, narrow->padded_rows, narrow->run_step, padded);
      a = padded;
    }
    const rk_u32 verdict =
        rk_narrow_group(product, narrow, &plan, args, a, step, product->c + row * product->columns);
    if (verdict != RK_FAULT_NONE) {
      rk_turn_set_packed(args->turn, 1);
      return verdict;
    }
    product->first_step += plan.steps;
    is_packed = 0;
    step = 0;
  }
  return RK_FAULT_NONE;
}

/// Whether it is one of these products; then this lane's part of it is done, unless `verdict`, of
/// rk_turn_next, says that it is not.
RK_INLINE rk_u32 rk_product_run_small(rk_product* product, const rk_op_args* args, rk_u64 first,
                                      rk_u32* verdict) {
  *verdict = RK_FAULT_NONE;
  if (product->rows == 1 && !product->window) {
    *verdict = rk_product_run_row(product, args, first);
    product->first_step += RK_ROW_STEPS(product);
    return 1;
  }
  rk_narrow narrow;
  if (RK_IS_GPU || product->columns > 16 || !rk_narrow_open(product, &narrow)) return 0;
  if (first % args->lanes != args->lane) return 1;
  if (!rk_narrow_is_one_step(product)) {
    *verdict = rk_product_step_narrow(product, &narrow, args);
    return 1;
  }
  *verdict = rk_turn_next(args->turn, product->first_step);
  if (*verdict != RK_FAULT_NONE) return 1;
  rk_turn_set_packed(args->turn, 0);
  rk_product_run_narrow(product, &narrow, args->workspace);
  rk_turn_work(args->turn, product->rows * product->depth * 16);
  ++product->first_step;
  return 1;
}

/// The steps of such a product, or 0.
RK_INLINE rk_u64 rk_product_small_steps(const rk_product* product) {
  if (product->rows == 1 && !product->window) return RK_ROW_STEPS(product);
  rk_narrow narrow;
  if (RK_IS_GPU || product->columns > 16 || !rk_narrow_open(product, &narrow)) return 0;
  if (rk_narrow_is_one_step(product)) return 1;
  const rk_narrow_plan plan = rk_narrow_plan_of(product);
  return product->rows / plan.rows * plan.steps;
}

#endif
