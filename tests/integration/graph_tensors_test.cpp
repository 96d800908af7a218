// Resident tensors as inputs and outputs of functions: the results of inline ones, and never
// others.
#include <gmock/gmock.h>

#include <boost/asio/use_future.hpp>
#include <numeric>
#include <random>
#include <thread>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr TensorDesc four{DType::f32, {4}};

class GraphTensors : public OnEachBackend {
 protected:
  static Tensor tensor_of(RingKernelRuntime& runtime, const std::vector<float>& elements,
                          const Shape& shape) {
    Tensor tensor = runtime.allocate({DType::f32, shape}).value();
    tensor.write(elements).value();
    return tensor;
  }
  static Tensor tensor_of(RingKernelRuntime& runtime, const std::vector<float>& elements) {
    return tensor_of(runtime, elements, {static_cast<std::uint32_t>(elements.size())});
  }
  static std::vector<float> contents(const Tensor& tensor) {
    std::vector<float> elements(tensor.desc().element_count());
    tensor.read(elements).value();
    return elements;
  }
  /// sum = left + right, and three times left.
  static Graph sum_and_triple() {
    Graph graph("sum and triple");
    const auto left = graph.input(four, "left");
    const auto right = graph.input(four, "right");
    const std::array three{3.0f, 3.0f, 3.0f, 3.0f};
    graph.output(graph.add(ops::add(left, right)), "sum");
    graph.output(graph.add(ops::mul(left, three)), "triple");
    return graph;
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, GraphTensors, ::testing::ValuesIn(backend_names()),
                         backend_label);

TEST_P(GraphTensors, StandForAnyInputAndAnyOutput) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(sum_and_triple()).value();
  const std::vector<float> x{1, 2, 3, 4}, y{10, 20, 30, 40};
  const Tensor left = tensor_of(runtime, x), right = tensor_of(runtime, y);
  for (unsigned which = 0; which < 16; ++which) {
    const bool in[] = {(which & 1) != 0, (which & 2) != 0};
    const bool out[] = {(which & 4) != 0, (which & 8) != 0};
    const std::array inputs{in[0] ? TensorView(left) : TensorView(x),
                            in[1] ? TensorView(right) : TensorView(y)};
    const Tensor sum = runtime.allocate(four).value(), triple = runtime.allocate(four).value();
    ExecuteOptions options;
    if (out[1]) options.into.push_back({1, triple});  // in any order
    if (out[0]) options.into.push_back({0, sum});
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto result = function.execute(inputs, options);
      ASSERT_TRUE(result) << result.error().text();
      EXPECT_EQ(result->size(), 2u);
      for (std::size_t i = 0; i < 2; ++i)
        EXPECT_EQ(result->output(i).desc.dtype, out[i] ? DType::none : DType::f32) << which;
      const auto of = [&](std::size_t i, const Tensor& tensor) {
        const auto elements = result->elements<float>(i);
        return out[i] ? contents(tensor) : std::vector<float>(elements.begin(), elements.end());
      };
      EXPECT_THAT(of(0, sum), ElementsAre(11, 22, 33, 44)) << which;
      EXPECT_THAT(of(1, triple), ElementsAre(3, 6, 9, 12)) << which;
    }
  }
  EXPECT_THAT(contents(left), ElementsAre(1, 2, 3, 4));
}

/// What one function leaves on the device another one takes there.
TEST_P(GraphTensors, AreHandedFromOneFunctionToTheNext) {
  auto runtime = open();
  const CompiledFunction first = runtime.compile(sum_and_triple()).value();
  Graph graph("total");
  graph.output(graph.add(ops::sum(graph.input(four), {0})));
  const CompiledFunction second = runtime.compile(graph).value();
  const std::vector<float> x{1, 2, 3, 4};
  const Tensor between = runtime.allocate(four).value();
  for (int i = 0; i < 100; ++i) {
    const std::vector<float> y(4, static_cast<float>(i));
    ASSERT_TRUE(first.execute(std::array{TensorView(x), TensorView(y)}, {.into = {{0, between}}}));
    EXPECT_THAT(second.execute(between).value().elements<float>(),
                ElementsAre(static_cast<float>(10 + 4 * i)));
  }
}

TEST_P(GraphTensors, TakeARowWhereThereIsOneOrder) {
  auto runtime = open();
  Graph graph("row");
  graph.output(graph.add(ops::neg(graph.input({DType::f32, {1, 4}}))));
  const CompiledFunction function = runtime.compile(graph).value();
  const Tensor row = tensor_of(runtime, {1, 2, 3, 4});
  EXPECT_THAT(function.execute(row).value().elements<float>(), ElementsAre(-1, -2, -3, -4));
}

