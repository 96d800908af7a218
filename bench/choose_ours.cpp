// Our side of `choose`, written as a user of the public API would write it.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>

#include "choose_work.hpp"
#include "ringkernel/ringkernel.hpp"

namespace bench {
namespace {

namespace rk = ringkernel;

rk::RingKernelRuntime open_chosen(const char* backend) {
  return rk::RingKernelRuntime::builder()
      .backend(backend)
      .options(rk::RuntimeOptions::low_latency())
      .build()
      .value();
}

/// One op, a message for each request.
class OurSum : public Runner {
 public:
  OurSum(const Work& work, const char* backend) : runtime_(open_chosen(backend)), work_(work) {
    rk::KernelOptions options = rk::KernelOptions::low_latency();
    options.auto_activate = true;
    // A message may have half a ring.
    const std::uint32_t ring_bytes =
        std::bit_ceil(static_cast<std::uint32_t>(5 * sizeof(float) * work.expected.size()));
    options.input_bytes = std::max(options.input_bytes, ring_bytes);
    options.output_bytes = std::max(options.output_bytes, ring_bytes);
    kernel_ = runtime_.launch("adder", options).value();
  }
  void run() override {
    reply_ = kernel_.call(rk::ops::add(work_.inputs[0], work_.inputs[1])).value();
  }
  [[nodiscard]] std::span<const float> output() const override { return reply_.floats(); }

 private:
  rk::RingKernelRuntime runtime_;
  const Work& work_;
  rk::Kernel kernel_;
  rk::Reply reply_;
};

rk::Graph::Value our_layer(rk::Graph& graph, rk::Graph::Value x, const Layer& layer) {
  const auto in = static_cast<std::uint32_t>(layer.inputs);
  const auto out = static_cast<std::uint32_t>(layer.outputs);
  if (layer.is_convolution()) {
    const auto filter = graph.constant(rk::TensorView(rk::Shape{3, 3, in, out}, layer.weights));
    x = graph.add(rk::ops::conv2d(x, filter, {.strides = {2, 2}, .padding = rk::Padding::same}));
  } else {
    const auto weights = graph.constant(rk::TensorView(rk::Shape{in, out}, layer.weights));
    if (x.desc().shape.rank() == 4) x = graph.add(rk::ops::reshape(x, {1, in}));
    x = graph.add(rk::ops::matmul(x, weights));
  }
  if (!layer.bias.empty()) x = graph.add(rk::ops::add(x, graph.constant(layer.bias)));
  return layer.relu ? graph.add(rk::ops::relu(x)) : x;
}

rk::Shape our_input_shape(const Work& work) {
  const Layer& first = work.layers[0];
  const auto in = static_cast<std::uint32_t>(first.inputs);
  const auto side = static_cast<std::uint32_t>(first.side);
  return first.is_convolution() ? rk::Shape{1, side, side, in}
                                : rk::Shape{static_cast<std::uint32_t>(work.rows), in};
}

/// A graph that was compiled once.
class OurNet : public Runner {
 public:
  OurNet(const Work& work, const char* backend) : runtime_(open_chosen(backend)) {
    rk::Graph graph("chosen");
    const rk::Shape shape = our_input_shape(work);
    rk::Graph::Value value = graph.input({rk::DType::f32, shape});
    for (const Layer& layer : work.layers) value = our_layer(graph, value, layer);
    graph.output(value);
    function_ = runtime_.compile(graph).value();
    input_ = rk::TensorView(shape, work.inputs[0]);
  }
  void run() override { result_ = function_.execute(input_).value(); }
  [[nodiscard]] std::span<const float> output() const override { return result_.elements<float>(); }

 private:
  rk::RingKernelRuntime runtime_;
  rk::CompiledFunction function_;
  rk::TensorView input_;
  rk::FunctionResult result_;
};

}  // namespace

std::unique_ptr<Runner> make_ours(const Work& work, const char* backend) {
  if (work.is_sum()) return std::make_unique<OurSum>(work, backend);
  return std::make_unique<OurNet>(work, backend);
}

}  // namespace bench
