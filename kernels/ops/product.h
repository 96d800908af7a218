/// The product of two matrices, C = A B, for matmul and conv2d.
///
/// The order is part of the result. For each element of C: K is cut into blocks of 128; a block's
/// sum starts at +0 and takes one fma for each k, ascending; the element starts at +0 and takes one
/// addition for each block, ascending. How rows and columns are tiled changes no bit.
///
/// For each block of K, some hundred rows of A are packed side by side and stay in the second
/// cache; a strip of B, a few vectors of columns, is packed, zero-padded to whole vectors, and
/// stays in the nearest cache while the rows pass by. One row alone gains nothing from packing B.
/// Both are on the stack, 140 KiB.
#ifndef RINGKERNEL_OPS_PRODUCT_H
#define RINGKERNEL_OPS_PRODUCT_H

#include "ops/args.h"
#include "ops/window.h"

#define RK_BLOCK_DEPTH 128u
#define RK_BLOCK_ROWS 240u
#define RK_BLOCK_COLUMNS 512u
#define RK_LINE_ALIGNED __attribute__((aligned(64)))
#define RK_TILE_COLUMNS (RK_TILE_VECTORS * 16)

/// All dense and row-major.
typedef struct rk_product {
  RK_GLOBAL const rk_f32* a; /* rows x depth; or, if `is_windowed`, the images */
  RK_GLOBAL const rk_f32* b; /* depth x columns */
  RK_GLOBAL rk_f32* c;       /* rows x columns */
  rk_u64 rows;
  rk_u64 depth;
  rk_u64 columns;
  rk_u32 is_windowed; /* a row of A is the window for one output of conv2d */
  rk_window window;
} rk_product;

RK_INLINE rk_u64 rk_least(rk_u64 a, rk_u64 b) { return a < b ? a : b; }

/// What the loops over one block of K share.
typedef struct rk_product_block {
  rk_u64 row;   /* first row of the packed ones */
  rk_u64 rows;  /* how many */
  rk_u64 k;     /* first k */
  rk_u64 depth; /* how many */
} rk_product_block;

/// Where a tile's sums go: they are added to C, which the first block finds zero.
typedef struct rk_product_target {
  RK_GLOBAL rk_f32* c;
  rk_u64 stride;
  rk_u64 width; /* columns that there are, up to RK_TILE_COLUMNS */
  rk_u32 is_first;
} rk_product_target;

/// Adds 16 neighbouring sums, or as many as there are columns from `column` on.
RK_INLINE void rk_product_add(const rk_product_target* target, rk_u64 row, rk_u64 column,
                              rk_f32x16 sum) {
  RK_GLOBAL rk_f32* to = target->c + row * target->stride + column;
  if (column + 16 <= target->width) {
    rk_store16(to, (target->is_first ? rk_splat16(0.0f) : rk_load16(to)) + sum);
    return;
  }
  rk_f32 sums[16];
  rk_store16_private(sums, sum);
  for (rk_u64 i = 0; column + i < target->width; ++i)
    to[i] = (target->is_first ? 0.0f : to[i]) + sums[i];
}

/// One block of K for ROWS rows and `RK_TILE_VECTORS` vectors. B lies in SPACE memory and is loaded
/// by `load`.
#define RK_PRODUCT_TILE(name, ROWS, SPACE, load)                                             \
  RK_INLINE void name(const rk_f32* a, SPACE const rk_f32* b, rk_u64 b_stride, rk_u64 depth, \
                      const rk_product_target* target) {                                     \
    rk_f32x16 sum[ROWS][RK_TILE_VECTORS];                                                    \
    RK_UNROLL for (rk_u32 r = 0; r < ROWS; ++r) {                                            \
      RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_VECTORS; ++v) sum[r][v] = rk_splat16(0.0f);   \
    }                                                                                        \
    for (rk_u64 k = 0; k < depth; ++k) {                                                     \
      rk_f32x16 y[RK_TILE_VECTORS];                                                          \
      RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_VECTORS; ++v) {                               \
        y[v] = load(b + k * b_stride + v * 16);                                              \
      }                                                                                      \
      RK_UNROLL for (rk_u32 r = 0; r < ROWS; ++r) {                                          \
        const rk_f32x16 x = rk_splat16(a[r * RK_BLOCK_DEPTH + k]);                           \
        RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_VECTORS; ++v) {                             \
          sum[r][v] = rk_fma16(x, y[v], sum[r][v]);                                          \
        }                                                                                    \
      }                                                                                      \
    }                                                                                        \
    RK_UNROLL for (rk_u32 r = 0; r < ROWS; ++r) {                                            \
      RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_VECTORS; ++v) {                               \
        rk_product_add(target, r, v * 16, sum[r][v]);                                        \
      }                                                                                      \
    }                                                                                        \
  }

