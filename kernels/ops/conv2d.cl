/// conv2d: images NHWC x filter [rows, columns, channels, outputs] -> NHWC, no flip of the filter.
/// It is the product of the matrix of windows (ops/window.h), packed piece by piece, and the
/// filter.
#ifndef RINGKERNEL_OPS_CONV2D_CL
#define RINGKERNEL_OPS_CONV2D_CL

#include "ops/args.h"
#include "ops/product.h"

/// Whether `outputs` windows of `extent` elements, `stride` apart, are what fits into `length`
/// elements with padding on both sides. A padded extent fits into 32 bits, so that nothing below
/// overflows.
RK_INLINE rk_u32 rk_windows_fit(rk_u64 outputs, rk_u64 extent, rk_u64 stride, rk_u64 length,
                                rk_u64 pad_before, rk_u64 pad_after) {
  const rk_u64 padded = length + pad_before + pad_after;
  return stride != 0 && padded >> 32 == 0 && extent <= padded &&
         outputs == (padded - extent) / stride + 1;
}

RK_OUTLINE rk_u32 rk_op_conv2d(const rk_op_args* args) {
  RK_GLOBAL const rk_operand* out = &args->command->output;
  RK_GLOBAL const rk_operand* images = &args->command->inputs[0];
  RK_GLOBAL const rk_operand* filter = &args->command->inputs[1];
  RK_GLOBAL const rk_attrs_conv2d* attrs = &args->command->attrs.conv2d;
  if (images->rank != 4 || filter->rank != 4 || out->rank != 4) return RK_FAULT_bad_shape;
  if (out->dims[0] != images->dims[0] || out->dims[3] != filter->dims[3] ||
      images->dims[3] != filter->dims[2])
    return RK_FAULT_bad_shape;
  if (!rk_windows_fit(out->dims[1], filter->dims[0], attrs->strides[0], images->dims[1],
                      attrs->pads[0], attrs->pads[1]) ||
      !rk_windows_fit(out->dims[2], filter->dims[1], attrs->strides[1], images->dims[2],
                      attrs->pads[2], attrs->pads[3]))
    return RK_FAULT_bad_shape;

  rk_product product;
  product.a = args->inputs[0];
  product.b = args->inputs[1];
  product.c = args->output;
  product.columns = filter->dims[3];
  product.rows = out->element_count / filter->dims[3];
  product.depth = filter->element_count / filter->dims[3];
  rk_window window;
  product.window = &window;
  window.image_rows = images->dims[1];
  window.image_columns = images->dims[2];
  window.channels = images->dims[3];
  window.columns = filter->dims[1];
  window.output_rows = out->dims[1];
  window.output_columns = out->dims[2];
  window.row_stride = attrs->strides[0];
  window.column_stride = attrs->strides[1];
  window.pad_top = attrs->pads[0];
  window.pad_left = attrs->pads[2];
  product.first_step = 0;
  return rk_product_run(&product, args, 0);
}

#endif
