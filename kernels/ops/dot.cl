/// dot: matmul whose operands may be vectors. A vector is a matrix of one row or one column, so
/// every bit is that of the matmul.
#ifndef RINGKERNEL_OPS_DOT_CL
#define RINGKERNEL_OPS_DOT_CL

#include "ops/matmul.cl"

RK_INLINE rk_u32 rk_op_dot(const rk_op_args* args) {
  RK_GLOBAL const rk_operand* out = &args->command->output;
  RK_GLOBAL const rk_operand* a = &args->command->inputs[0];
  RK_GLOBAL const rk_operand* b = &args->command->inputs[1];
  if (a->rank == 0 || a->rank > 2 || b->rank == 0 || b->rank > 2) return RK_FAULT_bad_shape;
  rk_matmul matmul;
  matmul.a = args->inputs[0];
  matmul.b = args->inputs[1];
  matmul.c = args->output;
  matmul.rows = a->rank == 2 ? a->dims[0] : 1;
  matmul.depth = b->dims[0];
  matmul.columns = b->rank == 2 ? b->dims[1] : 1;
  if (a->dims[a->rank - 1u] != matmul.depth || out->rank != a->rank + b->rank - 2u)
    return RK_FAULT_bad_shape;
  if (a->rank == 2 && out->dims[0] != matmul.rows) return RK_FAULT_bad_shape;
  if (b->rank == 2 && out->dims[out->rank - 1u] != matmul.columns) return RK_FAULT_bad_shape;
  rk_u64 strip = 0;
  for (rk_u64 column = 0; column < matmul.columns; column += RK_TILE_COLUMNS) {
    if (strip++ % args->lanes == args->lane) rk_matmul_strip(&matmul, column);
  }
  return RK_FAULT_NONE;
}

#endif
