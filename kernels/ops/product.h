/// The product of two matrices, C = A B, for matmul and conv2d.
///
/// The order is part of the result. For each element of C: K is cut into blocks of 128; a block's
/// sum starts at +0 and takes one fma for each k, ascending; the element starts at +0 and takes one
/// addition for each block, ascending. How rows and columns are tiled changes no bit.
///
/// Products that gain nothing from packing read their operands where they lie
/// (ops/product_small.h). For the others several blocks of K are packed at a time. Of A some rows,
/// which stay in the second cache. Of B a strip of a few vectors of columns, one block after the
/// other, which stays in the nearest cache while the rows pass by. The elements of the strip are
/// held beside them, line by line, and meet C only before the first and after the last of these
/// blocks: rows of C lie far apart, and at powers of two share a few sets of the caches. All of it
/// lies in the workspace. Nothing else points there, which `restrict` says at every step down to
/// the tile: without it PoCL's code was slower by 4 %.
#ifndef RINGKERNEL_OPS_PRODUCT_H
#define RINGKERNEL_OPS_PRODUCT_H

#include "ops/args.h"
#include "ops/product_small.h"
#include "ops/window.h"

#define RK_HELD_BLOCKS 4u
#define RK_HELD_DEPTH (RK_HELD_BLOCKS * RK_BLOCK_DEPTH)
#define RK_HELD_ROWS 192u
#if RK_HELD_ROWS % RK_TILE_ROWS != 0
#error "Rows are held in whole tiles."
#endif
#define RK_PANEL (RK_HELD_ROWS * RK_BLOCK_DEPTH) /* one block of A, packed */
#define RK_TILE_COLUMNS ((rk_u64)RK_TILE_VECTORS * 16)

/// The workspace: the panels of A, the panel of B, and the elements of the strip, each a whole
/// number of lines. 393,216 + 16,384 + 24,576 bytes with two vectors in a tile.
#define RK_A_PANELS_FLOATS (RK_HELD_BLOCKS * RK_PANEL)
#define RK_B_PANEL_FLOATS (RK_BLOCK_DEPTH * RK_TILE_COLUMNS)
#define RK_TOTALS_FLOATS (RK_HELD_ROWS * RK_TILE_COLUMNS)
RK_STATIC_ASSERT((RK_A_PANELS_FLOATS + RK_B_PANEL_FLOATS + RK_TOTALS_FLOATS) * sizeof(rk_f32) <=
                     RK_WORKSPACE_BYTES,
                 "The panels do not fit into the workspace.");
RK_STATIC_ASSERT(RK_WORKSPACE_BYTES % 64 == 0, "The next workspace would not be aligned.");

/// The part of A that is packed.
typedef struct rk_product_part {
  rk_u64 row;   /* first row */
  rk_u64 rows;  /* how many */
  rk_u64 k;     /* first k */
  rk_u64 depth; /* how many */
} rk_product_part;

/// One block of K in a strip of columns.
typedef struct rk_product_block {
  RK_GLOBAL const rk_f32* b;      /* its first row in the strip */
  RK_GLOBAL const rk_f32* next_b; /* that of the block packed next */
  RK_GLOBAL rk_f32* c;            /* the part's first row in the strip */
  rk_u64 stride;                  /* from row to row of B and of C */
  rk_u64 width;                   /* columns that there are, up to RK_TILE_COLUMNS */
  rk_u64 depth;
  rk_u32 begins; /* first of those held */
  rk_u32 ends;   /* last of those held */
  rk_u32 is_new; /* nothing is in C yet */
} rk_product_block;

/// A tile takes a block of K in pieces. With each it hints at a share of what is needed soon: all
/// hints at once would wait for each other.
#define RK_PIECE 16u
#define RK_PIECES (RK_BLOCK_DEPTH / RK_PIECE)

typedef struct rk_product_ahead {
  RK_GLOBAL const rk_f32* b; /* RK_PIECES rows of the block packed next */
  RK_GLOBAL rk_f32* c;       /* the next tile's rows */
  rk_u64 stride;
  rk_u32 is_b_wanted;
  rk_u32 is_c_wanted;
} rk_product_ahead;

RK_INLINE void rk_product_hint(const rk_product_ahead* ahead, rk_u64 piece) {
  if (ahead->is_b_wanted) {
    RK_GLOBAL const rk_f32* b = ahead->b + piece * ahead->stride;
    RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_COLUMNS; v += 16) {
      rk_prefetch_later((rk_const_bytes)(b + v));
    }
  }
  if (!ahead->is_c_wanted) return;
  const rk_u64 rows = (RK_TILE_ROWS + RK_PIECES - 1) / RK_PIECES;
  RK_GLOBAL rk_f32* c = ahead->c + piece * rows * ahead->stride;
  RK_UNROLL for (rk_u32 r = 0; r < rows; ++r) {
    RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_COLUMNS; v += 16) {
      rk_prefetch_write((rk_bytes)(c + r * ahead->stride + v));
    }
  }
}

