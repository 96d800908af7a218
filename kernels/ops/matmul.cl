/// matmul: [..., M, K] x [..., K, N] -> [..., M, N], batch dims broadcast.
#ifndef RINGKERNEL_OPS_MATMUL_CL
#define RINGKERNEL_OPS_MATMUL_CL

#include "ops/args.h"
#include "ops/odometer.h"
#include "ops/product.h"

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

  rk_product product;
  product.window = 0;
  product.rows = rows;
  product.depth = depth;
  product.columns = columns;
  if (batch.rank == 1 && batch.b_strides[0] == 0) {  // one B for all: the batch is more rows of A
    product.rows *= batch.extents[0];
    rk_odometer_begin(&batch);
  }
  const rk_u64 elements = product.rows * columns;
  const rk_u64 step = rk_turn_first(args->turn);
  product.c = args->output;
  product.first_step = 0;
  if (step != 0) {
    const rk_u64 steps = rk_product_steps(&product);
    const rk_u64 matrix = step / steps;
    if (matrix * elements >= out->element_count) return RK_FAULT_bad_command;
    product.c += matrix * elements;
    product.first_step = matrix * steps;
    rk_odometer_seek(&batch, matrix);
  }
  rk_u64 strip = 0;
  do {
    product.a = args->inputs[0] + batch.a;
    product.b = args->inputs[1] + batch.b;
    const rk_u32 verdict = rk_product_run(&product, args, strip);
    if (verdict != RK_FAULT_NONE) return verdict;
    strip += rk_product_strips(&product);
    product.c += elements;
  } while (rk_odometer_next(&batch, 0));
  return RK_FAULT_NONE;
}

#endif
