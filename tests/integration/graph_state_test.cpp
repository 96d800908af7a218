// What functions keep from one execution to the next, each instance its own.
#include <gmock/gmock.h>

#include <numeric>
#include <thread>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RK_ON_EACH_BACKEND(GraphStates);

/// sums' = sums + x; answers sums'.
Graph running_sum() {
  Graph graph("running sum");
  const auto x = graph.input({DType::f32, {4}});
  const auto sums = graph.state({DType::f32, {4}});
  const auto next = graph.add(ops::add(sums, x));
  graph.update(sums, next);
  graph.output(next);
  return graph;
}

TEST_P(GraphStates, AreKeptFromOneExecutionToTheNext) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(running_sum()).value();
  EXPECT_EQ(function.signature().inputs.size(), 1u);
  EXPECT_EQ(function.signature().state_bytes, 64u);
  const std::array x{1.0f, 2.0f, 3.0f, 4.0f};
  EXPECT_THAT(function.execute(x).value().elements<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(function.execute(x).value().elements<float>(), ElementsAre(2, 4, 6, 8));
  PreparedCall prepared = function.prepare().value();
  EXPECT_THAT(prepared.call({x}).value().elements<float>(0), ElementsAre(3, 6, 9, 12));
}

TEST_P(GraphStates, AreOfEachInstance) {
  auto runtime = open();
  const CompiledFunction first = runtime.compile(running_sum()).value();
  const std::array x{1.0f, 1.0f, 1.0f, 1.0f};
  (void)first.execute(x).value();
  const CompiledFunction second = first.instance().value();
  EXPECT_EQ(second.execute(x).value().elements<float>()[0], 1);
  EXPECT_EQ(second.execute(x).value().elements<float>()[0], 2);
  EXPECT_EQ(first.execute(x).value().elements<float>()[0], 2);
  EXPECT_EQ(second.instance().value().execute(x).value().elements<float>()[0], 1);
}

/// Constants are there once, and stay for whoever is left.
TEST_P(GraphStates, InstancesShareConstants) {
  auto runtime = open();
  constexpr std::uint32_t n = 256;
  constexpr std::uint64_t weights_bytes = std::uint64_t{n} * n * sizeof(float);
  const std::vector<float> weights(std::size_t{n} * n, 1.0f);
  Graph graph("shares");
  const auto x = graph.input({DType::f32, {1, n}});
  const auto state = graph.state({DType::f32, {1, n}});
  const auto next =
      graph.add(ops::add(state, graph.add(ops::matmul(x, TensorView({n, n}, weights)))));
  graph.update(state, next);
  graph.output(next);
  const auto free_bytes = [&] { return runtime.metrics().arena_free_bytes; };
  (void)runtime.compile(running_sum()).value();  // the program is there then
  const std::uint64_t at_first = free_bytes();
  const std::vector<float> ones(n, 1.0f);
  std::vector<CompiledFunction> instances;
  {
    CompiledFunction function = runtime.compile(graph).value();
    const std::uint64_t before = free_bytes();
    for (int i = 0; i < 10; ++i)
      instances.push_back(function.instance({.in_flight_max = 1}).value());
    EXPECT_LT(before - free_bytes(), weights_bytes);
  }
  for (int round = 1; round <= 3; ++round)
    for (const CompiledFunction& instance : instances)
      EXPECT_EQ(instance.execute(ones).value().elements<float>()[n - 1],
                256.0f * static_cast<float>(round));
  instances.clear();
  EXPECT_EQ(free_bytes(), at_first);
}

TEST_P(GraphStates, ChangePlacesAtOnce) {
  auto runtime = open();
  Graph graph("swap");
  const auto x = graph.input({DType::f32, {2}});
  const auto a = graph.state({DType::f32, {2}});
  const auto b = graph.state({DType::f32, {2}});
  const auto c = graph.state({DType::f32, {2}});
  graph.update(a, b);
  graph.update(b, c);
  graph.update(c, x);
  for (const auto& state : {a, b, c}) graph.output(state);
  const CompiledFunction delay = runtime.compile(graph).value();
  const auto run = [&](float number) {
    const std::array numbers{number, number};
    const auto result = delay.execute(numbers).value();
    return std::array{result.elements<float>(0)[0], result.elements<float>(1)[1],
                      result.elements<float>(2)[0]};
  };
  EXPECT_THAT(run(1), ElementsAre(0, 0, 0));
  EXPECT_THAT(run(2), ElementsAre(0, 0, 1));
  EXPECT_THAT(run(3), ElementsAre(0, 1, 2));
  EXPECT_THAT(run(4), ElementsAre(1, 2, 3));
}

