#include "ops/windows.hpp"

namespace ringkernel::ops {

namespace {

Result<void> check_operands(const OpCall& call) {
  const Shape& images = call.inputs[0].shape;
  const Shape& filter = call.inputs[1].shape;
  if (images.rank() != 4 || filter.rank() != 4)
    return call_error(Errc::rank_mismatch, call,
                      "expected ranks 4 and 4, got ranks " + std::to_string(images.rank()) +
                          " and " + std::to_string(filter.rank()));
  const std::int64_t groups = call.attributes.groups;
  if (groups < 1 || groups > word_max || filter[3] % groups != 0)
    return call_error(
        Errc::invalid_argument, call,
        std::to_string(groups) + " groups do not divide " + std::to_string(filter[3]) + " outputs");
  if (images[3] % groups != 0 || images[3] / groups != filter[2])
    return call_error(Errc::channel_mismatch, call,
                      "the images have " + std::to_string(images[3]) +
                          " channels, the filter takes " + std::to_string(filter[2]) +
                          (groups == 1 ? "" : " in each of " + std::to_string(groups) + " groups"));
  return {};
}

}  // namespace

/// Images NHWC x filter [rows, columns, C / groups, outputs]. E3002, E3003 (the filter is larger
/// than the padded image), E4009, E4010, E6004; invalid_argument: pads that are not four numbers
/// from 0 on, or with which an image has 2^32 rows or columns; groups that do not divide the
/// outputs.
Result<Inference> infer_conv2d(const OpCall& call) {
  RK_TRY_VOID(check_operands(call));
  const Shape& images = call.inputs[0].shape;
  const Shape& filter = call.inputs[1].shape;
  RK_TRY(slid, slide(call, {"filter", {images[1], images[2]}, {filter[0], filter[1]}}));
  const std::array<std::int64_t, 4> dims{images[0], slid.outputs[0], slid.outputs[1], filter[3]};
  auto shape = Shape::make(dims);
  if (!shape) return call_error(Errc::allocation_failure, call, shape.error().detail);

  Inference result{{call.inputs[0].dtype, *shape}, {}};
  const std::span<const std::int64_t> strides = call.attributes.strides.values();
  result.attrs.conv2d = {.strides = {as_word(strides[0]), as_word(strides[1])},
                         .pads = {as_word(slid.pads[0]), as_word(slid.pads[1]),
                                  as_word(slid.pads[2]), as_word(slid.pads[3])},
                         .groups = as_word(call.attributes.groups)};
  return result;
}

}  // namespace ringkernel::ops