TEST_P(GraphTensors, ChangeWithTheStatesOfAnInstance) {
  auto runtime = open();
  Graph graph("delay");
  const auto x = graph.input(four);
  const auto last = graph.state(four);
  graph.update(last, x);
  graph.output(last);
  const CompiledFunction delay = runtime.compile(graph).value();
  Tensor in = runtime.allocate(four).value();
  const Tensor out = runtime.allocate(four).value();
  for (int i = 1; i <= 5; ++i) {
    in.write(std::vector<float>(4, static_cast<float>(i))).value();
    ASSERT_TRUE(delay.execute(in, {.into = {{0, out}}}));
    EXPECT_THAT(contents(out), Each(static_cast<float>(i - 1)));
  }
}

/// Neither travels, and the rings are as small as a message without them allows.
TEST_P(GraphTensors, AreLargerThanAnyMessage) {
  constexpr std::uint32_t n = 1u << 20;
  auto runtime = open();
  Graph graph("large");
  const auto table = graph.input({DType::f32, {n}}, "table");
  const auto step = graph.input(four, "step");
  const auto next = graph.add(ops::add(table, graph.add(ops::sum(step, {0}))));
  graph.output(next, "next");
  graph.output(graph.add(ops::reduce_max(next, {0})), "most");
  (void)active(runtime, "keeps the program", {.program = "core"});
  const std::uint64_t free = runtime.metrics().arena_free_bytes;
  const CompiledFunction function =
      runtime.compile(graph, {.in_flight_max = 1, .message_bytes_max = 256}).value();
  EXPECT_LT(free, runtime.metrics().arena_free_bytes + function.signature().arena_bytes + 65536);
  std::vector<float> elements(n);
  std::iota(elements.begin(), elements.end(), 0.0f);
  const std::vector<float> step_of_four(4, 1.0f);
  const Tensor resident = tensor_of(runtime, elements);
  for (int i = 1; i <= 3; ++i) {
    const auto result =
        function.execute(std::array{TensorView(resident), TensorView(step_of_four)},
                         {.into = {{0, resident}}});  // elementwise: over its operand
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->elements<float>(1)[0],
              static_cast<float>(n - 1 + 4 * static_cast<std::uint32_t>(i)));
  }
  EXPECT_EQ(contents(resident)[1000], 1012.0f);
  const auto inlined = function.execute(std::array{TensorView(elements), TensorView(step_of_four)});
  EXPECT_EQ(inlined.error(), Errc::message_too_large);
  EXPECT_THAT(inlined.error().text(), HasSubstr("at most 256 bytes of inputs in a message"));
  const auto answered =
      function.execute(std::array{TensorView(resident), TensorView(step_of_four)});
  EXPECT_EQ(answered.error(), Errc::message_too_large);
  EXPECT_EQ(function.prepare().error(), Errc::message_too_large);
  const CompiledFunction other = function.instance({.in_flight_max = 1}).value();
  EXPECT_TRUE(other.execute(std::array{TensorView(elements), TensorView(step_of_four)}));
}

TEST_P(GraphTensors, HoldAScalar) {
  auto runtime = open();
  Graph graph("scalar");
  const auto x = graph.input(four);
  const auto total = graph.add(ops::sum_all(x));
  graph.output(total);
  graph.output(graph.add(ops::relu(graph.add(ops::neg(total)))));  // a chain
  const CompiledFunction function = runtime.compile(graph).value();
  const TensorDesc scalar{DType::f32, scalar_shape(runtime)};
  const Tensor a = runtime.allocate(scalar).value(), b = runtime.allocate(scalar).value();
  const std::vector<float> negative{-1, -2, -3, -4};
  ASSERT_TRUE(function.execute(negative, {.into = {{0, a}, {1, b}}}));
  EXPECT_EQ(contents(a)[0], -10);
  EXPECT_EQ(contents(b)[0], 10);
}