/// What is not asked for as an output is computed for the next execution all the same.
TEST_P(GraphStates, NeedNoOutput) {
  auto runtime = open();
  Graph graph("counts");
  const auto x = graph.input({DType::f32, {1}});
  const auto count = graph.state({DType::f32, {1}});
  const auto fixed = graph.state({DType::f32, {1}});  // is never updated
  const float one = 1;
  graph.update(count, graph.add(ops::reshape(
                          graph.add(ops::add(count, {{DType::f32, {1, 1}}, &one})), {1})));
  graph.output(graph.add(ops::add(graph.add(ops::mul(count, x)), fixed)));
  const CompiledFunction function = runtime.compile(graph).value();
  const std::array ten{10.0f};
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(function.execute(ten).value().elements<float>()[0], 10.0f * static_cast<float>(i));
}

TEST_P(GraphStates, StayWhereAnExecutionFails) {
  auto runtime = open();
  Graph graph("gather");
  const auto row = graph.input({DType::i64, {1}});
  const auto count = graph.state({DType::f32, {2}});
  const float one = 1;
  const std::array table{5.0f, 6.0f};
  const auto next = graph.add(ops::add(count, {{DType::f32, {}}, &one}));
  graph.update(count, next);
  graph.output(graph.add(ops::gather(graph.add(ops::add(next, table)), row)));
  const CompiledFunction function = runtime.compile(graph).value();
  const std::array<std::int64_t, 1> good{1}, bad{2};
  EXPECT_EQ(function.execute(TensorView(good)).value().elements<float>()[0], 7);
  EXPECT_TRUE(function.execute(TensorView(bad)).has_error());
  EXPECT_EQ(function.execute(TensorView(good)).value().elements<float>()[0], 8);
}

TEST_P(GraphStates, AreRefusedWithTheFirstError) {
  const auto refusal =
      [](const std::function<void(Graph&, const Graph::Value&, const Graph::Value&)>& spoil) {
        Graph graph("wrong");
        const auto x = graph.input({DType::f32, {2}});
        const auto state = graph.state({DType::f32, {2}});
        spoil(graph, x, state);
        return graph.status().error().text();
      };
  EXPECT_THAT(
      refusal([](Graph& graph, const auto& x, const auto& state) { graph.update(x, state); }),
      HasSubstr("an update of a value that is no state"));
  EXPECT_THAT(refusal([](Graph& graph, const auto& x, const auto& state) {
                graph.update(state, x);
                graph.update(state, x);
              }),
              HasSubstr("a state is updated twice"));
  EXPECT_THAT(refusal([](Graph& graph, const auto& x, const auto& state) {
                graph.update(state, graph.add(ops::reshape(x, {1, 2})));
              }),
              HasSubstr("a state f32[2] gets f32[1, 2]"));
  EXPECT_THAT(refusal([](Graph& graph, const auto&, const auto&) {
                (void)graph.state({DType::f32, {0}});
              }),
              HasSubstr("E3006"));
  EXPECT_EQ(CompiledFunction().instance().error(), Errc::kernel_not_found);
}

/// Each instance by a thread of its own: what they share is only read.
TEST_P(GraphStates, RunSideBySide) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(running_sum()).value();
  std::vector<std::thread> threads;
  constexpr int rounds = 200;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([instance = function.instance({.in_flight_max = 1}).value(), i] {
      const std::vector<float> x(4, static_cast<float>(i + 1));
      float last = 0;
      for (int round = 0; round < rounds; ++round)
        last = instance.execute(x).value().template elements<float>()[3];
      EXPECT_EQ(last, static_cast<float>(rounds * (i + 1)));
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace ringkernel::test
