// Graphs against the same ops one by one: the same bytes.
#include <gmock/gmock.h>

#include <random>
#include <thread>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RK_ON_EACH_BACKEND(Graphs);

std::vector<float> random_floats(std::size_t count, std::mt19937& random) {
  std::uniform_real_distribution<float> range(-2, 2);
  std::vector<float> values(count);
  for (float& value : values) value = range(random);
  return values;
}

/// The first snippet of docs/GRAPHS.md.
TEST_P(Graphs, TakeARowAsTheFirstSnippetDoes) {
  namespace rk = ringkernel;
  auto runtime = open();
  const std::vector<float> pixels(64, 0.5f), row(64 * 10, 0.25f);
  const TensorView weights(Shape{64, 10}, row);
  const auto snippet = [&]() -> Result<float> {
    rk::Graph graph("scores");
    const auto image = graph.input({rk::DType::f32, {1, 64}});
    const auto hidden = graph.add(rk::ops::relu(graph.add(rk::ops::matmul(image, weights))));
    graph.output(hidden);
    RK_TRY(function, runtime.compile(graph));
    RK_TRY(result, function.execute(pixels));
    return result.elements<float>(0)[0];
  };
  EXPECT_EQ(snippet().value(), 8.0f);
}

TEST_P(Graphs, TakeARowWhereThereIsOneOrder) {
  auto runtime = open();
  const auto takes = [&](const Shape& shape, std::size_t count) {
    Graph graph("copy");
    graph.output(graph.add(ops::copy(graph.input({DType::f32, shape}))));
    const std::vector<float> row(count, 1.0f);
    return runtime.compile(graph).value().execute(row).has_value();
  };
  EXPECT_TRUE(takes({1, 4, 1}, 4));
  EXPECT_TRUE(takes({1, 1}, 1));
  EXPECT_TRUE(takes({}, 1));
  EXPECT_FALSE(takes({1, 4}, 3));
  EXPECT_FALSE(takes({2, 2}, 4));
  EXPECT_FALSE(takes({1, 4}, 1));
}

TEST_P(Graphs, RunANetworkWithOneMessage) {
  auto runtime = open();
  std::mt19937 random(1);
  const auto w1 = random_floats(8 * 4, random), b1 = random_floats(4, random);
  const auto w2 = random_floats(4 * 3, random), x = random_floats(2 * 8, random);
  Graph graph("network");
  const auto input = graph.input({DType::f32, {2, 8}});
  const auto product = graph.add(ops::matmul(input, graph.constant({{8, 4}, w1})));
  const auto hidden = graph.add(ops::relu(graph.add(ops::add(product, b1))));
  graph.output(graph.add(ops::matmul(hidden, TensorView({4, 3}, w2))));
  graph.output(graph.add(ops::sum(hidden, {1})));
  const CompiledFunction function = runtime.compile(graph).value();
  EXPECT_EQ(function.signature().commands, 5u);

  Kernel kernel = active(runtime, "single", {.program = "core"});
  const auto a = kernel.call(ops::matmul({{2, 8}, x}, {{8, 4}, w1})).value();
  const auto b = kernel.call(ops::add(a.tensor(), b1)).value();
  const auto h = kernel.call(ops::relu(b.tensor())).value();
  const auto scores = kernel.call(ops::matmul(h.tensor(), {{4, 3}, w2})).value();
  const auto sums = kernel.call(ops::sum(h.tensor(), {1})).value();
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto result = function.execute(TensorView({2, 8}, x));
    ASSERT_TRUE(result) << result.error().text();
    ASSERT_EQ(result->size(), 2u);
    EXPECT_EQ(result->output(0).desc, scores.tensor().desc);
    EXPECT_TRUE(std::ranges::equal(result->elements<float>(0), scores.floats()));
    EXPECT_TRUE(std::ranges::equal(result->elements<float>(1), sums.floats()));
    EXPECT_TRUE(result->elements<std::int32_t>(0).empty());
  }
}

