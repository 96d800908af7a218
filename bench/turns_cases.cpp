#include "turns_cases.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "figures.hpp"
#include "names.hpp"
#include "ringkernel/ringkernel.hpp"

namespace bench {
namespace {

namespace rk = ringkernel;
using namespace std::chrono_literals;

constexpr std::array ways = {"native", "zero_copy", "dma", "sliced"};
constexpr std::uint32_t size = 1024;
/// Between two short calls: the samples are spread over the time of the long ops.
constexpr auto pace = 500us;
constexpr SamplingLimits limits = {.warm_up = 300ms, .duration = 3s};

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

/// One program with two ring kernels, whose executor has one work-group.
class Service {
 public:
  explicit Service(std::string_view way)
      : runtime_(open(way)),
        long_(runtime_.launch("long", {.auto_activate = true}).value()),
        short_(runtime_.launch("short", {.auto_activate = true}).value()) {}

  rk::RingKernelRuntime& runtime() { return runtime_; }
  rk::Kernel& long_kernel() { return long_; }

  rk::Tensor tensor(const rk::Shape& shape) {
    rk::Tensor tensor = runtime_.allocate({rk::DType::f32, shape}).value();
    std::vector<float> values(tensor.desc().element_count());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);
    tensor.write(values).value();
    return tensor;
  }

  double call_us() {
    a_[0] = a_[0] > 1000 ? 0 : a_[0] + 1;
    const Stopwatch watch;
    const rk::Result<rk::Reply> reply = short_.call(rk::ops::add(a_, b_));
    const double us = watch.us();
    require(reply.has_value() && reply->floats()[0] == a_[0] + b_[0], "a short call failed");
    return us;
  }

 private:
  static rk::RingKernelRuntime open(std::string_view way) {
    rk::RuntimeOptions options{.arena_bytes = 256 << 20, .work_groups = 1};
    const bool is_native = way == "native";
    if (!is_native) setenv("RINGKERNEL_TRANSFER", std::string(way).c_str(), 1);
    return rk::RingKernelRuntime::builder()
        .backend(is_native ? "native" : "opencl")
        .options(options)
        .build()
        .value();
  }

  rk::RingKernelRuntime runtime_;
  rk::Kernel long_;
  rk::Kernel short_;
  std::array<float, 16> a_{};
  std::array<float, 16> b_{1, 2, 3};
};

using Run = std::function<double()>;  // one long op: milliseconds

/// Products of resident matrices into a third one: nothing of them passes a ring.
Run products(Service& service) {
  const rk::Shape square{size, size};
  return [&service, a = service.tensor(square), b = service.tensor(square),
          c = service.tensor(square)] {
    const Stopwatch watch;
    const auto reply = service.long_kernel().call(rk::ops::matmul(a, b).into(c));
    require(reply.has_value(), "a product failed");
    return watch.us() / 1000;
  };
}

/// Sixteen images of 56 x 56 x 64 under 128 filters of 3 x 3: nearly as many multiply-adds.
Run convolutions(Service& service) {
  return [&service, images = service.tensor({16, 56, 56, 64}),
          filter = service.tensor({3, 3, 64, 128}), out = service.tensor({16, 56, 56, 128})] {
    const Stopwatch watch;
    const auto reply = service.long_kernel().call(
        rk::ops::conv2d(images, filter, {.padding = rk::Padding::same}).into(out));
    require(reply.has_value(), "a convolution failed");
    return watch.us() / 1000;
  };
}

/// 32 layers of 512 neurons for 64 inputs, each a product, a bias and a relu.
Run graphs(Service& service) {
  constexpr std::uint32_t width = 512, inputs = 64;
  rk::Graph graph("layers");
  rk::Graph::Value value = graph.input({rk::DType::f32, {inputs, width}});
  const std::vector<float> weights(std::size_t{width} * width, 0.001f), biases(width, 0.5f);
  const auto w = graph.constant(rk::TensorView({rk::DType::f32, {width, width}}, weights.data()));
  for (int layer = 0; layer < 32; ++layer) {
    value = graph.add(rk::ops::matmul(value, w));
    value = graph.add(rk::ops::add(value, graph.constant(biases)));
    value = graph.add(rk::ops::relu(value));
  }
  graph.output(value);
  static const std::vector<float> ones(std::size_t{inputs} * width, 1.0f);
  return [function = service.runtime().compile(graph).value(),
          x = rk::TensorView({rk::DType::f32, {inputs, width}}, ones.data())] {
    const Stopwatch watch;
    const auto result = function.execute(x);
    require(result.has_value(), result ? "" : result.error().text().c_str());
    return watch.us() / 1000;
  };
}

using Make = Run (*)(Service&);

/// The 99th percentile of the short calls.
Measurement calls_beside(std::string_view way, Make make) {
  Service service(way);
  const Run run = make(service);
  run();
  std::atomic<bool> stop = false;
  std::jthread stream([&] {
    while (!stop) run();
  });
  Latencies latencies(limits);
  while (latencies.more()) {
    std::this_thread::sleep_for(pace);
    latencies.add(service.call_us());
  }
  stop = true;
  Measurement result = latencies.result();
  result.value = result.p99;
  return result;
}

/// The long ops, by themselves or beside the short calls.
Measurement long_ops(std::string_view way, bool beside) {
  Service service(way);
  const Run run = products(service);
  std::atomic<bool> stop = !beside;
  std::jthread calls([&] {
    while (!stop) {
      std::this_thread::sleep_for(pace);
      service.call_us();
    }
  });
  Latencies latencies(limits);
  while (latencies.more()) latencies.add(run());
  stop = true;
  return latencies.result();
}

std::vector<Case> make_turns_cases() {
  std::vector<Case> turns;
  for (const std::string_view way : ways) {
    const std::string text(way);
    turns.push_back(
        {keep("add16_beside_products_" + text), "us", [=] { return calls_beside(way, products); }});
    turns.push_back({keep("product1024_" + text), "ms", [=] { return long_ops(way, false); }});
    turns.push_back(
        {keep("product1024_beside_calls_" + text), "ms", [=] { return long_ops(way, true); }});
  }
  for (const std::string_view way : {ways[0], ways[1]}) {
    const std::string text(way);
    turns.push_back(
        {keep("add16_beside_conv_" + text), "us", [=] { return calls_beside(way, convolutions); }});
    turns.push_back(
        {keep("add16_beside_graph_" + text), "us", [=] { return calls_beside(way, graphs); }});
  }
  return turns;
}

std::vector<Figure> make_turns_figures() {
  std::vector<Figure> promises;
  for (const Case& one : turns_cases()) {
    const bool is_promised =
        one.name == "add16_beside_products_native" || one.name == "add16_beside_products_zero_copy";
    promises.push_back({keep(std::string(one.name) + (one.unit == "us" ? "_p99_us" : "_p50_ms")),
                        one.unit, Better::lower, is_promised ? 2000 : Figure::no_bar, one.name});
  }
  return promises;
}

}  // namespace

std::span<const Case> turns_cases() {
  static const std::vector<Case> cases = make_turns_cases();
  return cases;
}

std::span<const Figure> turns_figures() {
  static const std::vector<Figure> figures = make_turns_figures();
  return figures;
}

}  // namespace bench
