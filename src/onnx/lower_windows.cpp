// Windows that slide over images [N, C, H, W], or over lines [N, C, W], which are images of one
// row: convolutions and pools.
#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "onnx/rules.hpp"
#include "ringkernel/ops.hpp"

namespace ringkernel::onnx {
namespace {

/// Extents, strides and padding of rows and columns, as ours.
struct Windows {
  Integers extents;
  Integers strides;
  Integers pads;  // top, bottom, left, right
};

/// A pad before and behind, so that there are ceil(image / stride) outputs.
void pad_to_same(Windows& windows, const Integers& images, std::size_t axis, bool is_lower) {
  const std::int64_t image = images[2 + axis];
  const std::int64_t stride = windows.strides[axis];
  const std::int64_t outputs = (image - 1) / stride + 1;
  const std::int64_t total =
      std::max<std::int64_t>((outputs - 1) * stride + windows.extents[axis] - image, 0);
  windows.pads[2 * axis] = is_lower ? total - total / 2 : total / 2;
  windows.pads[2 * axis + 1] = total - windows.pads[2 * axis];
}

/// Of the extents that are there, those of a line too; what is refused is said.
Result<Windows> windows_of(const Operation& operation, const Integers& extents) {
  const Node& node = operation.node();
  const Integers images = operation.dims(0);
  if (images.size() != 3 && images.size() != 4)
    return operation.refusal("of " + std::to_string(images.size()) + " dims; 3 and 4 are read");
  if (std::ranges::any_of(images, [](auto extent) { return extent < 1; }))
    return operation.refusal("of an operand without elements");
  const std::size_t axes = images.size() - 2;
  const Error unknown = operation.refusal("kernel_shape, strides, pads or auto_pad");
  if (std::ranges::any_of(node.integers("dilations"), [](auto d) { return d != 1; }))
    return operation.refusal("dilations");
  Windows windows{extents, node.integers("strides"), Integers(2 * axes, 0)};
  if (windows.strides.empty()) windows.strides.assign(axes, 1);
  if (windows.strides.size() != axes || extents.size() != axes) return unknown;
  const auto is_odd = [](std::int64_t number) { return number < 1 || number >> 32 != 0; };
  if (std::ranges::any_of(windows.strides, is_odd) || std::ranges::any_of(extents, is_odd))
    return unknown;
  const std::string mode = node.text("auto_pad", "NOTSET");
  const Integers pads = node.integers("pads");
  if (mode == "NOTSET" && !pads.empty()) {
    if (pads.size() != 2 * axes) return unknown;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      windows.pads[2 * axis] = pads[axis];
      windows.pads[2 * axis + 1] = pads[axes + axis];
    }
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    for (std::size_t axis = 0; axis < axes; ++axis)
      pad_to_same(windows, images, axis, mode == "SAME_LOWER");
  } else if (mode != "NOTSET" && mode != "VALID") {
    return unknown;
  }
  if (axes == 2) return windows;
  windows.extents.insert(windows.extents.begin(), 1);
  windows.strides.insert(windows.strides.begin(), 1);
  windows.pads.insert(windows.pads.begin(), 2, 0);
  return windows;
}

/// Those of a pool, which names its extents.
struct Pool {
  Windows windows;
  std::array<std::int64_t, 2> images;  // rows, columns
  std::array<std::int64_t, 2> behind;  // of the pads, what 'ceil_mode' adds: it counts as nothing
};

Result<Pool> pool_of(const Operation& operation) {
  const Node& node = operation.node();
  RK_TRY(windows, windows_of(operation, node.integers("kernel_shape")));
  Pool pool{windows, {1, 1}, {0, 0}};
  const Integers dims = operation.dims(0);
  std::ranges::copy_backward(std::span(dims).subspan(2), pool.images.end());
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t extent = windows.extents[axis];
    const std::int64_t before = windows.pads[2 * axis];
    const std::int64_t after = windows.pads[2 * axis + 1];
    if (before < 0 || after < 0 || before >= extent || after >= extent)
      return operation.refusal("pads that are not less than the window");
    const std::int64_t spare = pool.images[axis] + before + after - extent;
    const std::int64_t left = spare < 0 ? 0 : spare % windows.strides[axis];
    if (left == 0 || node.integer("ceil_mode", 0) == 0) continue;
    // One window more, unless it would begin behind the image.
    const std::int64_t missing = windows.strides[axis] - left;
    if (after + missing < extent) pool.behind[axis] = missing;
  }
  for (std::size_t axis = 0; axis < 2; ++axis) pool.windows.pads[2 * axis + 1] += pool.behind[axis];
  return pool;
}

/// How many elements the windows of an axis have, one after the other; with their pads, or without.
std::vector<float> counts_of(const Pool& pool, std::size_t axis, std::int64_t outputs,
                             bool with_pads) {
  const std::int64_t before = pool.windows.pads[2 * axis];
  const std::int64_t after = pool.windows.pads[2 * axis + 1] - pool.behind[axis];
  const std::int64_t first = with_pads ? 0 : before;
  const std::int64_t last = before + pool.images[axis] + (with_pads ? after : 0);
  std::vector<float> counts;
  for (std::int64_t output = 0; output < outputs; ++output) {
    const std::int64_t begin = output * pool.windows.strides[axis];
    const std::int64_t end = std::min(begin + pool.windows.extents[axis], last);
    counts.push_back(static_cast<float>(end - std::max(begin, first)));
  }
  return counts;
}

/// Elements that are made here for a few bytes of a file.
constexpr std::int64_t made_max = 1 << 22;