/// A graph of random ops on square matrices, and what its values are by single calls.
struct RandomNetwork {
  static constexpr std::uint32_t n = 6;
  Graph graph{"random"};
  std::vector<Graph::Value> values;
  std::vector<std::vector<float>> expected;
  std::vector<std::vector<float>> inputs;
  std::vector<std::size_t> outputs;

  RandomNetwork(Kernel& kernel, unsigned seed) {
    std::mt19937 random(seed);
    const auto any = [&](std::size_t count) {
      return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
    };
    for (int i = 0; i < 3; ++i) {
      inputs.push_back(random_floats(n * n, random));
      expected.push_back(inputs.back());
      values.push_back(graph.input({DType::f32, {n, n}}));
    }
    expected.push_back(random_floats(n * n, random));
    values.push_back(graph.constant(TensorView({n, n}, expected.back())));
    for (int i = 0; i < 40; ++i) {
      // Mostly young values, so that old ones die and their memory is used again.
      const auto operand = [&] {
        return values.size() - 1 - any(std::min<std::size_t>(values.size(), 6));
      };
      const std::size_t a = operand(), b = operand(), which = any(8);
      const auto op = [&](const TensorView& x, const TensorView& y) {
        switch (which) {
          case 0: return ops::add(x, y);
          case 1: return ops::mul(x, y);
          case 2: return ops::matmul(x, y);
          case 3: return ops::relu(x);
          case 4: return ops::transpose(x, {1, 0});
          case 5: return ops::sub(x, y);
          case 6: return ops::reshape(x, {n, n});
          default: return ops::neg(x);
        }
      };
      const Reply reply = kernel.call(op({{n, n}, expected[a]}, {{n, n}, expected[b]})).value();
      expected.emplace_back(reply.floats().begin(), reply.floats().end());
      values.push_back(graph.add(op(values[a], values[b])));
    }
    // Inputs, constants, operands and the same value twice are outputs as well.
    outputs = {values.size() - 1, any(3), 3};
    for (int i = 0; i < 3; ++i) outputs.push_back(any(values.size()));
    outputs.push_back(outputs[any(outputs.size())]);
    for (const std::size_t output : outputs) graph.output(values[output]);
  }
};

TEST_P(Graphs, GiveTheBytesOfTheirOpsOneByOne) {
  auto runtime = open();
  Kernel kernel = active(runtime, "single", {.program = "core"});
  for (unsigned seed = 0; seed < 40; ++seed) {
    const RandomNetwork network(kernel, seed);
    const auto function = runtime.compile(network.graph);
    ASSERT_TRUE(function) << function.error().text();
    std::vector<TensorView> inputs;
    for (const auto& input : network.inputs)
      inputs.emplace_back(Shape{network.n, network.n}, input);
    const auto result = function->execute(inputs);
    ASSERT_TRUE(result) << result.error().text();
    for (std::size_t i = 0; i < network.outputs.size(); ++i) {
      const auto& expected = network.expected[network.outputs[i]];
      const auto got = result->elements<float>(i);
      ASSERT_EQ(got.size(), expected.size());
      ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size_bytes()), 0)
          << "seed " << seed << ", output " << i;
    }
  }
}

