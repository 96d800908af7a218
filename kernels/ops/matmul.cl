/// matmul: [..., M, K] x [..., K, N] -> [..., M, N], batch dims broadcast.
///
/// The order is part of the result. For each element of C: K is cut into blocks of 128; a block's
/// sum starts at +0 and takes one fma for each k, ascending; the element starts at +0 and takes one
/// addition for each block, ascending. How rows and columns are tiled changes no bit.
///
/// A strip of C (all rows, a few vectors of columns) is computed block by block: the block of B is
/// packed into private memory, zero-padded to whole vectors, and stays in the nearest cache while
/// the rows of A pass by. One row alone gains nothing from packing and reads B where it lies.
#ifndef RINGKERNEL_OPS_MATMUL_CL
#define RINGKERNEL_OPS_MATMUL_CL

#include "ops/args.h"
#include "ops/odometer.h"

#define RK_MATMUL_BLOCK 128u
#define RK_TILE_COLUMNS (RK_TILE_VECTORS * 16)

/// One batch entry.
typedef struct rk_matmul {
  RK_GLOBAL const rk_f32* a;
  RK_GLOBAL const rk_f32* b;
  RK_GLOBAL rk_f32* c;
  rk_u64 rows;
  rk_u64 depth;
  rk_u64 columns;
} rk_matmul;

/// Sums of one block for ROWS rows and `RK_TILE_VECTORS` vectors: `name(a, a_stride, b, b_stride,
/// depth, sums)`. B lies in SPACE memory and is loaded by `load`.
#define RK_MATMUL_TILE(name, ROWS, SPACE, load)                                            \
  RK_INLINE void name(RK_GLOBAL const rk_f32* a, rk_u64 a_stride, SPACE const rk_f32* b,   \
                      rk_u64 b_stride, rk_u64 depth, rk_f32* sums) {                       \
    rk_f32x16 sum[ROWS][RK_TILE_VECTORS];                                                  \
    RK_UNROLL for (rk_u32 r = 0; r < ROWS; ++r) {                                          \
      RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_VECTORS; ++v) sum[r][v] = rk_splat16(0.0f); \
    }                                                                                      \
    for (rk_u64 k = 0; k < depth; ++k) {                                                   \
      rk_f32x16 y[RK_TILE_VECTORS];                                                        \
      RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_VECTORS; ++v) {                             \
        y[v] = load(b + k * b_stride + v * 16);                                            \
      }                                                                                    \
      RK_UNROLL for (rk_u32 r = 0; r < ROWS; ++r) {                                        \
        const rk_f32x16 x = rk_splat16(a[r * a_stride + k]);                               \
        RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_VECTORS; ++v) {                           \
          sum[r][v] = rk_fma16(x, y[v], sum[r][v]);                                        \
        }                                                                                  \
      }                                                                                    \
    }                                                                                      \
    RK_UNROLL for (rk_u32 r = 0; r < ROWS; ++r) {                                          \
      RK_UNROLL for (rk_u32 v = 0; v < RK_TILE_VECTORS; ++v) {                             \
        rk_store16_private(sums + (r * RK_TILE_VECTORS + v) * 16, sum[r][v]);              \
      }                                                                                    \
    }                                                                                      \
  }

#define RK_TILE_ROWS_FEW 4

RK_MATMUL_TILE(rk_matmul_tile, RK_TILE_ROWS, , rk_load16_private)
RK_MATMUL_TILE(rk_matmul_tile_few, RK_TILE_ROWS_FEW, , rk_load16_private)
RK_MATMUL_TILE(rk_matmul_tile_row, 1, , rk_load16_private)
RK_MATMUL_TILE(rk_matmul_tile_row_unpacked, 1, RK_GLOBAL, rk_load16)

/// Packs `depth` rows of B from `k` on, RK_TILE_COLUMNS columns each. Columns past the last one
/// hold whatever follows in B, or zero past its end: their sums are never stored.
RK_INLINE void rk_matmul_pack(const rk_matmul* matmul, rk_u64 k, rk_u64 column, rk_u64 depth,
                              rk_f32* panel) {
  const rk_u64 end = matmul->depth * matmul->columns;
  for (rk_u64 row = 0; row < depth; ++row) {
    for (rk_u64 v = 0; v < RK_TILE_VECTORS; ++v) {
      const rk_u64 from = (k + row) * matmul->columns + column + v * 16;
      rk_f32* to = panel + row * RK_TILE_COLUMNS + v * 16;
      if (from + 16 <= end) {
        rk_store16_private(to, rk_load16(matmul->b + from));
      } else {
        for (rk_u64 i = 0; i < 16; ++i) to[i] = from + i < end ? matmul->b[from + i] : 0.0f;
      }
    }
  }
}