/// Sums of windows, divided by how many elements each has.
Result<Graph::Value> averages(const Operation& operation, const Pool& pool,
                              const Graph::Value& sums) {
  const bool with_pads = operation.node().integer("count_include_pad", 0) != 0;
  const std::int64_t rows = sums.desc().shape[1];
  const std::int64_t columns = sums.desc().shape[2];
  if (rows * columns > made_max) return operation.refusal("of so many windows");
  const std::vector<float> high = counts_of(pool, 0, rows, with_pads);
  const std::vector<float> wide = counts_of(pool, 1, columns, with_pads);
  std::vector<float> counts;
  for (const float row : high)
    for (const float column : wide) counts.push_back(row * column);
  const bool are_alike = std::ranges::count(counts, counts[0]) == std::ssize(counts);
  RK_TRY(shape, Shape::make(std::array<std::int64_t, 4>{1, rows, columns, 1}));
  RK_TRY(divisor,
         operation.constant(TensorView({DType::f32, are_alike ? Shape() : shape}, counts.data())));
  return operation.add(ops::div(sums, divisor));
}

/// [outputs, C, rows, columns] as ours: [rows, columns, C, outputs].
Result<Graph::Value> filter_of(const Operation& operation, std::int64_t rank) {
  const Value& value = operation.value(1);
  if (!value.is_known()) {
    RK_TRY(by_output, operation.channels_last(1, rank));
    return operation.transpose(by_output, {1, 2, 3, 0});
  }
  Tensor filter = *value.known;
  if (rank == 3) filter.dims.insert(filter.dims.begin() + 2, 1);
  return operation.constant(transposed(filter, {2, 3, 1, 0}));
}

/// The dims of the images, whatever their number, reduced to 1.
template <Request (*build)(const TensorView&, IntList, bool) noexcept>
Result<Value> over_images(const Operation& operation) {
  const Value& value = operation.value(0);
  if (operation.rank(0) < 3) return operation.refusal("of fewer than 3 dims");
  if (value.is_channels_last()) {
    RK_TRY(y, operation.add(build(*value.channels_last, {1, 2}, true)));
    return Value::with_channels_last(y, value.is_line);
  }
  Integers axes(operation.dims(0).size() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  RK_TRY(x, operation.operand(0));
  RK_TRY(y, operation.add(build(x, IntList(axes), true)));
  return y;
}

}  // namespace

/// Of images and a filter [outputs, C / groups, rows, columns].
Result<Value> lower_conv(const Operation& operation) {
  const Integers filter = operation.dims(1);
  if (filter.size() != operation.dims(0).size() || filter.size() < 2)
    return operation.refusal("of images and a filter of other dims");
  RK_TRY(windows, windows_of(operation, Integers(filter.begin() + 2, filter.end())));
  const std::int64_t rank = operation.rank(0);
  RK_TRY(x, operation.channels_last(0, rank));
  RK_TRY(kernel, filter_of(operation, rank));
  RK_TRY(sums, operation.add(ops::conv2d(x, kernel,
                                         {.strides = IntList(windows.strides),
                                          .padding = Padding::custom,
                                          .pads = IntList(windows.pads),
                                          .groups = operation.node().integer("group", 1)})));
  if (!operation.has(2)) return Value::with_channels_last(sums, rank == 3);
  if (operation.dims(2) != Integers{filter[0]})
    return operation.refusal("a bias that is not one number for each output");
  RK_TRY(bias, operation.operand(2));
  RK_TRY(y, operation.add(ops::add(sums, bias)));
  return Value::with_channels_last(y, rank == 3);
}

Result<Value> lower_max_pool(const Operation& operation) {
  RK_TRY(pool, pool_of(operation));
  RK_TRY(x, operation.channels_last(0, operation.rank(0)));
  RK_TRY(y, operation.add(ops::max_pool(x, IntList(pool.windows.extents),
                                        {.strides = IntList(pool.windows.strides),
                                         .padding = Padding::custom,
                                         .pads = IntList(pool.windows.pads)})));
  return Value::with_channels_last(y, operation.rank(0) == 3);
}

/// As sums, which are depthwise convolutions with ones.
Result<Value> lower_average_pool(const Operation& operation) {
  RK_TRY(pool, pool_of(operation));
  const Integers& extents = pool.windows.extents;
  const std::int64_t channels = operation.dims(0)[1];
  if (extents[0] > made_max || extents[1] > made_max || channels > made_max ||
      extents[0] * extents[1] > made_max / channels)
    return operation.refusal("of such a window");
  const std::vector<float> ones(static_cast<std::size_t>(extents[0] * extents[1] * channels), 1);
  RK_TRY(shape, Shape::make(std::array<std::int64_t, 4>{extents[0], extents[1], 1, channels}));
  RK_TRY(filter, operation.constant(TensorView({DType::f32, shape}, ones.data())));
  RK_TRY(x, operation.channels_last(0, operation.rank(0)));
  RK_TRY(sums, operation.add(ops::conv2d(x, filter,
                                         {.strides = IntList(pool.windows.strides),
                                          .padding = Padding::custom,
                                          .pads = IntList(pool.windows.pads),
                                          .groups = channels})));
  RK_TRY(y, averages(operation, pool, sums));
  return Value::with_channels_last(y, operation.rank(0) == 3);
}

Result<Value> lower_global_max_pool(const Operation& operation) {
  return over_images<ops::reduce_max>(operation);
}
Result<Value> lower_global_average_pool(const Operation& operation) {
  return over_images<ops::mean>(operation);
}

}  // namespace ringkernel::onnx
