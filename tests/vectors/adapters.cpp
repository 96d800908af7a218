#include "vectors/adapters.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace ringkernel::test::onnx {
namespace {

template <Request (*build)(const TensorView&) noexcept>
Tensor unary(Session& session, const Node&, Inputs inputs) {
  return session.run(build(view(inputs[0])));
}

template <Request (*build)(const TensorView&, const TensorView&) noexcept>
Tensor binary(Session& session, const Node&, Inputs inputs) {
  return session.run(build(view(inputs[0]), view(inputs[1])));
}

Tensor scaled(Session& session, const Tensor& x, float factor) {
  return session.run(ops::mul(view(x), {{}, std::span(&factor, 1)}));
}

/// alpha * a' * b' + beta * c
Tensor adapt_gemm(Session& session, const Node& node, Inputs inputs) {
  const auto side = [&](const Tensor& matrix, std::string_view transposed) {
    return node.integer(transposed, 0) != 0 ? session.run(ops::transpose(view(matrix), {1, 0}))
                                            : matrix;
  };
  const Tensor a = side(inputs[0], "transA");
  const Tensor b = side(inputs[1], "transB");
  Tensor y = session.run(ops::matmul(view(a), view(b)));
  const float alpha = node.number("alpha", 1);
  if (alpha != 1) y = scaled(session, y, alpha);
  if (inputs.size() < 3) return y;
  const float beta = node.number("beta", 1);
  const Tensor c = beta != 1 ? scaled(session, inputs[2], beta) : inputs[2];
  return session.run(ops::add(view(y), view(c)));
}

/// Strides and padding of an axis pair as ours; images are [N, C, H, W] here.
ops::Conv2dOptions conv_options(const Node& node, const Tensor& images, const Tensor& filter) {
  auto strides = node.integers("strides");
  if (strides.empty()) strides = {1, 1};
  ops::Conv2dOptions options{.strides = IntList(strides)};
  const Attribute* automatic = node.find("auto_pad");
  if (automatic != nullptr && automatic->text == "SAME_UPPER") {
    options.padding = Padding::same;
  } else if (automatic != nullptr && automatic->text == "SAME_LOWER") {
    // As `same`, but an odd zero goes to the top or the left.
    std::vector<std::int64_t> pads;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t extent = images.dims[2 + axis];
      const std::int64_t outputs = (extent + strides[axis] - 1) / strides[axis];
      const std::int64_t total =
          std::max<std::int64_t>((outputs - 1) * strides[axis] + filter.dims[2 + axis] - extent, 0);
      pads.insert(pads.end(), {total - total / 2, total / 2});
    }
    options.padding = Padding::custom;
    options.pads = IntList(pads);
  } else if (const auto pads = node.integers("pads"); !pads.empty()) {
    options.padding = Padding::custom;
    options.pads = {pads[0], pads[2], pads[1], pads[3]};  // theirs: top, left, bottom, right
  }
  return options;
}

/// Two-dimensional; images [N, C, H, W], filter [outputs, C, rows, columns].
Tensor adapt_conv(Session& session, const Node& node, Inputs inputs) {
  if (inputs[0].dims.size() != 4) throw NotExpressible{"not two-dimensional"};
  const auto dilations = node.integers("dilations");
  if (node.integer("group", 1) != 1 ||
      std::ranges::any_of(dilations, [](auto d) { return d != 1; }))
    throw NotExpressible{"groups or dilations"};
  const Tensor images = session.run(ops::transpose(view(inputs[0]), {0, 2, 3, 1}));
  const Tensor filter = session.run(ops::transpose(view(inputs[1]), {2, 3, 1, 0}));
  Tensor y = session.run(
      ops::conv2d(view(images), view(filter), conv_options(node, inputs[0], inputs[1])));
  if (inputs.size() > 2) y = session.run(ops::add(view(y), view(inputs[2])));
  return session.run(ops::transpose(view(y), {0, 3, 1, 2}));
}

template <Request (*build)(const TensorView&, IntList, bool) noexcept>
Tensor reduce(Session& session, const Node& node, Inputs inputs) {
  auto axes = list_of(node, inputs, 1, "axes");
  if (axes.empty()) {
    if (node.integer("noop_with_empty_axes", 0) != 0)
      throw NotExpressible{"without axes it reduces nothing; ours reduces all"};
    session.adapt();  // to keep the dims, ours needs the axes spelled out
    axes.resize(inputs[0].dims.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  return session.run(build(view(inputs[0]), IntList(axes), node.integer("keepdims", 1) != 0));
}

const std::map<std::string_view, Adapter> adapters{
    {"Add", binary<ops::add>},
    {"Conv", adapt_conv},
    {"Div", binary<ops::div>},
    {"Exp", unary<ops::exp>},
    {"Expand", adapt_expand},
    {"Gather", adapt_gather},
    {"Gemm", adapt_gemm},
    {"Identity", unary<ops::copy>},
    {"Log", unary<ops::log>},
    {"MatMul", binary<ops::matmul>},
    {"Mul", binary<ops::mul>},
    {"Neg", unary<ops::neg>},
    {"ReduceMean", reduce<ops::mean>},
    {"ReduceSum", reduce<ops::sum>},
    {"Relu", unary<ops::relu>},
    {"Reshape", adapt_reshape},
    {"Slice", adapt_slice},
    {"Squeeze", adapt_squeeze},
    {"Sub", binary<ops::sub>},
    {"Transpose", adapt_transpose},
    {"Unsqueeze", adapt_unsqueeze},
};

}  // namespace

Tensor Session::run(const Request& request) {
  ++runs_;
  return Tensor::copy_of(kernel_.call(request).value().tensor());
}

Adapter find_adapter(std::string_view op) {
  const auto found = adapters.find(op);
  return found != adapters.end() ? found->second : nullptr;
}

TensorView view(const Tensor& tensor) {
  if (tensor.dtype() == DType::none)
    throw NotExpressible{"elements of ONNX type " + std::to_string(tensor.type)};
  if (std::ranges::count(tensor.dims, 0) != 0) throw NotExpressible{"an extent of 0"};
  return {{tensor.dtype(), Shape::make(tensor.dims).value()}, tensor.bytes.data()};
}

std::vector<std::int64_t> list_of(const Node& node, Inputs inputs, std::size_t position,
                                  std::string_view name) {
  return position < inputs.size() ? inputs[position].integers() : node.integers(name);
}

}  // namespace ringkernel::test::onnx