/// Adds the sums of a block to `rows` rows of C; the first block finds zeros there.
RK_INLINE void rk_matmul_add(RK_GLOBAL rk_f32* c, rk_u64 c_stride, const rk_f32* sums, rk_u64 rows,
                             rk_u64 width, rk_u32 is_first) {
  for (rk_u64 r = 0; r < rows; ++r) {
    RK_GLOBAL rk_f32* to = c + r * c_stride;
    const rk_f32* from = sums + r * RK_TILE_COLUMNS;
    rk_u64 i = 0;
    for (; i + 16 <= width; i += 16) {
      const rk_f32x16 before = is_first ? rk_splat16(0.0f) : rk_load16(to + i);
      rk_store16(to + i, before + rk_load16_private(from + i));
    }
    for (; i < width; ++i) to[i] = (is_first ? 0.0f : to[i]) + from[i];
  }
}

/// All rows of up to RK_TILE_COLUMNS columns. The last tile of rows is moved up to be whole; the
/// rows that it computes again are not added again.
RK_INLINE void rk_matmul_strip(const rk_matmul* matmul, rk_u64 column) {
  rk_f32 panel[RK_MATMUL_BLOCK * RK_TILE_COLUMNS];
  rk_f32 sums[RK_TILE_ROWS * RK_TILE_COLUMNS];
  const rk_u64 rest = matmul->columns - column;
  const rk_u64 width = rest < RK_TILE_COLUMNS ? rest : RK_TILE_COLUMNS;
  const rk_u64 rows = matmul->rows;
  const rk_u64 tile_rows = rows >= RK_TILE_ROWS       ? RK_TILE_ROWS
                           : rows >= RK_TILE_ROWS_FEW ? RK_TILE_ROWS_FEW
                                                      : 1;
  const rk_u32 is_packed = rows > 1 || width < RK_TILE_COLUMNS;
  for (rk_u64 k = 0; k < matmul->depth; k += RK_MATMUL_BLOCK) {
    const rk_u64 left = matmul->depth - k;
    const rk_u64 depth = left < RK_MATMUL_BLOCK ? left : RK_MATMUL_BLOCK;
    if (is_packed) rk_matmul_pack(matmul, k, column, depth, panel);
    for (rk_u64 row = 0; row < rows; row += tile_rows) {
      const rk_u64 first = row + tile_rows <= rows ? row : rows - tile_rows;
      const rk_u64 done = row - first;
      RK_GLOBAL const rk_f32* a = matmul->a + first * matmul->depth + k;
      if (!is_packed) {
        rk_matmul_tile_row_unpacked(a, matmul->depth, matmul->b + k * matmul->columns + column,
                                    matmul->columns, depth, sums);
      } else if (tile_rows == RK_TILE_ROWS) {
        rk_matmul_tile(a, matmul->depth, panel, RK_TILE_COLUMNS, depth, sums);
      } else if (tile_rows == RK_TILE_ROWS_FEW) {
        rk_matmul_tile_few(a, matmul->depth, panel, RK_TILE_COLUMNS, depth, sums);
      } else {
        rk_matmul_tile_row(a, matmul->depth, panel, RK_TILE_COLUMNS, depth, sums);
      }
      rk_matmul_add(matmul->c + row * matmul->columns + column, matmul->columns,
                    sums + done * RK_TILE_COLUMNS, tile_rows - done, width, k == 0);
    }
  }
}

RK_INLINE rk_u32 rk_op_matmul(const rk_op_args* args) {
  RK_GLOBAL const rk_operand* out = &args->command->output;
  RK_GLOBAL const rk_operand* a = &args->command->inputs[0];
  RK_GLOBAL const rk_operand* b = &args->command->inputs[1];
  if (a->rank < 2 || b->rank < 2 || out->rank < 2) return RK_FAULT_bad_shape;
  const rk_u32 rows = a->dims[a->rank - 2u];
  const rk_u32 depth = a->dims[a->rank - 1u];
  const rk_u32 columns = b->dims[b->rank - 1u];
  if (b->dims[b->rank - 2u] != depth || out->dims[out->rank - 2u] != rows ||
      out->dims[out->rank - 1u] != columns)
    return RK_FAULT_bad_shape;
  rk_odometer batch;
  rk_odometer_begin(&batch);
  if (!rk_odometer_push_broadcast(&batch, out, a, b, 2, rows * depth, depth * columns))
    return RK_FAULT_bad_shape;

  rk_matmul matmul;
  matmul.rows = rows;
  matmul.depth = depth;
  matmul.columns = columns;
  if (batch.rank == 1 && batch.b_strides[0] == 0) {  // one B for all: the batch is more rows of A
    matmul.rows *= batch.extents[0];
    rk_odometer_begin(&batch);
  }
  matmul.c = args->output;
  rk_u64 strip = 0;
  do {
    matmul.a = args->inputs[0] + batch.a;
    matmul.b = args->inputs[1] + batch.b;
    for (rk_u64 column = 0; column < columns; column += RK_TILE_COLUMNS) {
      if (strip++ % args->lanes == args->lane) rk_matmul_strip(&matmul, column);
    }
    matmul.c += matmul.rows * columns;
  } while (rk_odometer_next(&batch, 0));
  return RK_FAULT_NONE;
}

#endif
