#include <algorithm>
#include <limits>

#include "ops/rules.hpp"

namespace ringkernel::ops {

namespace {

/// One of the two axes that the filter slides along.
struct Axis {
  const char* name;
  std::int64_t image;
  std::int64_t filter;
  std::int64_t stride;
};

struct Pads {
  std::int64_t before;
  std::int64_t after;
};

constexpr std::int64_t word_max = std::numeric_limits<rk_u32>::max();

std::string list_text(const IntList& list) {
  std::string text;
  for (const std::int64_t value : list.values())
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + (list.fits() ? "]" : ", ...]");
}

Result<void> check_operands(const OpCall& call) {
  const Shape& images = call.inputs[0].shape;
  const Shape& filter = call.inputs[1].shape;
  if (images.rank() != 4 || filter.rank() != 4)
    return call_error(Errc::rank_mismatch, call,
                      "expected ranks 4 and 4, got ranks " + std::to_string(images.rank()) +
                          " and " + std::to_string(filter.rank()));
  if (images[3] != filter[2])
    return call_error(Errc::channel_mismatch, call,
                      "the images have " + std::to_string(images[3]) +
                          " channels, the filter takes " + std::to_string(filter[2]));
  return {};
}

Result<void> check_attributes(const OpCall& call) {
  const IntList& strides = call.attributes.strides;
  const auto is_stride = [](std::int64_t stride) { return stride > 0 && stride <= word_max; };
  if (strides.count() != 2 || !std::ranges::all_of(strides.values(), is_stride))
    return call_error(Errc::invalid_stride, call,
                      "strides " + list_text(strides) + " are not two positive numbers");
  if (call.attributes.padding != Padding::custom) return {};
  const IntList& pads = call.attributes.pads;
  const auto is_pad = [](std::int64_t pad) { return pad >= 0 && pad <= word_max; };
  if (pads.count() != 4 || !std::ranges::all_of(pads.values(), is_pad))
    return call_error(
        Errc::invalid_argument, call,
        "pads " + list_text(pads) + " are not four numbers from 0 to " + std::to_string(word_max));
  return {};
}

/// Same: ceil(image / stride) outputs, the odd zero behind.
Pads pads_of(const Axis& axis, const OpAttributes& attributes, std::size_t first) {
  switch (attributes.padding) {
    case Padding::valid: return {0, 0};
    case Padding::custom:
      return {attributes.pads.values()[first], attributes.pads.values()[first + 1]};
    case Padding::same: break;
  }
  const std::int64_t outputs = (axis.image + axis.stride - 1) / axis.stride;
  const std::int64_t total =
      std::max<std::int64_t>((outputs - 1) * axis.stride + axis.filter - axis.image, 0);
  return {total / 2, total - total / 2};
}

Result<std::int64_t> outputs_of(const OpCall& call, const Axis& axis, Pads pads) {
  const std::int64_t padded = axis.image + pads.before + pads.after;
  if (padded > word_max)
    return call_error(Errc::invalid_argument, call,
                      "the padded image has " + std::to_string(padded) + " " + axis.name +
                          ", the limit is " + std::to_string(word_max));
  if (axis.filter > padded)
    return call_error(Errc::dimension_mismatch, call,
                      "the filter has " + std::to_string(axis.filter) + " " + axis.name +
                          ", the padded image " + std::to_string(padded));
  return (padded - axis.filter) / axis.stride + 1;
}

}  // namespace

Result<Inference> infer_conv2d(const OpCall& call) {
  RK_TRY_VOID(check_operands(call));
  RK_TRY_VOID(check_attributes(call));
  const Shape& images = call.inputs[0].shape;
  const Shape& filter = call.inputs[1].shape;
  const std::span<const std::int64_t> strides = call.attributes.strides.values();
  const Axis vertical{"rows", images[1], filter[0], strides[0]};
  const Axis horizontal{"columns", images[2], filter[1], strides[1]};
  const Pads vertical_pads = pads_of(vertical, call.attributes, 0);
  const Pads horizontal_pads = pads_of(horizontal, call.attributes, 2);
  RK_TRY(rows, outputs_of(call, vertical, vertical_pads));
  RK_TRY(columns, outputs_of(call, horizontal, horizontal_pads));
  const std::array<std::int64_t, 4> dims{images[0], rows, columns, filter[3]};
  auto shape = Shape::make(dims);
  if (!shape) return call_error(Errc::allocation_failure, call, shape.error().detail);

  Inference result{{call.inputs[0].dtype, *shape}, {}};
  const auto word = [](std::int64_t value) { return static_cast<rk_u32>(value); };
  result.attrs.conv2d = {.strides = {word(strides[0]), word(strides[1])},
                         .pads = {word(vertical_pads.before), word(vertical_pads.after),
                                  word(horizontal_pads.before), word(horizontal_pads.after)}};
  return result;
}

}  // namespace ringkernel::ops
