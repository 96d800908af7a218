/// The larger and the smaller of two elements: the second where they are equal, NaN where one is
/// NaN.
#ifndef RINGKERNEL_OPS_ORDER_H
#define RINGKERNEL_OPS_ORDER_H

RK_OVERLOAD rk_f32 rk_max(rk_f32 x, rk_f32 y) {
  return rk_where_nan(x, x, rk_where_greater(x, y, x, y));
}
RK_OVERLOAD rk_f32 rk_min(rk_f32 x, rk_f32 y) {
  return rk_where_nan(x, x, rk_where_greater(y, x, x, y));
}
RK_OVERLOAD rk_f32x16 rk_max(rk_f32x16 x, rk_f32x16 y) {
  return rk_where_nan(x, x, rk_where_greater(x, y, x, y));
}
RK_OVERLOAD rk_f32x16 rk_min(rk_f32x16 x, rk_f32x16 y) {
  return rk_where_nan(x, x, rk_where_greater(y, x, x, y));
}
RK_OVERLOAD rk_i32 rk_max(rk_i32 x, rk_i32 y) { return x > y ? x : y; }
RK_OVERLOAD rk_i32 rk_min(rk_i32 x, rk_i32 y) { return x < y ? x : y; }
RK_OVERLOAD rk_i64 rk_max(rk_i64 x, rk_i64 y) { return x > y ? x : y; }
RK_OVERLOAD rk_i64 rk_min(rk_i64 x, rk_i64 y) { return x < y ? x : y; }

#endif