TEST_P(Graphs, UseAPlaceAgainWhenNobodyReadsItAnyMore) {
  auto runtime = open();
  constexpr std::uint64_t block = 16 * 16 * sizeof(float);
  const TensorDesc square{DType::f32, {16, 16}};
  Graph products("products");  // none can write over an operand: two places in turn
  Graph::Value value = products.input(square);
  (void)products.add(ops::exp(value));  // nobody asks for it
  for (int i = 0; i < 10; ++i) value = products.add(ops::matmul(value, value));
  products.output(value);
  const FunctionSignature of_products = runtime.compile(products).value().signature();
  EXPECT_EQ(of_products.commands, 10u);
  EXPECT_EQ(of_products.workspace_bytes, 2 * block);

  Graph copies(
      "copies");  // each can write over its operand: one place, and the last is the reply's
  value = copies.input(square);
  for (int i = 0; i < 10; ++i) value = copies.add(ops::copy(value));
  copies.output(value);
  EXPECT_EQ(runtime.compile(copies).value().signature().workspace_bytes, block);

  Graph chain("chain");  // nothing lies in memory between them
  value = chain.input(square);
  for (std::uint32_t i = 0; i < RK_CHAIN_COMMANDS_MAX; ++i) value = chain.add(ops::relu(value));
  const Graph::Value end = value;
  chain.output(end);
  EXPECT_EQ(runtime.compile(chain).value().signature().workspace_bytes, 0u);
  chain.output(chain.add(ops::relu(end)));  // the chain's end is read twice
  EXPECT_EQ(runtime.compile(chain).value().signature().workspace_bytes, block);

  Graph all("all");  // everything is asked for twice, so nothing dies and all is copied
  value = all.input(square);
  for (int i = 0; i < 5; ++i) {
    value = all.add(ops::relu(value));
    all.output(value);
    all.output(value);
  }
  const FunctionSignature of_all = runtime.compile(all).value().signature();
  EXPECT_EQ(of_all.workspace_bytes, 5 * block);
  EXPECT_EQ(of_all.commands, 15u);
}

TEST_P(Graphs, TakeEveryKindOfOpAndType) {
  auto runtime = open();
  const std::vector<float> image{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<float> filter{1, 1, 1, 1};
  const std::vector<std::int64_t> rows{2, 0};
  Graph graph("kinds");
  const auto x = graph.input({DType::f32, {3, 3}});
  const auto picked = graph.input({DType::i64, {2}});
  const auto gathered = graph.add(ops::gather(x, picked));
  graph.output(gathered);
  graph.output(graph.add(ops::slice(x, {{0, 1}, {3, 3}, {2, 1}})));
  graph.output(graph.add(ops::index(x, {1, 1})));
  graph.output(graph.add(
      ops::conv2d(graph.add(ops::reshape(x, {1, 3, 3, 1})), TensorView({2, 2, 1, 1}, filter))));
  graph.output(
      graph.add(ops::mean_all(graph.add(ops::squeeze(graph.add(ops::expand_dims(x, {0})))))));
  graph.output(graph.add(ops::add(picked, picked)));
  const auto around = graph.add(ops::pad(graph.add(ops::neg(x)), x, {1, 0}, {0, 1}));
  graph.output(graph.add(ops::relu(around)));
  const CompiledFunction function = runtime.compile(graph).value();
  const auto result =
      function.execute(std::array{TensorView({3, 3}, image), TensorView(rows)}).value();
  EXPECT_THAT(result.elements<float>(0), ElementsAre(7, 8, 9, 1, 2, 3));
  EXPECT_THAT(result.elements<float>(1), ElementsAre(2, 3, 8, 9));
  EXPECT_THAT(result.elements<float>(2), ElementsAre(5));
  EXPECT_THAT(result.elements<float>(3), ElementsAre(12, 16, 24, 28));
  EXPECT_THAT(result.elements<float>(4), ElementsAre(5));
  EXPECT_THAT(result.elements<std::int64_t>(5), ElementsAre(4, 0));
  EXPECT_THAT(result.elements<float>(6),
              ElementsAre(1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1));
}

TEST_P(Graphs, RunFromText) {
  auto runtime = open();
  constexpr std::string_view text = R"(# the gradients of sum(x * y + x)
%x = Input() {name: "x"} : Tensor<f32, [2, 3]>
%y = Input() {name: "y"} : Tensor<f32, [2, 3]>
%0 = BinOp(Mul, %x, %y) : Tensor<f32, [2, 3]>
%1 = BinOp(Add, %x, %0) : Tensor<f32, [2, 3]>
%loss = Sum(%1, [], false) : Tensor<f32, []>
%seed = ConstF32(1.0) : Tensor<f32, []>
%ones = ConstTensor([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]) : Tensor<f32, [2, 3]>
%2 = BinOp(Mul, %seed, %ones) : Tensor<f32, [2, 3]>
%3 = %2
%dx = BinOp(Mul, %y, %3) : Tensor<f32, [2, 3]>
%dy = BinOp(Mul, %x, %3) : Tensor<f32, [2, 3]>
%sum = BinOp(Add, %2, %dx) : Tensor<f32, [2, 3]>
outputs: %loss, %sum, %dy)";
  const std::vector<float> x{1, 2, 3, 4, 5, 6}, y{6, 5, 4, 3, 2, 1};
  const std::array<TensorDesc, 2> shapes{{{DType::f32, {2, 3}}, {DType::f32, {2, 3}}}};
  for (const std::uint64_t hits : {0u, 1u}) {
    const auto function =
        runtime.get_or_compile(text, shapes, [&] { return Graph::parse("gradients", text); });
    ASSERT_TRUE(function) << function.error().text();
    EXPECT_EQ(runtime.metrics().function_cache_hits, hits);
    const auto result =
        function->execute(std::array{TensorView({2, 3}, x), TensorView({2, 3}, y)}).value();
    EXPECT_THAT(result.elements<float>(0), ElementsAre(77));
    EXPECT_THAT(result.elements<float>(1), ElementsAre(7, 6, 5, 4, 3, 2));
    EXPECT_THAT(result.elements<float>(2), ElementsAre(1, 2, 3, 4, 5, 6));
  }
}

