#include "ops/windows.hpp"

namespace ringkernel::ops {

namespace {

constexpr std::array axis_names{"rows", "columns"};

Result<void> check_sliding(const OpCall& call) {
  const IntList& strides = call.attributes.strides;
  if (!are_words(strides, 2, 1))
    return call_error(Errc::invalid_stride, call,
                      "strides " + list_text(strides) + " are not two positive numbers");
  const IntList& pads = call.attributes.pads;
  if (call.attributes.padding == Padding::custom && !are_words(pads, 4, 0))
    return call_error(
        Errc::invalid_argument, call,
        "pads " + list_text(pads) + " are not four numbers from 0 to " + std::to_string(word_max));
  return {};
}

struct Pads {
  std::int64_t before;
  std::int64_t after;
};

/// Same: ceil(image / stride) outputs, the odd zero behind.
Pads pads_of(const OpAttributes& attributes, const Windows& windows, std::size_t axis) {
  switch (attributes.padding) {
    case Padding::valid: return {0, 0};
    case Padding::custom:
      return {attributes.pads.values()[2 * axis], attributes.pads.values()[2 * axis + 1]};
    case Padding::same: break;
  }
  const std::int64_t stride = attributes.strides.values()[axis];
  const std::int64_t image = windows.images[axis];
  const std::int64_t outputs = (image + stride - 1) / stride;
  const std::int64_t total =
      std::max<std::int64_t>((outputs - 1) * stride + windows.extents[axis] - image, 0);
  return {total / 2, total - total / 2};
}

Result<std::int64_t> outputs_of(const OpCall& call, const Windows& windows, std::size_t axis,
                                Pads pads) {
  const std::int64_t padded = windows.images[axis] + pads.before + pads.after;
  const std::int64_t extent = windows.extents[axis];
  const std::string name = axis_names[axis];
  if (padded > word_max)
    return call_error(Errc::invalid_argument, call,
                      "the padded image has " + std::to_string(padded) + " " + name +
                          ", the limit is " + std::to_string(word_max));
  if (extent > padded)
    return call_error(Errc::dimension_mismatch, call,
                      std::string("the ") + windows.what + " has " + std::to_string(extent) + " " +
                          name + ", the padded image " + std::to_string(padded));
  return (padded - extent) / call.attributes.strides.values()[axis] + 1;
}

}  // namespace

Result<Slid> slide(const OpCall& call, const Windows& windows) {
  RK_TRY_VOID(check_sliding(call));
  Slid slid{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const Pads pads = pads_of(call.attributes, windows, axis);
    RK_TRY(outputs, outputs_of(call, windows, axis, pads));
    slid.outputs[axis] = outputs;
    slid.pads[2 * axis] = pads.before;
    slid.pads[2 * axis + 1] = pads.after;
  }
  return slid;
}

}  // namespace ringkernel::ops
