/// conv2d: images NHWC x filter [rows, columns, channels, outputs] -> NHWC, no flip of the filter.
/// It is the product of the matrix of windows (ops/window.h), packed piece by piece, and the
/// filter. With groups of channels windows are read where they lie (ops/conv2d_groups.h).
#ifndef RINGKERNEL_OPS_CONV2D_CL
#define RINGKERNEL_OPS_CONV2D_CL

#include "ops/args.h"
#include "ops/conv2d_groups.h"
#include "ops/product.h"

/// The parts of an rk_window that shapes and attributes give.
RK_INLINE void rk_conv2d_window(const rk_op_args* args, rk_window* window) {
  RK_GLOBAL const rk_operand* out = &args->command->output;
  RK_GLOBAL const rk_operand* images = &args->command->inputs[0];
  RK_GLOBAL const rk_attrs_conv2d* attrs = &args->command->attrs.conv2d;
  window->image_rows = images->dims[1];
  window->image_columns = images->dims[2];
  window->channels = images->dims[3];
  window->columns = args->command->inputs[1].dims[1];
  window->output_rows = out->dims[1];
  window->output_columns = out->dims[2];
  window->row_stride = attrs->strides[0];
  window->column_stride = attrs->strides[1];
  window->pad_top = attrs->pads[0];
  window->pad_left = attrs->pads[2];
}

RK_NOINLINE rk_u32 rk_conv2d_groups(const rk_op_args* args, rk_u64 count) {
  RK_GLOBAL const rk_operand* out = &args->command->output;
  RK_GLOBAL const rk_operand* filter = &args->command->inputs[1];
  rk_groups groups;
  rk_conv2d_window(args, &groups.lines.window);
  groups.lines.rows = filter->dims[0];
  groups.lines.outputs = filter->dims[3];
  groups.lines.images = args->inputs[0];
  groups.lines.images_end = args->inputs[0] + args->command->inputs[0].element_count;
  groups.lines.output = args->output;
  groups.filter = args->inputs[1];
  groups.filter_end = args->inputs[1] + filter->element_count;
  groups.filter_step = filter->dims[3];
  groups.channels = filter->dims[2];
  groups.outputs = filter->dims[3] / count;
  return rk_groups_run(&groups, args, (rk_u64)out->dims[0] * out->dims[1]);
}

RK_OUTLINE rk_u32 rk_op_conv2d(const rk_op_args* args) {
  RK_GLOBAL const rk_operand* out = &args->command->output;
  RK_GLOBAL const rk_operand* images = &args->command->inputs[0];
  RK_GLOBAL const rk_operand* filter = &args->command->inputs[1];
  RK_GLOBAL const rk_attrs_conv2d* attrs = &args->command->attrs.conv2d;
  if (images->rank != 4 || filter->rank != 4 || out->rank != 4) return RK_FAULT_bad_shape;
  const rk_u64 groups = attrs->groups != 0 ? attrs->groups : 1;
  if (out->dims[0] != images->dims[0] || out->dims[3] != filter->dims[3] ||
      images->dims[3] != filter->dims[2] * groups || filter->dims[3] % groups != 0)
    return RK_FAULT_bad_shape;
  if (!rk_windows_fit(out->dims[1], filter->dims[0], attrs->strides[0], images->dims[1],
                      attrs->pads[0], attrs->pads[1]) ||
      !rk_windows_fit(out->dims[2], filter->dims[1], attrs->strides[1], images->dims[2],
                      attrs->pads[2], attrs->pads[3]))
    return RK_FAULT_bad_shape;
  if (groups != 1) return rk_conv2d_groups(args, groups);

  rk_product product;
  product.a = args->inputs[0];
  product.b = args->inputs[1];
  product.c = args->output;
  product.columns = filter->dims[3];
  product.rows = out->element_count / filter->dims[3];
  product.depth = filter->element_count / filter->dims[3];
  rk_window window;
  product.window = &window;
  rk_conv2d_window(args, &window);
  product.first_step = 0;
  return rk_product_run(&product, args, 0);
}

#endif
