// Products, convolutions and sums.
#include <algorithm>
#include <numeric>

#include "onnx/rules.hpp"
#include "ringkernel/ops.hpp"

namespace ringkernel::onnx {
namespace {

/// A matrix, turned where the attribute says so; a known one here and now.
Result<Graph::Value> side(const Operation& operation, std::size_t position,
                          std::string_view is_turned) {
  if (operation.node().integer(is_turned, 0) == 0) return operation.operand(position);
  if (operation.has(position) && operation.rank(position) != 2)
    return operation.refusal("a side that is no matrix");
  if (operation.has(position) && operation.value(position).is_known())
    return operation.constant(transposed(*operation.value(position).known, {1, 0}));
  RK_TRY(matrix, operation.operand(position));
  return operation.transpose(matrix, {1, 0});
}

Result<Graph::Value> scaled(const Operation& operation, const Graph::Value& x, float factor) {
  if (factor == 1) return x;
  return operation.add(ops::mul(x, {{DType::f32, {}}, &factor}));
}

template <Request (*build)(const TensorView&, IntList, bool) noexcept>
Result<Value> reduce(const Operation& operation) {
  RK_TRY(axes, operation.list(1, "axes"));
  const bool keeps = operation.node().integer("keepdims", 1) != 0;
  if (axes.empty()) {
    if (operation.node().integer("noop_with_empty_axes", 0) != 0) return operation.value(0);
    axes.resize(operation.dims(0).size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (const Value& value = operation.value(0); value.is_channels_last() && keeps) {
    for (std::int64_t& axis : axes) {
      const auto inside = axis_of(axis, operation.rank(0));
      if (!inside) return operation.refusal("no such axis");
      axis = place_with_channels_last(*inside, value.is_line);
    }
    RK_TRY(y, operation.add(build(*value.channels_last, IntList(axes), keeps)));
    return Value::with_channels_last(y, value.is_line);
  }
  RK_TRY(x, operation.operand(0));
  RK_TRY(y, operation.add(build(x, IntList(axes), keeps)));
  return y;
}

/// Strides and padding of rows and columns, as ours.
struct Windows {
  Integers strides;
  Integers pads;  // top, bottom, left, right
};

/// nothing: 'auto_pad' says what we do not know, or the lists have other lengths.
std::optional<Windows> windows_of(const Node& node, const Integers& images,
                                  const Integers& filter) {
  const std::size_t axes = images.size() - 2;
  Windows windows{node.integers("strides"), Integers(2 * axes, 0)};
  if (windows.strides.empty()) windows.strides.assign(axes, 1);
  if (windows.strides.size() != axes) return std::nullopt;
  const std::string mode = node.text("auto_pad", "NOTSET");
  const Integers pads = node.integers("pads");
  if (mode == "NOTSET" && !pads.empty()) {
    if (pads.size() != 2 * axes) return std::nullopt;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      windows.pads[2 * axis] = pads[axis];
      windows.pads[2 * axis + 1] = pads[axes + axis];
    }
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::int64_t stride = windows.strides[axis];
      if (stride < 1) return std::nullopt;
      const std::int64_t outputs = (images[2 + axis] - 1) / stride + 1;
      const std::int64_t total =
          std::max<std::int64_t>((outputs - 1) * stride + filter[2 + axis] - images[2 + axis], 0);
      const std::int64_t less = total / 2;
      windows.pads[2 * axis] = mode == "SAME_UPPER" ? less : total - less;
      windows.pads[2 * axis + 1] = total - windows.pads[2 * axis];
    }
  } else if (mode != "NOTSET" && mode != "VALID") {
    return std::nullopt;
  }
  return windows;
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

}  // namespace

Result<Graph::Value> lower_matmul(const Operation& operation) {
  RK_TRY(a, operation.operand(0));
  RK_TRY(b, operation.operand(1));
  // Vectors are no matrices: `dot` has them.
  const bool has_vector = a.desc().shape.rank() < 2 || b.desc().shape.rank() < 2;
  return operation.add(has_vector ? ops::dot(a, b) : ops::matmul(a, b));
}

/// alpha * a' * b' + beta * c
Result<Graph::Value> lower_gemm(const Operation& operation) {
  RK_TRY(a, side(operation, 0, "transA"));
  RK_TRY(b, side(operation, 1, "transB"));
  RK_TRY(product, operation.add(ops::matmul(a, b)));
  RK_TRY(y, scaled(operation, product, operation.node().number("alpha", 1)));
  if (!operation.has(2)) return y;
  RK_TRY(given, operation.operand(2));
  RK_TRY(c, scaled(operation, given, operation.node().number("beta", 1)));
  return operation.add(ops::add(y, c));
}

/// Of images [N, C, H, W] and a filter [outputs, C, rows, columns]; of [N, C, W] as of one row.
Result<Value> lower_conv(const Operation& operation) {
  const Node& node = operation.node();
  const Integers images = operation.dims(0);
  const Integers filter = operation.dims(1);
  const bool is_line = images.size() == 3;
  if ((images.size() != 4 && !is_line) || filter.size() != images.size())
    return operation.refusal("of " + std::to_string(images.size()) + " dims; 3 and 4 are read");
  if (node.integer("group", 1) != 1) return operation.refusal("groups of channels");
  if (std::ranges::any_of(node.integers("dilations"), [](auto d) { return d != 1; }))
    return operation.refusal("dilations");
  const auto found = windows_of(node, images, filter);
  if (!found) return operation.refusal("strides, pads or auto_pad");
  Windows windows = *found;
  if (is_line) {
    windows.strides.insert(windows.strides.begin(), 1);
    windows.pads.insert(windows.pads.begin(), 2, 0);
  }
  const auto rank = static_cast<std::int64_t>(images.size());
  RK_TRY(x, operation.channels_last(0, rank));
  RK_TRY(kernel, filter_of(operation, rank));
  RK_TRY(sums, operation.add(ops::conv2d(x, kernel,
                                         {.strides = IntList(windows.strides),
                                          .padding = Padding::custom,
                                          .pads = IntList(windows.pads)})));
  if (!operation.has(2)) return Value::with_channels_last(sums, is_line);
  if (operation.dims(2) != Integers{filter[0]})
    return operation.refusal("a bias that is not one number for each output");
  RK_TRY(bias, operation.operand(2));
  RK_TRY(y, operation.add(ops::add(sums, bias)));
  return Value::with_channels_last(y, is_line);
}

Result<Value> lower_reduce_sum(const Operation& operation) { return reduce<ops::sum>(operation); }
Result<Value> lower_reduce_max(const Operation& operation) {
  return reduce<ops::reduce_max>(operation);
}
Result<Value> lower_reduce_mean(const Operation& operation) { return reduce<ops::mean>(operation); }

}  // namespace ringkernel::onnx