/// One block of K for ROWS rows and `RK_TILE_VECTORS` vectors, added to `totals`.
#define RK_PRODUCT_TILE(name, ROWS)                                                          \
  RK_INLINE void name(RK_GLOBAL const rk_f32* RK_RESTRICT a,                                 \
                      RK_GLOBAL const rk_f32* RK_RESTRICT b, rk_u64 depth,                   \
                      const rk_product_ahead* ahead, RK_GLOBAL rk_f32* RK_RESTRICT totals) { \
    rk_f32x16 sum[ROWS][RK_TILE_VECTORS];                                                    \
    RK_UNROLL for (rk_u32 r = 0; r < ROWS; ++r) {                                            \
      RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_VECTORS; ++v) sum[r][v] = rk_splat16(0.0f);   \
    }                                                                                        \
    for (rk_u64 k = 0; k < depth;) {                                                         \
      const rk_u64 end = rk_least(k + RK_PIECE, depth);                                      \
      if (ROWS == RK_TILE_ROWS) rk_product_hint(ahead, k / RK_PIECE);                        \
      for (; k < end; ++k) {                                                                 \
        rk_f32x16 y[RK_TILE_VECTORS];                                                        \
        RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_VECTORS; ++v) {                             \
          y[v] = rk_load16_near(b + k * RK_TILE_COLUMNS + v * 16);                           \
        }                                                                                    \
        RK_UNROLL for (rk_u32 r = 0; r < ROWS; ++r) {                                        \
          const rk_f32x16 x = rk_splat16(a[r * RK_BLOCK_DEPTH + k]);                         \
          RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_VECTORS; ++v) {                           \
            sum[r][v] = rk_fma16(x, y[v], sum[r][v]);                                        \
          }                                                                                  \
        }                                                                                    \
      }                                                                                      \
    }                                                                                        \
    RK_UNROLL for (rk_u32 r = 0; r < ROWS; ++r) {                                            \
      RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_VECTORS; ++v) {                               \
        RK_GLOBAL rk_f32* to = totals + r * RK_TILE_COLUMNS + v * 16;                        \
        rk_store16_near(to, rk_load16_near(to) + sum[r][v]);                                 \
      }                                                                                      \
    }                                                                                        \
  }

#define RK_TILE_ROWS_FEW 4

RK_PRODUCT_TILE(rk_product_tile, RK_TILE_ROWS)
RK_PRODUCT_TILE(rk_product_tile_few, RK_TILE_ROWS_FEW)
RK_PRODUCT_TILE(rk_product_tile_row, 1)

/// Packs the part of A block by block, RK_PANEL apart, RK_BLOCK_DEPTH from row to row.
RK_INLINE void rk_product_pack_a(const rk_product* product, const rk_product_part* part,
                                 RK_GLOBAL rk_f32* RK_RESTRICT panel) {
  if (product->window) {
    for (rk_u64 k = 0; k < part->depth; k += RK_BLOCK_DEPTH, panel += RK_PANEL)
      rk_window_pack(product->window, product->a, part->row, part->rows, part->k + k,
                     rk_least(part->depth - k, RK_BLOCK_DEPTH), panel, RK_BLOCK_DEPTH);
    return;
  }
  RK_GLOBAL const rk_f32* from = product->a + part->row * product->depth + part->k;
  for (rk_u64 row = 0; row < part->rows; ++row, from += product->depth, panel += RK_BLOCK_DEPTH) {
    for (rk_u64 k = 0; k < part->depth; k += RK_BLOCK_DEPTH)
      rk_pack_line(panel + k / RK_BLOCK_DEPTH * RK_PANEL, from + k,
                   rk_least(part->depth - k, RK_BLOCK_DEPTH));
  }
}

/// Packs the block's rows of B. Columns past the last one hold whatever follows, or zero from `end`
/// on: their sums are never stored.
RK_INLINE void rk_product_pack_b(const rk_product_block* block, RK_GLOBAL const rk_f32* end,
                                 RK_GLOBAL rk_f32* RK_RESTRICT panel) {
  RK_GLOBAL const rk_f32* from = block->b;
  for (rk_u64 row = 0; row < block->depth; ++row) {
    if (block->width == RK_TILE_COLUMNS) {
      RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_COLUMNS; v += 16) {
        rk_store16_near(panel + v, rk_load16_near(from + v));
      }
    } else {
      const rk_u64 left = (rk_u64)(end - from);
      for (rk_u64 v = 0; v < RK_TILE_COLUMNS; v += 16) {
        if (v + 16 <= left) {
          rk_store16_near(panel + v, rk_load16_near(from + v));
        } else {
          for (rk_u64 i = v; i < v + 16; ++i) panel[i] = i < left ? from[i] : 0.0f;
        }
      }
    }
    from += block->stride;
    panel += RK_TILE_COLUMNS;
  }
}