TEST_P(GraphTensors, HoldTheIndicesOfAGather) {
  auto runtime = open();
  Graph graph("gather");
  const auto rows = graph.input({DType::f32, {2, 4}}, "rows");
  const auto which = graph.input({DType::i64, {1}}, "which");
  graph.output(graph.add(ops::gather(rows, which)));
  const CompiledFunction function = runtime.compile(graph).value();
  const Tensor table = tensor_of(runtime, {1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  Tensor index = runtime.allocate({DType::i64, {1}}).value();
  index.write(std::array<std::int64_t, 1>{1}).value();
  const std::array inputs{TensorView(table), TensorView(index)};
  EXPECT_THAT(function.execute(inputs).value().elements<float>(), ElementsAre(5, 6, 7, 8));
  index.write(std::array<std::int64_t, 1>{2}).value();
  EXPECT_EQ(function.execute(inputs).error(), Errc::out_of_bounds);
  index.write(std::array<std::int64_t, 1>{0}).value();
  EXPECT_THAT(function.execute(inputs).value().elements<float>(), ElementsAre(1, 2, 3, 4));
}

// --- one tensor in two places -----------------------------------------------------------------

TEST_P(GraphTensors, MayBeReadByMoreThanOneInput) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(sum_and_triple()).value();
  const Tensor both = tensor_of(runtime, {1, 2, 3, 4});
  const auto result = function.execute(std::array{TensorView(both), TensorView(both)}).value();
  EXPECT_THAT(result.elements<float>(0), ElementsAre(2, 4, 6, 8));
}

TEST_P(GraphTensors, AreWrittenOverOnlyBehindTheirLastReader) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(sum_and_triple()).value();
  const std::vector<float> y{10, 20, 30, 40};
  const Tensor left = tensor_of(runtime, {1, 2, 3, 4}), right = tensor_of(runtime, y);
  const std::array inputs{TensorView(left), TensorView(right)};
  // The sum is written first, and `left` is read behind it.
  const auto early = function.execute(inputs, {.into = {{0, left}}});
  EXPECT_EQ(early.error(), Errc::invalid_argument);
  EXPECT_THAT(early.error().text(),
              AllOf(HasSubstr("output 0 ('sum')"), HasSubstr("which is input 0 ('left')")));
  EXPECT_THAT(contents(left), ElementsAre(1, 2, 3, 4)) << "nothing was written";
  ASSERT_TRUE(function.execute(inputs, {.into = {{0, right}}})) << "nobody reads it any more";
  EXPECT_THAT(contents(right), ElementsAre(11, 22, 33, 44));
  ASSERT_TRUE(function.execute(inputs, {.into = {{1, left}}}));
  EXPECT_THAT(contents(left), ElementsAre(3, 6, 9, 12));
  const auto twice = function.execute(inputs, {.into = {{0, right}, {1, right}}});
  EXPECT_EQ(twice.error(), Errc::invalid_argument);
  EXPECT_THAT(twice.error().text(), HasSubstr("output 1 ('triple')"));

  Graph product("product");
  const auto a = product.input({DType::f32, {2, 2}});
  product.output(product.add(ops::matmul(a, a)));
  const Tensor square = tensor_of(runtime, {1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(runtime.compile(product).value().execute(square, {.into = {{0, square}}}).error(),
            Errc::invalid_argument);
}

/// A graph of random ops, executed with random tensors in the places of its inputs and outputs,
/// some of them in two: what is not refused has the bytes of inline elements.
TEST_P(GraphTensors, AreRightOrRefusedWhateverTheyAre) {
  constexpr std::uint32_t n = 6;
  const TensorDesc square{DType::f32, {n, n}};
  auto runtime = open();
  std::mt19937 random(7);
  const auto any = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
  };
  int executed = 0, over_an_input = 0, refused = 0;
  for (int round = 0; round < 40; ++round) {
    Graph graph("random");
    std::vector<Graph::Value> values;
    for (int i = 0; i < 3; ++i) values.push_back(graph.input(square));
    values.push_back(graph.state(square));
    const auto state = values.back();
    const std::size_t steps = 2 + any(8);
    for (std::size_t i = 0; i < steps; ++i) {
      const auto x = values[any(values.size())], y = values[any(values.size())];
      switch (any(6)) {
        case 0: values.push_back(graph.add(ops::matmul(x, y))); break;
        case 1: values.push_back(graph.add(ops::transpose(x, {1, 0}))); break;
        case 2: values.push_back(graph.add(ops::relu(x))); break;
        case 3: values.push_back(graph.add(ops::sub(x, y))); break;
        case 4: values.push_back(graph.add(ops::max(x, y))); break;
        default: values.push_back(graph.add(ops::reshape(x, {n, n}))); break;
      }
    }
    for (int i = 0; i < 3; ++i) graph.output(values[values.size() - 1 - any(4)]);
    if (any(2) == 0) graph.update(state, values[any(values.size())]);
    const CompiledFunction function = runtime.compile(graph).value();
    for (int repeat = 0; repeat < 12; ++repeat) {
      std::vector<std::vector<float>> elements(3, std::vector<float>(n * n));
      std::vector<Tensor> tensors;
      for (auto& numbers : elements) {
        for (float& number : numbers) number = static_cast<float>(any(9)) - 4;
        tensors.push_back(tensor_of(runtime, numbers, {n, n}));
      }
      for (int i = 0; i < 3; ++i) tensors.push_back(runtime.allocate(square).value());
      std::vector<TensorView> views, inlines;
      for (std::size_t i = 0; i < 3; ++i) {
        inlines.emplace_back(Shape{n, n}, elements[i]);
        views.push_back(any(3) == 0 ? inlines[i] : TensorView(tensors[i]));
      }
      ExecuteOptions options;
      for (std::size_t i = 0; i < 3; ++i)
        if (any(3) != 0) options.into.push_back({i, tensors[any(2) == 0 ? any(3) : 3 + i]});
      function.reset_states().value();
      const auto expected = function.execute(inlines).value();
      function.reset_states().value();
      const auto result = function.execute(views, options);
      if (!result) {
        ++refused;
        ASSERT_EQ(result.error(), Errc::invalid_argument) << result.error().text();
        for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(contents(tensors[i]), elements[i]);
        continue;
      }
      ++executed;
      for (std::size_t i = 0; i < 3; ++i) {
        const auto wanted = expected.elements<float>(i);
        const auto to = std::ranges::find(options.into, i, &Into::output);
        if (to == options.into.end()) {
          ASSERT_TRUE(std::ranges::equal(result->elements<float>(i), wanted)) << round;
          continue;
        }
        const auto tensor = std::ranges::find(tensors, to->tensor.tensor, &Tensor::id);
        over_an_input += tensor - tensors.begin() < 3 ? 1 : 0;
        ASSERT_TRUE(std::ranges::equal(contents(*tensor), wanted)) << round << ", output " << i;
      }
    }
  }
  EXPECT_GT(executed, 100);
  EXPECT_GT(over_an_input, 20);
  EXPECT_GT(refused, 50);
}

// --- what is refused --------------------------------------------------------------------------

TEST_P(GraphTensors, OfOtherKindsAreRefused) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(sum_and_triple()).value();
  const std::vector<float> x{1, 2, 3, 4};
  const Tensor good = tensor_of(runtime, x);
  Tensor gone = runtime.allocate(four).value();
  gone.deallocate().value();
  const auto refusal = [&](const TensorView& left, std::vector<Into> into, Errc code) {
    const auto result =
        function.execute(std::array{left, TensorView(x)}, {.into = std::move(into)});
    EXPECT_EQ(result.error(), code);
    return result.error().text();
  };
  EXPECT_THAT(refusal(gone, {}, Errc::tensor_not_found),
              AllOf(HasSubstr("input 0 ('left')"), HasSubstr("was deallocated")));
  EXPECT_THAT(refusal(x, {{0, gone}}, Errc::tensor_not_found), HasSubstr("output 0 ('sum')"));
  EXPECT_THAT(refusal(x, {{1, Tensor()}}, Errc::tensor_not_found),
              HasSubstr("a handle of no resident tensor"));
  EXPECT_THAT(refusal(x, {{1, x}}, Errc::tensor_not_found), HasSubstr("Got: elements"));
  EXPECT_THAT(refusal(x, {{2, good}}, Errc::invalid_argument), HasSubstr("Got: number 2"));
  EXPECT_THAT(refusal(x, {{0, good}, {0, good}}, Errc::invalid_argument), HasSubstr("output 0"));
  const Tensor eight = runtime.allocate({DType::f32, {8}}).value();
  EXPECT_THAT(refusal(eight, {}, Errc::dimension_mismatch), HasSubstr("Got: f32[8]"));
  EXPECT_THAT(refusal(x, {{0, eight}}, Errc::dimension_mismatch),
              HasSubstr("is f32[8], expected f32[4]"));
  const Tensor integers = runtime.allocate({DType::i32, {4}}).value();
  EXPECT_THAT(refusal(x, {{0, integers}}, Errc::dtype_mismatch), HasSubstr("is i32[4]"));
  TensorView lies = eight;
  lies.desc = four;
  EXPECT_THAT(refusal(lies, {}, Errc::invalid_argument), HasSubstr("is f32[8], expected f32[4]"));
  auto other = open();
  EXPECT_THAT(refusal(other.allocate(four).value(), {}, Errc::tensor_not_found),
              HasSubstr("input"));
  EXPECT_THAT(contents(good), ElementsAre(1, 2, 3, 4));
}