TEST_P(Graphs, AFaultNamesTheFunctionAndLeavesItUsable) {
  auto runtime = open();
  const std::vector<float> x{1, 2, 3, 4};
  Graph graph("picker");
  const auto rows = graph.input({DType::i32, {1}});
  graph.output(graph.add(ops::gather(graph.constant({{2, 2}, x}), rows)));
  const CompiledFunction function = runtime.compile(graph).value();
  const std::vector<std::int32_t> good{1}, bad{7};
  const auto refused = function.execute(bad);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error() == Errc::out_of_bounds) << refused.error().text();
  EXPECT_THAT(refused.error().detail, HasSubstr("'picker'"));
  EXPECT_THAT(refused.error().detail, HasSubstr("index 7"));
  EXPECT_THAT(function.execute(good).value().elements<float>(), ElementsAre(3, 4));
}

/// Of executions that wait on the host those of the highest priority are run first.
TEST_P(Graphs, AreRunByPriority) {
  auto runtime = open();
  Graph graph("copy");
  const std::uint32_t floats = 7600;  // of which the function's ring takes two
  graph.output(graph.add(ops::copy(graph.input({DType::f32, {floats}}))));
  const CompiledFunction function = runtime.compile(graph).value();
  Kernel kernel = runtime.kernel(runtime.kernels().at(0)).value();
  kernel.deactivate().value();
  const std::vector<float> x(floats, 1.0f);
  boost::asio::io_context context;
  std::vector<int> order;
  for (const int priority : {0, 0, 1, 5, 3})
    function.async_execute(
        x, ExecuteOptions{.priority = priority},
        boost::asio::bind_executor(context, [&, priority](error_code error, const FunctionResult&) {
          EXPECT_FALSE(error);
          order.push_back(priority);
        }));
  EXPECT_EQ(kernel.metrics().queued, 3u);
  kernel.activate().value();
  context.run();
  EXPECT_THAT(order, ElementsAre(0, 0, 5, 3, 1));
}