#define RK_TILE_ROWS_FEW 4

RK_PRODUCT_TILE(rk_product_tile, RK_TILE_ROWS, , rk_load16_private)
RK_PRODUCT_TILE(rk_product_tile_few, RK_TILE_ROWS_FEW, , rk_load16_private)
RK_PRODUCT_TILE(rk_product_tile_row, 1, , rk_load16_private)
RK_PRODUCT_TILE(rk_product_tile_row_unpacked, 1, RK_GLOBAL, rk_load16)

/// Packs the block of A, RK_BLOCK_DEPTH apart from row to row.
RK_INLINE void rk_product_pack_a(const rk_product* product, const rk_product_block* block,
                                 rk_f32* panel) {
  if (product->is_windowed) {
    rk_window_pack(&product->window, product->a, block->row, block->rows, block->k, block->depth,
                   panel, RK_BLOCK_DEPTH);
    return;
  }
  RK_GLOBAL const rk_f32* from = product->a + block->row * product->depth + block->k;
  for (rk_u64 row = 0; row < block->rows; ++row) {
    rk_copy_private(panel + row * RK_BLOCK_DEPTH, from + row * product->depth, block->depth);
  }
}

/// Packs the block's rows of B, RK_TILE_COLUMNS columns each. Columns past the last one hold
/// whatever follows in B, or zero past its end: their sums are never stored.
RK_INLINE void rk_product_pack_b(const rk_product* product, const rk_product_block* block,
                                 rk_u64 column, rk_f32* panel) {
  const rk_u64 end = product->depth * product->columns;
  for (rk_u64 row = 0; row < block->depth; ++row) {
    for (rk_u64 v = 0; v < RK_TILE_VECTORS; ++v) {
      const rk_u64 from = (block->k + row) * product->columns + column + v * 16;
      rk_f32* to = panel + row * RK_TILE_COLUMNS + v * 16;
      if (from + 16 <= end) {
        rk_store16_private(to, rk_load16(product->b + from));
      } else {
        for (rk_u64 i = 0; i < 16; ++i) to[i] = from + i < end ? product->b[from + i] : 0.0f;
      }
    }
  }
}

/// Fetches what is needed soon: this tile's rows of C, and this tile's share of the next strip of B
/// and of the next block of A.
RK_INLINE void rk_product_prefetch(const rk_product* product, const rk_product_block* block,
                                   rk_u64 column, rk_u64 row) {
  RK_GLOBAL rk_f32* c = product->c + (block->row + row) * product->columns + column;
  for (rk_u64 r = 0; r < RK_TILE_ROWS; ++r) {
    for (rk_u64 v = 0; v < RK_TILE_VECTORS; ++v)
      rk_prefetch_write((rk_bytes)(c + r * product->columns + v * 16));
  }
  const rk_u64 b_rows = RK_BLOCK_DEPTH * RK_TILE_ROWS / RK_BLOCK_ROWS + 1;
  RK_GLOBAL const rk_f32* b = product->b + column + RK_TILE_COLUMNS +
                              (block->k + row / RK_TILE_ROWS * b_rows) * product->columns;
  for (rk_u64 r = 0; r < b_rows; ++r) {
    for (rk_u64 v = 0; v < RK_TILE_VECTORS; ++v)
      rk_prefetch_later((rk_const_bytes)(b + r * product->columns + v * 16));
  }
  if (product->is_windowed) return;
  const rk_u64 row_lines = RK_BLOCK_DEPTH / 16;
  const rk_u64 a_lines = RK_TILE_ROWS * row_lines * RK_TILE_COLUMNS / RK_BLOCK_COLUMNS;
  const rk_u64 first = column % RK_BLOCK_COLUMNS / RK_TILE_COLUMNS * a_lines;
  RK_GLOBAL const rk_f32* a =
      product->a + (block->row + row) * product->depth + block->k + RK_BLOCK_DEPTH;
  for (rk_u64 line = first; line < first + a_lines; ++line)
    rk_prefetch_later(
        (rk_const_bytes)(a + line / row_lines * product->depth + line % row_lines * 16));
}

