// A chain of small ops on 16 floats: x + c, relu, * d, and again. As one graph, and as messages to
// one kernel whose intermediate values stay on the device. The same ops on a million floats.
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "ringkernel/ringkernel.hpp"

namespace bench {
namespace {

namespace rk = ringkernel;

constexpr std::size_t chain_width = 16;
using Values = std::array<float, chain_width>;

/// The op `i` of the chain on `x`; `c` and `d` are what it adds and multiplies.
rk::Request op(std::size_t i, const rk::TensorView& x, const rk::TensorView& c,
               const rk::TensorView& d) {
  switch (i % 3) {
    case 0: return rk::ops::add(x, c);
    case 1: return rk::ops::relu(x);
    default: return rk::ops::mul(x, d);
  }
}

struct Chain {
  Values x{}, c{}, d{};

  Chain() {
    for (std::size_t i = 0; i < chain_width; ++i) {
      x[i] = static_cast<float>(i) - 8;
      c[i] = 0.5f + static_cast<float>(i);
      d[i] = 1.0f / static_cast<float>(i + 2);
    }
  }
  void vary() { x[0] = x[0] > 1000 ? 0 : x[0] + 1; }
  void check(std::span<const float> result, std::size_t ops) const {
    for (std::size_t i = 0; i < chain_width; ++i) {
      float value = x[i];
      for (std::size_t step = 0; step < ops; ++step)
        value = step % 3 == 0 ? value + c[i] : step % 3 == 1 ? std::max(value, 0.0f) : value * d[i];
      if (result.size() != chain_width || result[i] != value)
        throw std::runtime_error("wrong result");
    }
  }
};

rk::RingKernelRuntime open_graph_runtime() {
  return rk::RingKernelRuntime::builder()
      .backend("opencl")
      .options(rk::RuntimeOptions::low_latency())
      .build()
      .value();
}

/// The function of `ops` ops, each on what the one before gave.
using Compile = rk::CompiledFunction (*)(rk::RingKernelRuntime&, const Chain&, std::size_t);

rk::CompiledFunction compile(rk::RingKernelRuntime& runtime, const Chain& chain, std::size_t ops) {
  rk::Graph graph("chain" + std::to_string(ops));
  rk::Graph::Value value = graph.input({rk::DType::f32, {chain_width}});
  const auto c = graph.constant(chain.c), d = graph.constant(chain.d);
  for (std::size_t i = 0; i < ops; ++i) value = graph.add(op(i, value, c, d));
  graph.output(value);
  return runtime.compile(graph).value();
}

double timed_execute(const rk::CompiledFunction& function, Chain& chain, std::size_t ops) {
  chain.vary();
  const Stopwatch watch;
  const rk::Result<rk::FunctionResult> result = function.execute(chain.x);
  const double us = watch.us();
  chain.check(result.value().elements<float>(), ops);
  return us;
}

/// Each op by itself: what two others read is in no chain. x + c, then the difference of the last
/// two, which comes round after six.
rk::CompiledFunction compile_apart(rk::RingKernelRuntime& runtime, const Chain& chain,
                                   std::size_t ops) {
  rk::Graph graph("apart" + std::to_string(ops));
  rk::Graph::Value before = graph.input({rk::DType::f32, {chain_width}});
  rk::Graph::Value value = graph.add(rk::ops::add(before, graph.constant(chain.c)));
  for (std::size_t i = 1; i < ops; ++i)
    before = std::exchange(value, graph.add(rk::ops::sub(value, before)));
  graph.output(value);
  return runtime.compile(graph).value();
}

double timed_apart(const rk::CompiledFunction& function, Chain& chain, std::size_t ops) {
  chain.vary();
  const Stopwatch watch;
  const rk::Result<rk::FunctionResult> result = function.execute(chain.x);
  const double us = watch.us();
  for (std::size_t i = 0; i < chain_width; ++i) {
    float before = chain.x[i];
    float value = before + chain.c[i];
    for (std::size_t step = 1; step < ops; ++step) before = std::exchange(value, value - before);
    if (result.value().elements<float>()[i] != value) throw std::runtime_error("wrong result");
  }
  return us;
}

/// What an op more costs, its arithmetic on 16 numbers included: nanoseconds.
Measurement cost_of_an_op(Compile compile_chain,
                          double (*timed)(const rk::CompiledFunction&, Chain&, std::size_t)) {
  rk::RingKernelRuntime runtime = open_graph_runtime();
  Chain chain;
  const rk::CompiledFunction one = compile_chain(runtime, chain, 1);
  const rk::CompiledFunction many = compile_chain(runtime, chain, 61);
  Latencies of_one, of_many;
  while (of_one.more() && of_many.more()) {
    of_one.add(timed(one, chain, 1));
    of_many.add(timed(many, chain, 61));
  }
  const Measurement longer = of_many.result(), shorter = of_one.result();
  Measurement overhead = longer;
  overhead.value = (longer.value - shorter.value) / 60 * 1000;
  overhead.p50 = overhead.value;
  overhead.p99 = (longer.p99 - shorter.p99) / 60 * 1000;
  overhead.p999 = (longer.p999 - shorter.p999) / 60 * 1000;
  return overhead;
}

/// 12 ops on a million floats and their sum, as one graph and as messages on resident tensors.
struct LargeChain {
  static constexpr std::uint32_t elements = 1u << 20;
  static constexpr std::size_t ops = 12;