TEST_P(GraphTensors, AreNotLookedAtForNumbers) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(sum_and_triple()).value();
  const std::vector<float> x{1, 2, 3, 4}, bad{1, std::nanf(""), 1, 1};
  const Tensor resident = tensor_of(runtime, bad), out = runtime.allocate(four).value();
  const auto into_it = function.execute(std::array{TensorView(x), TensorView(resident)},
                                        {.check_nan = true, .into = {{0, out}}});
  EXPECT_TRUE(into_it) << into_it.error().text();
  const auto seen =
      function.execute(std::array{TensorView(x), TensorView(resident)}, {.check_nan = true});
  EXPECT_EQ(seen.error(), Errc::not_a_number);
}

// --- in flight --------------------------------------------------------------------------------

TEST_P(GraphTensors, AreHeldUntilTheDeviceIsDoneWithThem) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(sum_and_triple()).value();
  const std::string id = runtime.kernels().at(0);
  const std::vector<float> y{10, 20, 30, 40};
  Tensor left = tensor_of(runtime, {1, 2, 3, 4});
  const Tensor sum = runtime.allocate(four).value();
  runtime.deactivate(id).value();
  const std::array inputs{TensorView(left), TensorView(y)};
  auto result = function.async_execute(inputs, {.into = {{0, sum}}}, boost::asio::use_future);
  // This one has its outcome before the device has seen it.
  EXPECT_EQ(function.execute(inputs, {.timeout = 1ms, .into = {{1, sum}}}).error(),
            Errc::deadline_exceeded);
  std::vector<float> elements(4);
  EXPECT_EQ(left.write(elements, 1ms).error(), Errc::deadline_exceeded);
  EXPECT_EQ(sum.read(elements, 1ms).error(), Errc::deadline_exceeded);
  EXPECT_TRUE(left.read(elements)) << "nothing writes it";
  EXPECT_EQ(runtime.defragment().value().tensors_in_use, 2u);
  left.deallocate().value();
  EXPECT_EQ(function.execute(inputs).error(), Errc::tensor_not_found);
  EXPECT_EQ(runtime.metrics().tensors, 2u);
  runtime.activate(id).value();
  EXPECT_THAT(result.get().elements<float>(1), ElementsAre(3, 6, 9, 12));
  EXPECT_TRUE(sum.read(elements));
  while (runtime.metrics().tensors != 1) std::this_thread::yield();
}