/// A function is a kernel like others, and may refuse when it is full.
TEST_P(Graphs, TakeTheBackpressureOfTheirKernel) {
  auto runtime = open();
  Graph graph("copy");
  graph.output(graph.add(ops::copy(graph.input({DType::f32, {2}}))));
  const std::vector<TensorDesc> inputs = graph.inputs();
  const FunctionOptions impatient{.in_flight_max = 1, .backpressure = Backpressure::reject};
  for (const bool cached : {false, true}) {
    const CompiledFunction function =
        cached ? runtime
                     .get_or_compile(
                         "copy", inputs, [&] { return graph; }, impatient)
                     .value()
               : runtime.compile(graph, impatient).value();
    Kernel kernel = runtime.kernel(runtime.kernels().back()).value();
    EXPECT_EQ(kernel.metrics().in_flight_max, 1u);
    kernel.deactivate().value();
    const std::vector<float> x{1, 2};
    auto waiting = function.async_execute(x, boost::asio::use_future);
    EXPECT_TRUE(function.execute(x).error() == Errc::queue_full);
    kernel.activate().value();
    EXPECT_THAT(waiting.get().elements<float>(), ElementsAre(1, 2));
  }
  EXPECT_TRUE(runtime.compile(graph, {.in_flight_max = 0}).error() == Errc::invalid_argument);
}

TEST_P(Graphs, SayWhatTheyExpectedAndWhatTheyGot) {
  auto runtime = open();
  Graph graph("scores");
  graph.output(graph.add(ops::relu(graph.input({DType::f32, {2, 2}}))));
  const CompiledFunction function = runtime.compile(graph).value();
  const std::vector<float> four{1, 2, 3, 4}, three{1, 2, 3};
  const std::vector<std::int32_t> integers{1, 2, 3, 4};
  const auto expect = [&](const Result<FunctionResult>& result, Errc code,
                          const std::string& expected, const std::string& got) {
    ASSERT_FALSE(result);
    EXPECT_TRUE(result.error() == code) << result.error().text();
    EXPECT_THAT(result.error().detail, HasSubstr("compiled function 'scores'"));
    EXPECT_THAT(result.error().detail, HasSubstr(runtime.metrics().device));
    EXPECT_THAT(result.error().detail, HasSubstr("Expected: " + expected + ". Got: "));
    EXPECT_THAT(result.error().detail, HasSubstr("Got: " + got));
    EXPECT_EQ(result.error().detail.find('\n'), std::string::npos);
  };
  expect(function.execute(four), Errc::dimension_mismatch, "f32[2, 2]", "f32[4]");
  expect(function.execute(TensorView({2, 2}, integers)), Errc::dtype_mismatch, "f32[2, 2]",
         "i32[2, 2]");
  expect(function.execute(TensorView({2, 2}, three)), Errc::element_count_mismatch, "4 elements",
         "3");
  expect(function.execute(std::span<const TensorView>()), Errc::arity_mismatch, "1", "0");
  EXPECT_TRUE(function.execute(TensorView({2, 2}, four)));
  EXPECT_TRUE(CompiledFunction().execute(four).error() == Errc::kernel_not_found);
}