  rk::RingKernelRuntime runtime = open_graph_runtime();
  std::vector<float> start;
  std::array<float, 1> c{0.25f}, d{0.5f};
  rk::CompiledFunction function;
  rk::Kernel kernel;
  rk::Tensor resident, value;

  LargeChain() : start(elements) {
    for (std::size_t i = 0; i < elements; ++i) start[i] = static_cast<float>(i % 1000) / 8 - 60;
    const rk::TensorDesc desc{rk::DType::f32, {elements}};
    rk::Graph graph("large");
    const auto added = graph.input({rk::DType::f32, {1}});
    auto last = graph.add(op(0, graph.constant(start), added, d));
    for (std::size_t i = 1; i < ops; ++i) last = graph.add(op(i, last, added, graph.constant(d)));
    graph.output(graph.add(rk::ops::sum_all(last)));
    function = runtime.compile(graph).value();
    rk::KernelOptions options = rk::KernelOptions::low_latency();
    options.auto_activate = true;
    kernel = runtime.launch("large", options).value();
    resident = runtime.allocate(desc).value();
    value = runtime.allocate(desc).value();
    resident.write(start).value();
    if (by_graph() != by_messages()) throw std::runtime_error("wrong result");
  }
  float by_graph() { return function.execute(c).value().elements<float>()[0]; }
  float by_messages() {
    for (std::size_t i = 0; i < ops; ++i)
      kernel.send(op(i, i == 0 ? resident : value, c, d).into(value)).value();
    const float sum = kernel.call(rk::ops::sum_all(value)).value().floats()[0];
    std::array<rk::Result<rk::Reply>, ops> replies;
    for (std::size_t left = ops; left != 0;)
      left -= kernel.receive_some(std::span(replies).first(left), std::chrono::seconds(10)).value();
    return sum;
  }
  Measurement measure(float (LargeChain::*run)()) {
    Latencies latencies;
    while (latencies.more()) {
      const Stopwatch watch;
      (void)(this->*run)();
      latencies.add(watch.us());
    }
    return latencies.result();
  }
};

}  // namespace

Measurement graph20() {
  rk::RingKernelRuntime runtime = open_graph_runtime();
  Chain chain;
  const rk::CompiledFunction function = compile(runtime, chain, 20);
  Latencies latencies;
  while (latencies.more()) latencies.add(timed_execute(function, chain, 20));
  return latencies.result();
}

/// Nothing but the input and the last result travels; the messages are not waited for one by one.
Measurement messages20() {
  rk::RingKernelRuntime runtime = open_graph_runtime();
  rk::KernelOptions options = rk::KernelOptions::low_latency();
  options.auto_activate = true;
  rk::Kernel kernel = runtime.launch("chain", options).value();
  Chain chain;
  const auto resident = [&] { return runtime.allocate({rk::DType::f32, {chain_width}}).value(); };
  const rk::Tensor c = resident(), d = resident(), value = resident();
  rk::Tensor(c).write(chain.c).value();
  rk::Tensor(d).write(chain.d).value();
  std::array<rk::Result<rk::Reply>, 19> replies;
  Latencies latencies;
  while (latencies.more()) {
    chain.vary();
    const Stopwatch watch;
    for (std::size_t i = 0; i < 19; ++i)
      kernel.send(op(i, i == 0 ? rk::TensorView(chain.x) : rk::TensorView(value), c, d).into(value))
          .value();
    const rk::Reply last = kernel.call(op(19, value, c, d)).value();
    latencies.add(watch.us());
    chain.check(last.floats(), 20);
    for (std::size_t left = replies.size(); left != 0;)
      left -= kernel.receive_some(std::span(replies).first(left), std::chrono::seconds(10)).value();
  }
  return latencies.result();
}

Measurement graph_op_overhead() { return cost_of_an_op(compile_apart, timed_apart); }

Measurement chain_op() { return cost_of_an_op(compile, timed_execute); }

Measurement chain_large() { return LargeChain().measure(&LargeChain::by_graph); }

Measurement messages_large() { return LargeChain().measure(&LargeChain::by_messages); }

/// A hit: a key of a kilobyte, the shapes of one input.
Measurement get_or_compile_hit() {
  rk::RingKernelRuntime runtime = open_graph_runtime();
  const std::string content(1024, 'x');
  const rk::TensorDesc input{rk::DType::f32, {chain_width}};
  Chain chain;
  const auto get = [&] {
    return runtime.get_or_compile(content, {&input, 1}, [&] {
      rk::Graph graph("hit");
      graph.output(graph.add(op(0, graph.input(input), graph.constant(chain.c), chain.d)));
      return graph;
    });
  };
  const rk::CompiledFunction function = get().value();
  Latencies latencies;
  while (latencies.more()) {
    const Stopwatch watch;
    const rk::Result<rk::CompiledFunction> hit = get();
    latencies.add(watch.us());
    if (&hit.value().signature() != &function.signature()) throw std::runtime_error("not a hit");
  }
  return latencies.result();
}

}  // namespace bench