TEST_P(GraphTensors, GoWithTheirFunction) {
  auto runtime = open();
  std::future<FunctionResult> result;
  Tensor sum = runtime.allocate(four).value();
  {
    const CompiledFunction function = runtime.compile(sum_and_triple()).value();
    runtime.deactivate(runtime.kernels().at(0)).value();
    const Tensor left = tensor_of(runtime, {1, 2, 3, 4});
    result = function.async_execute(std::array{TensorView(left), TensorView(left)},
                                    {.into = {{0, sum}}}, boost::asio::use_future);
    runtime.terminate(runtime.kernels().at(0), {.drain = false}).value();
  }
  EXPECT_ANY_THROW((void)result.get());
  EXPECT_TRUE(sum.write(std::vector<float>(4)));
  EXPECT_EQ(runtime.metrics().tensors, 1u);
}

TEST_P(GraphTensors, MayMoveBetweenTwoExecutions) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(sum_and_triple()).value();
  std::vector<Tensor> holes;
  for (int i = 0; i < 8; ++i) holes.push_back(runtime.allocate({DType::f32, {1024}}).value());
  const Tensor left = tensor_of(runtime, {1, 2, 3, 4}), right = tensor_of(runtime, {0, 1, 0, 1});
  const Tensor sum = runtime.allocate(four).value();
  const std::array inputs{TensorView(left), TensorView(right)};
  while (!holes.empty()) {
    holes.pop_back();
    EXPECT_EQ(runtime.defragment().value().tensors_in_use, 0u);
    ASSERT_TRUE(function.execute(inputs, {.into = {{0, sum}}}));
    EXPECT_THAT(contents(sum), ElementsAre(1, 3, 3, 5));
  }
}

TEST_P(GraphTensors, ServeManyCallersAtOnce) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(sum_and_triple()).value();
  const Tensor shared = tensor_of(runtime, {1, 2, 3, 4});
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      Tensor mine = runtime.allocate(four).value();
      const Tensor out = runtime.allocate(four).value();
      for (int i = 0; i < 200; ++i) {
        const auto number = static_cast<float>(1000 * caller + i);
        ASSERT_TRUE(mine.write(std::vector<float>(4, number)));
        ASSERT_TRUE(function.execute(std::array{TensorView(shared), TensorView(mine)},
                                     {.into = {{0, out}}}));
        ASSERT_THAT(contents(out), ElementsAre(number + 1, number + 2, number + 3, number + 4));
        if (caller == 0) {
          ASSERT_TRUE(runtime.defragment());
        }
      }
    });
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace ringkernel::test