/// The block's rows of up to RK_TILE_COLUMNS columns.
RK_INLINE void rk_product_strip(const rk_product* product, const rk_product_block* block,
                                rk_u64 column, const rk_f32* a_panel) {
  rk_f32 b_panel[RK_BLOCK_DEPTH * RK_TILE_COLUMNS] RK_LINE_ALIGNED;
  const rk_u64 stride = product->columns;
  const rk_u64 depth = block->depth;
  rk_product_target target;
  target.c = product->c + block->row * stride + column;
  target.stride = stride;
  target.width = rk_least(stride - column, RK_TILE_COLUMNS);
  target.is_first = block->k == 0;
  if (block->rows == 1 && target.width == RK_TILE_COLUMNS) {
    rk_product_tile_row_unpacked(a_panel, product->b + block->k * stride + column, stride, depth,
                                 &target);
    return;
  }
  rk_product_pack_b(product, block, column, b_panel);
  rk_u64 row = 0;
  for (; row + RK_TILE_ROWS <= block->rows; row += RK_TILE_ROWS) {
    rk_product_prefetch(product, block, column, row);
    rk_product_tile(a_panel + row * RK_BLOCK_DEPTH, b_panel, RK_TILE_COLUMNS, depth, &target);
    target.c += RK_TILE_ROWS * stride;
  }
  for (; row + RK_TILE_ROWS_FEW <= block->rows; row += RK_TILE_ROWS_FEW) {
    rk_product_tile_few(a_panel + row * RK_BLOCK_DEPTH, b_panel, RK_TILE_COLUMNS, depth, &target);
    target.c += RK_TILE_ROWS_FEW * stride;
  }
  for (; row < block->rows; ++row) {
    rk_product_tile_row(a_panel + row * RK_BLOCK_DEPTH, b_panel, RK_TILE_COLUMNS, depth, &target);
    target.c += stride;
  }
}

/// Computes the strips of columns that are this lane's: every `lanes`th, the first of them being
/// number `first` over all. A block of C stays in the second cache until it is done.
RK_NOINLINE void rk_product_run(const rk_product* product, const rk_op_args* args, rk_u64 first) {
  rk_f32 a_panel[RK_BLOCK_ROWS * RK_BLOCK_DEPTH] RK_LINE_ALIGNED;
  rk_product_block block;
  for (block.row = 0; block.row < product->rows; block.row += RK_BLOCK_ROWS) {
    block.rows = rk_least(product->rows - block.row, RK_BLOCK_ROWS);
    for (rk_u64 begin = 0; begin < product->columns; begin += RK_BLOCK_COLUMNS) {
      const rk_u64 end = begin + rk_least(product->columns - begin, RK_BLOCK_COLUMNS);
      for (block.k = 0; block.k < product->depth; block.k += RK_BLOCK_DEPTH) {
        block.depth = rk_least(product->depth - block.k, RK_BLOCK_DEPTH);
        rk_product_pack_a(product, &block, a_panel);
        for (rk_u64 column = begin; column < end; column += RK_TILE_COLUMNS) {
          if ((first + column / RK_TILE_COLUMNS) % args->lanes == args->lane)
            rk_product_strip(product, &block, column, a_panel);
        }
      }
    }
  }
}

RK_INLINE rk_u64 rk_product_strips(const rk_product* product) {
  return (product->columns + RK_TILE_COLUMNS - 1) / RK_TILE_COLUMNS;
}

#endif
