// The same small network asked for in a coroutine in two ways: by execute, which keeps its thread,
// and by async_execute, with pauses between the requests as a service has them.
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <vector>

#include "async_cases.hpp"
#include "figures.hpp"
#include "ringkernel/ringkernel.hpp"

namespace bench {
namespace {

namespace asio = boost::asio;
namespace rk = ringkernel;

/// relu(x W1 + b1) W2 + b2: 16 inputs, 32 hidden, one output.
rk::CompiledFunction compile_scorer(rk::RingKernelRuntime& runtime) {
  constexpr std::int64_t inputs = 16, hidden = 32;
  const auto numbers = [](std::size_t count, float scale) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = scale * (static_cast<float>(i * 37 % 19) - 9.0f);
    return values;
  };
  rk::Graph graph("scorer");
  const auto constant = [&](rk::Shape shape, const std::vector<float>& values) {
    return graph.constant(rk::TensorView(shape, values));
  };
  auto value = graph.input({rk::DType::f32, {1, inputs}});
  const auto w1 = constant({inputs, hidden}, numbers(inputs * hidden, 0.02f));
  value = graph.add(rk::ops::matmul(value, w1));
  value = graph.add(rk::ops::add(value, constant({hidden}, numbers(hidden, 0.01f))));
  value = graph.add(rk::ops::relu(value));
  const auto w2 = constant({hidden, 1}, numbers(hidden, 0.05f));
  value = graph.add(rk::ops::matmul(value, w2));
  graph.output(value);
  return runtime.compile(graph).value();
}

enum class Way { execute, async_execute };

asio::awaitable<void> serve(const rk::CompiledFunction& scorer, Way way,
                            std::chrono::microseconds pause, Latencies& latencies) {
  std::array<float, 16> row{};
  const rk::TensorView input(rk::Shape{1, 16}, row);
  const float expected = scorer.execute(input).value().elements<float>()[0];
  asio::steady_timer timer(co_await asio::this_coro::executor);
  while (latencies.more()) {
    if (pause.count() != 0) {
      timer.expires_after(pause);
      co_await timer.async_wait(asio::use_awaitable);
    }
    const Stopwatch watch;
    float score = 0;
    if (way == Way::execute)
      score = scorer.execute(input).value().elements<float>()[0];
    else
      score = (co_await scorer.async_execute(input, asio::use_awaitable)).elements<float>()[0];
    latencies.add(watch.us());
    if (score != expected) throw std::runtime_error("wrong score");
  }
}

template <Way way, int pause_us>
Measurement score(const char* backend) {
  rk::RingKernelRuntime runtime = rk::RingKernelRuntime::builder().backend(backend).build().value();
  const rk::CompiledFunction scorer = compile_scorer(runtime);
  asio::io_context io_context(1);
  Latencies latencies;
  asio::co_spawn(io_context, serve(scorer, way, std::chrono::microseconds(pause_us), latencies),
                 [](const std::exception_ptr& failure) {
                   if (failure) std::rethrow_exception(failure);
                 });
  io_context.run();
  return latencies.result();
}

template <Way way, int pause_us>
Measurement natively() {
  return score<way, pause_us>("native");
}
template <Way way, int pause_us>
Measurement on_opencl() {
  return score<way, pause_us>("opencl");
}

const Case cases_of_async[] = {
    {"native_execute_0", "us", natively<Way::execute, 0>},
    {"native_execute_100", "us", natively<Way::execute, 100>},
    {"native_execute_1000", "us", natively<Way::execute, 1000>},
    {"native_async_execute_0", "us", natively<Way::async_execute, 0>},
    {"native_async_execute_100", "us", natively<Way::async_execute, 100>},
    {"native_async_execute_1000", "us", natively<Way::async_execute, 1000>},
    {"opencl_execute_0", "us", on_opencl<Way::execute, 0>},
    {"opencl_execute_100", "us", on_opencl<Way::execute, 100>},
    {"opencl_execute_1000", "us", on_opencl<Way::execute, 1000>},
    {"opencl_async_execute_0", "us", on_opencl<Way::async_execute, 0>},
    {"opencl_async_execute_100", "us", on_opencl<Way::async_execute, 100>},
    {"opencl_async_execute_1000", "us", on_opencl<Way::async_execute, 1000>},
};

/// How many times what execute takes, by the pause in microseconds; and what an op takes that is
/// waited for, by how many are given before.
const std::vector<Figure> figures_of_async = {
    {"native_async_vs_execute_0",
     "x",
     Better::lower,
     2,
     "native_async_execute_0",
     {"native_execute_0"}},
    {"native_async_vs_execute_100",
     "x",
     Better::lower,
     2,
     "native_async_execute_100",
     {"native_execute_100"}},
    {"native_async_vs_execute_1000",
     "x",
     Better::lower,
     2,
     "native_async_execute_1000",
     {"native_execute_1000"}},
    {"opencl_async_vs_execute_0",
     "x",
     Better::lower,
     5,
     "opencl_async_execute_0",
     {"opencl_execute_0"}},
    {"opencl_async_vs_execute_100",
     "x",
     Better::lower,
     5,
     "opencl_async_execute_100",
     {"opencl_execute_100"}},
    {"opencl_async_vs_execute_1000",
     "x",
     Better::lower,
     5,
     "opencl_async_execute_1000",
     {"opencl_execute_1000"}},
    {"native_mind_async_vs_sync_1", "x", Better::lower, 3, "native_mind_async_1", {"native_mind"}},
    {"native_mind_async_vs_sync_1000",
     "x",
     Better::lower,
     1.5,
     "native_mind_async_1000",
     {"native_mind"}},
    {"opencl_mind_async_vs_sync_1", "x", Better::lower, 3, "opencl_mind_async_1", {"opencl_mind"}},
    {"opencl_mind_async_vs_sync_1000",
     "x",
     Better::lower,
     1.5,
     "opencl_mind_async_1000",
     {"opencl_mind"}},
};

}  // namespace

std::span<const Case> async_cases() { return cases_of_async; }

std::span<const Figure> async_figures() { return figures_of_async; }

}  // namespace bench