/// `rows` rows of elements begin: at zero, or as the blocks before have left them in C.
RK_INLINE void rk_product_begin(const rk_product_block* block, RK_GLOBAL const rk_f32* c,
                                rk_u64 rows, RK_GLOBAL rk_f32* RK_RESTRICT totals) {
  const rk_u64 loaded = block->is_new ? 0 : block->width;
  for (rk_u64 r = 0; r < rows; ++r) {
    RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_COLUMNS; v += 16) {
      rk_store16_near(totals + v, v + 16 <= loaded ? rk_load16_near(c + v) : rk_splat16(0.0f));
    }
    for (rk_u64 i = loaded / 16 * 16; i < loaded; ++i) totals[i] = c[i];
    c += block->stride;
    totals += RK_TILE_COLUMNS;
  }
}

/// `rows` rows of elements go to C.
RK_INLINE void rk_product_end(const rk_product_block* block, RK_GLOBAL rk_f32* c, rk_u64 rows,
                              RK_GLOBAL const rk_f32* RK_RESTRICT totals) {
  for (rk_u64 r = 0; r < rows; ++r) {
    RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_COLUMNS; v += 16) {
      if (v + 16 <= block->width) rk_store16_near(c + v, rk_load16_near(totals + v));
    }
    for (rk_u64 i = block->width / 16 * 16; i < block->width; ++i) c[i] = totals[i];
    c += block->stride;
    totals += RK_TILE_COLUMNS;
  }
}

/// One block of K for all rows of the part.
RK_INLINE void rk_product_rows(const rk_product_block* block, rk_u64 part_rows,
                               RK_GLOBAL const rk_f32* RK_RESTRICT a_panel,
                               RK_GLOBAL const rk_f32* RK_RESTRICT b_panel,
                               RK_GLOBAL rk_f32* RK_RESTRICT totals) {
  const rk_u64 depth = block->depth;
  rk_product_ahead ahead;
  ahead.b = block->next_b;
  ahead.stride = block->stride;
  rk_u64 rows = 0;
  for (rk_u64 row = 0; row < part_rows; row += rows) {
    const rk_u64 left = part_rows - row;
    rows = left >= RK_TILE_ROWS ? RK_TILE_ROWS : left >= RK_TILE_ROWS_FEW ? RK_TILE_ROWS_FEW : 1;
    RK_GLOBAL const rk_f32* a = a_panel + row * RK_BLOCK_DEPTH;
    RK_GLOBAL rk_f32* to = totals + row * RK_TILE_COLUMNS;
    RK_GLOBAL rk_f32* c = block->c + row * block->stride;
    if (block->begins) rk_product_begin(block, c, rows, to);
    ahead.c = c + rows * block->stride;
    ahead.is_c_wanted =
        left >= 2 * RK_TILE_ROWS && (block->ends || (block->begins && !block->is_new));
    ahead.is_b_wanted = row < RK_BLOCK_DEPTH / RK_PIECES * RK_TILE_ROWS;
    if (rows == RK_TILE_ROWS)
      rk_product_tile(a, b_panel, depth, &ahead, to);
    else if (rows == RK_TILE_ROWS_FEW)
      rk_product_tile_few(a, b_panel, depth, &ahead, to);
    else
      rk_product_tile_row(a, b_panel, depth, &ahead, to);
    if (block->ends) rk_product_end(block, c, rows, to);
    ahead.b += RK_PIECES * block->stride;
  }
}

/// The part's rows of up to RK_TILE_COLUMNS columns; `next_column` begins this lane's next strip.
RK_INLINE void rk_product_strip(const rk_product* product, const rk_product_part* part,
                                rk_u64 column, rk_u64 next_column,
                                RK_GLOBAL rk_f32* RK_RESTRICT workspace) {
  RK_GLOBAL const rk_f32* a_panel = workspace;
  RK_GLOBAL rk_f32* b_panel = workspace + RK_A_PANELS_FLOATS;
  RK_GLOBAL rk_f32* totals = b_panel + RK_B_PANEL_FLOATS;
  RK_GLOBAL const rk_f32* const end = product->b + product->depth * product->columns;
  RK_GLOBAL const rk_f32* const part_b = product->b + part->k * product->columns;
  rk_product_block block;
  block.b = part_b + column;
  block.stride = product->columns;
  block.c = product->c + part->row * block.stride + column;
  block.width = rk_least(block.stride - column, RK_TILE_COLUMNS);
  block.is_new = part->k == 0;
  for (rk_u64 k = 0; k < part->depth; k += RK_BLOCK_DEPTH) {
    block.depth = rk_least(part->depth - k, RK_BLOCK_DEPTH);
    block.begins = k == 0;
    block.ends = k + block.depth == part->depth;
    block.next_b = block.ends ? part_b + next_column : block.b + RK_BLOCK_DEPTH * block.stride;
    rk_product_pack_b(&block, end, b_panel);
    rk_product_rows(&block, part->rows, a_panel, b_panel, totals);
    block.b = block.next_b;
    a_panel += RK_PANEL;
  }
}

