/// dot: matmul whose operands may be vectors. A vector is a matrix of one row or one column, so
/// every bit is that of the matmul.
#ifndef RINGKERNEL_OPS_DOT_CL
#define RINGKERNEL_OPS_DOT_CL

#include "ops/args.h"
#include "ops/product.h"

RK_INLINE rk_u32 rk_op_dot(const rk_op_args* args) {
  RK_GLOBAL const rk_operand* out = &args->command->output;
  RK_GLOBAL const rk_operand* a = &args->command->inputs[0];
  RK_GLOBAL const rk_operand* b = &args->command->inputs[1];
  if (a->rank == 0 || a->rank > 2 || b->rank == 0 || b->rank > 2) return RK_FAULT_bad_shape;
  rk_product product;
  product.window = 0;
  product.a = args->inputs[0];
  product.b = args->inputs[1];
  product.c = args->output;
  product.rows = a->rank == 2 ? a->dims[0] : 1;
  product.depth = b->dims[0];
  product.columns = b->rank == 2 ? b->dims[1] : 1;
  if (a->dims[a->rank - 1u] != product.depth || out->rank != a->rank + b->rank - 2u)
    return RK_FAULT_bad_shape;
  if (a->rank == 2 && out->dims[0] != product.rows) return RK_FAULT_bad_shape;
  if (b->rank == 2 && out->dims[out->rank - 1u] != product.columns) return RK_FAULT_bad_shape;
  product.first_step = 0;
  return rk_product_run(&product, args, 0);
}

#endif