TEST_P(Graphs, AreRefusedWithTheFirstError) {
  auto runtime = open();
  const std::vector<float> two{1, 2};
  Graph mismatch("mismatch");
  const auto x = mismatch.input({DType::f32, {3}});
  const auto bad = mismatch.add(ops::add(x, two));
  (void)mismatch.add(ops::matmul(bad, bad));  // what follows is not the reason
  mismatch.output(bad);
  const auto refused = runtime.compile(mismatch);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error() == Errc::broadcast_failure) << refused.error().text();
  EXPECT_THAT(refused.error().detail, HasSubstr("graph 'mismatch', op 0"));

  Graph empty("empty");
  EXPECT_TRUE(runtime.compile(empty).error() == Errc::invalid_argument);
  Graph no_output("no output");
  (void)no_output.input({DType::f32, {1}});
  EXPECT_TRUE(runtime.compile(no_output).error() == Errc::invalid_argument);

  Graph stranger("stranger");
  const auto mine = stranger.input({DType::f32, {3}});
  stranger.output(stranger.add(ops::add(mine, x)));
  EXPECT_TRUE(runtime.compile(stranger).error() == Errc::invalid_argument);

  Graph resident("resident");
  const Tensor tensor = runtime.allocate({DType::f32, {4}}).value();
  resident.output(resident.add(ops::relu(tensor)));
  EXPECT_TRUE(runtime.compile(resident).error() == Errc::unsupported);

  Graph too_large("too large");
  const auto large = too_large.input({DType::f32, {1u << 28}});
  too_large.output(too_large.add(ops::sum_all(large)));
  EXPECT_TRUE(runtime.compile(too_large).error() == Errc::message_too_large);
  EXPECT_TRUE(runtime.kernels().empty()) << "a refused graph left its kernel behind";

  // A value is of use in its graph only.
  Kernel kernel = active(runtime, "a", {.program = "core"});
  EXPECT_TRUE(kernel.call(ops::relu(mine)).error() == Errc::tensor_not_found);
}

TEST_P(Graphs, GiveTheirMemoryBack) {
  auto runtime = open();
  (void)active(runtime, "keeps the program", {.program = "core"});
  const RuntimeMetrics before = runtime.metrics();
  const std::vector<float> weights(1000, 1);
  for (int i = 0; i < 100; ++i) {
    Graph graph("short-lived");
    graph.output(graph.add(ops::add(graph.input({DType::f32, {1000}}), weights)));
    const CompiledFunction function = runtime.compile(graph).value();
    const CompiledFunction copy = function;
    ASSERT_EQ(copy.execute(weights).value().elements<float>()[999], 2);
    EXPECT_EQ(runtime.metrics().kernels, before.kernels + 1);
  }
  EXPECT_EQ(runtime.metrics().kernels, before.kernels);
  EXPECT_EQ(runtime.metrics().arena_free_bytes, before.arena_free_bytes);
}

TEST_P(Graphs, OutliveTheirRuntimeAsErrors) {
  CompiledFunction function;
  const std::vector<float> x{1, -1};
  {
    auto runtime = open();
    Graph graph("late");
    graph.output(graph.add(ops::relu(graph.input({DType::f32, {2}}))));
    function = runtime.compile(graph).value();
    EXPECT_THAT(function.execute(x).value().elements<float>(), ElementsAre(1, 0));
    EXPECT_TRUE(runtime.shutdown());
    EXPECT_TRUE(runtime.compile(graph).error() == Errc::runtime_closed);
  }
  const auto late = function.execute(x);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().text(),
            "runtime_closed: the runtime was shut down: compiled function 'late'");
}

// Two functions with workspaces, many callers: nobody sees another one's intermediate values.
TEST_P(Graphs, ServeManyCallersAtOnce) {
  auto runtime = open();
  const auto make = [&](const char* name, float factor) {
    Graph graph(name);
    const auto x = graph.input({DType::f32, {64}});
    const std::vector<float> factors(64, factor);
    auto y = graph.add(ops::mul(x, factors));
    for (int i = 0; i < 5; ++i) y = graph.add(ops::add(y, graph.add(ops::neg(x))));
    graph.output(y);
    return runtime.compile(graph).value();
  };
  const CompiledFunction functions[] = {make("seven", 7), make("nine", 9)};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 500; ++i) {
        const std::vector<float> x(64, static_cast<float>(caller * 1000 + i));
        const int which = (caller + i) % 2;
        const auto result = functions[which].execute(x);
        ASSERT_TRUE(result) << result.error().text();
        for (const float value : result->elements<float>())
          ASSERT_EQ(value, x[0] * static_cast<float>(which == 0 ? 2 : 4));
      }
    });
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace ringkernel::test