/// How many rows are packed at a time: whole tiles, and in the last part hardly fewer.
RK_INLINE rk_u64 rk_product_part_rows(rk_u64 rows) {
  if (rows <= RK_HELD_ROWS) return rows;
  const rk_u64 parts = (rows + RK_HELD_ROWS - 1) / RK_HELD_ROWS;
  return ((rows - 1) / (parts * RK_TILE_ROWS) + 1) * RK_TILE_ROWS;
}

RK_INLINE rk_u64 rk_product_strips(const rk_product* product) {
  return (product->columns + RK_TILE_COLUMNS - 1) / RK_TILE_COLUMNS;
}

/// The steps of a product: a strip of a part each, where operands are packed.
RK_INLINE rk_u64 rk_product_steps(const rk_product* product) {
  const rk_u64 small = rk_product_small_steps(product);
  if (small != 0) return small;
  const rk_u64 part_rows = rk_product_part_rows(product->rows);
  return (product->rows + part_rows - 1) / part_rows *
         ((product->depth + RK_HELD_DEPTH - 1) / RK_HELD_DEPTH) * rk_product_strips(product);
}

/// The strips of a part from `column` on. `is_packed`: its rows of A are. A verdict of
/// rk_turn_next.
RK_INLINE rk_u32 rk_product_run_part(rk_product* product, const rk_product_part* part,
                                     const rk_op_args* args, rk_u64 first, rk_u64 column,
                                     rk_u32 is_packed) {
  for (; column < product->columns; column += RK_TILE_COLUMNS) {
    const rk_u64 strip = column / RK_TILE_COLUMNS;
    const rk_u32 verdict = rk_turn_next(args->turn, product->first_step + strip);
    if (verdict != RK_FAULT_NONE) {
      if (is_packed) rk_turn_set_packed(args->turn, 1);
      return verdict;
    }
    if (!is_packed) {
      rk_turn_set_packed(args->turn, 0);
      rk_product_pack_a(product, part, args->workspace);
      is_packed = 1;
    }
    if ((first + strip) % args->lanes != args->lane) continue;
    rk_product_strip(product, part, column, column + args->lanes * RK_TILE_COLUMNS,
                     args->workspace);
    rk_turn_work(args->turn, part->rows * part->depth * RK_TILE_COLUMNS);
  }
  return RK_FAULT_NONE;
}

/// Computes the strips of columns that are this lane's: every `lanes`th, the first of them being
/// number `first` over all; those that earlier turns have not done. A verdict of rk_turn_next.
RK_NOINLINE rk_u32 rk_product_run(rk_product* product, const rk_op_args* args, rk_u64 first) {
  rk_u32 verdict;
  if (rk_product_run_small(product, args, first, &verdict)) return verdict;
  const rk_u64 strips = rk_product_strips(product);
  const rk_u64 part_rows = rk_product_part_rows(product->rows);
  rk_u64 step = rk_product_first_step(product, args);
  rk_product_part part;
  part.row = 0;
  part.k = 0;
  if (step != 0) {
    const rk_u64 parts = (product->depth + RK_HELD_DEPTH - 1) / RK_HELD_DEPTH;
    part.row = step / strips / parts * part_rows;
    part.k = step / strips % parts * RK_HELD_DEPTH;
    product->first_step += step / strips * strips;
    step %= strips;
  }
  // Between two parts, what is packed is of the part before.
  rk_u32 is_packed = step != 0 && rk_turn_has_packed(args->turn);
  for (; part.row < product->rows; part.row += part_rows, part.k = 0) {
    part.rows = rk_least(product->rows - part.row, part_rows);
    for (; part.k < product->depth; part.k += RK_HELD_DEPTH) {
      part.depth = rk_least(product->depth - part.k, RK_HELD_DEPTH);
      verdict = rk_product_run_part(product, &part, args, first, step * RK_TILE_COLUMNS, is_packed);
      if (verdict != RK_FAULT_NONE) return verdict;
      product->first_step += strips;
      is_packed = 0;
      step = 0;
    }
  }
  return RK_FAULT_NONE;
}

#endif
