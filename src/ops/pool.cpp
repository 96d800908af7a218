#include "ops/windows.hpp"

namespace ringkernel::ops {

/// Windows over images NHWC. E3002, E3003, E4010, E6004; invalid_argument: a window that is not two
/// positive numbers, pads as of `infer_conv2d`, or not below the window.
Result<Inference> infer_pool(const OpCall& call) {
  const Shape& images = call.inputs[0].shape;
  if (images.rank() != 4)
    return call_error(Errc::rank_mismatch, call,
                      "expected rank 4, got rank " + std::to_string(images.rank()));
  const IntList& window = call.attributes.window;
  if (!are_words(window, 2, 1))
    return call_error(Errc::invalid_argument, call,
                      "the window " + list_text(window) + " is not two positive numbers");
  const std::span<const std::int64_t> extents = window.values();
  RK_TRY(slid, slide(call, {"window", {images[1], images[2]}, {extents[0], extents[1]}}));
  for (std::size_t side = 0; side < slid.pads.size(); ++side)
    if (slid.pads[side] >= extents[side / 2])  // then a window might hold nothing of the image
      return call_error(Errc::invalid_argument, call,
                        "a pad of " + std::to_string(slid.pads[side]) +
                            " is not less than the window's " + std::to_string(extents[side / 2]) +
                            (side < 2 ? " rows" : " columns"));
  const std::array<std::int64_t, 4> dims{images[0], slid.outputs[0], slid.outputs[1], images[3]};
  auto shape = Shape::make(dims);
  if (!shape) return call_error(Errc::allocation_failure, call, shape.error().detail);

  Inference result{{call.inputs[0].dtype, *shape}, {}};
  const std::span<const std::int64_t> strides = call.attributes.strides.values();
  result.attrs.pool = {.window = {as_word(extents[0]), as_word(extents[1])},
                       .strides = {as_word(strides[0]), as_word(strides[1])},
                       .pads = {as_word(slid.pads[0]), as_word(slid.pads[1]), as_word(slid.pads[2]),
                                as_word(slid.pads[3])}};
  return result;
}

}  // namespace ringkernel::ops
