// States of instances, read and written from outside, between executions.
#include <gmock/gmock.h>

#include <atomic>
#include <boost/asio/use_future.hpp>
#include <thread>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RK_ON_EACH_BACKEND(GraphStateAccess);

/// sums' = sums + x, steps' = steps + 1; answers sums'.
Graph counted_sum(std::uint32_t n = 4) {
  Graph graph("counted sum");
  const auto x = graph.input({DType::f32, {n}});
  const auto sums = graph.state({DType::f32, {n}}, "sums");
  const auto steps = graph.state({DType::i64, {1}}, "steps");
  const std::int64_t one = 1;
  const auto next = graph.add(ops::add(sums, x));
  graph.update(sums, next);
  graph.update(steps, graph.add(ops::add(steps, {{DType::i64, {1}}, &one})));
  graph.output(next);
  return graph;
}

constexpr std::array ones{1.0f, 1.0f, 1.0f, 1.0f};

TEST_P(GraphStateAccess, ReadsWhatTheLastExecutionLeft) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(counted_sum()).value();
  EXPECT_THAT(function.signature().state_names, ElementsAre("sums", "steps"));
  EXPECT_THAT(function.signature().states,
              ElementsAre(TensorDesc{DType::f32, {4}}, TensorDesc{DType::i64, {1}}));
  std::array<float, 4> sums{9, 9, 9, 9};
  std::vector<std::int64_t> steps(1, 9);
  ASSERT_TRUE(function.read_state("sums", sums));
  EXPECT_THAT(sums, Each(0.0f));
  for (int i = 1; i <= 3; ++i) {
    (void)function.execute(ones).value();
    ASSERT_TRUE(function.read_state(0, sums));
    EXPECT_THAT(sums, Each(static_cast<float>(i)));
    ASSERT_TRUE(function.read_state("steps", steps));
    EXPECT_EQ(steps[0], i);
  }
  std::array<std::byte, 8> bytes{};
  ASSERT_TRUE(function.read_state(1, bytes)) << "whatever they mean";
  EXPECT_EQ(bytes[0], std::byte{3});
}

TEST_P(GraphStateAccess, WritesWhatTheNextExecutionFinds) {
  auto runtime = open();
  const CompiledFunction first = runtime.compile(counted_sum()).value();
  const CompiledFunction second = first.instance().value();
  (void)first.execute(ones).value();
  ASSERT_TRUE(first.write_state("sums", std::array{10.0f, 20.0f, 30.0f, 40.0f}));
  EXPECT_THAT(first.execute(ones).value().elements<float>(), ElementsAre(11, 21, 31, 41));
  EXPECT_THAT(second.execute(ones).value().elements<float>(), Each(1.0f)) << "its own";
  // A stream goes on in another instance.
  std::array<float, 4> sums{};
  ASSERT_TRUE(first.read_state("sums", sums));
  ASSERT_TRUE(second.write_state("sums", sums));
  EXPECT_THAT(second.execute(ones).value().elements<float>(), ElementsAre(12, 22, 32, 42));
  std::array<std::int64_t, 1> steps{};
  ASSERT_TRUE(second.read_state("steps", steps));
  EXPECT_EQ(steps[0], 2) << "the other state is left alone";
}

TEST_P(GraphStateAccess, BeginsAnew) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(counted_sum()).value();
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(function.execute(ones).value().elements<float>(), Each(1.0f));
    EXPECT_THAT(function.execute(ones).value().elements<float>(), Each(2.0f));
    ASSERT_TRUE(function.reset_states());
    std::array<std::int64_t, 1> steps{7};
    ASSERT_TRUE(function.read_state("steps", steps));
    EXPECT_EQ(steps[0], 0);
  }
  Graph stateless("stateless");
  stateless.output(stateless.add(ops::relu(stateless.input({DType::f32, {4}}))));
  EXPECT_TRUE(runtime.compile(stateless).value().reset_states());
}

/// Longer than any message of this function could be.
TEST_P(GraphStateAccess, TakesStatesOfAnyLength) {
  constexpr std::uint32_t n = 1u << 20;
  auto runtime = open();
  Graph graph("long");
  const auto x = graph.input({DType::f32, {1}});
  const auto table = graph.state({DType::f32, {n}}, "table");
  graph.update(table, graph.add(ops::add(table, x)));
  graph.output(graph.add(ops::reduce_max(table, {0})));
  const CompiledFunction function = runtime.compile(graph, {.in_flight_max = 1}).value();
  std::vector<float> elements(n);
  for (std::uint32_t i = 0; i < n; ++i) elements[i] = static_cast<float>(i);
  ASSERT_TRUE(function.write_state("table", elements));
  const std::array one{1.0f};
  EXPECT_EQ(function.execute(one).value().elements<float>()[0], static_cast<float>(n - 1));
  std::vector<float> read(n);
  ASSERT_TRUE(function.read_state("table", read));
  for (float& element : elements) element += 1;
  EXPECT_EQ(read, elements);
}

TEST_P(GraphStateAccess, IsBehindTheExecutionsBefore) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(counted_sum()).value();
  for (int round = 1; round <= 20; ++round) {
    std::vector<std::future<FunctionResult>> results;
    for (int i = 0; i < 10; ++i)
      results.push_back(function.async_execute(ones, boost::asio::use_future));
    std::array<std::int64_t, 1> steps{};
    ASSERT_TRUE(function.read_state("steps", steps));
    EXPECT_EQ(steps[0], 10 * round);
    for (auto& result : results) (void)result.get();
  }
}

/// All elements of a state are those of one moment, and no execution is lost.
TEST_P(GraphStateAccess, IsBetweenTwoExecutions) {
  constexpr std::uint32_t n = 4096;
  auto runtime = open();
  const CompiledFunction function = runtime.compile(counted_sum(n)).value();
  std::atomic<bool> stop{false};
  std::int64_t executed = 0;
  std::thread caller([&] {
    const std::vector<float> x(n, 1.0f);
    for (; !stop; ++executed)
      if (const auto result = function.execute(x); !result) ADD_FAILURE() << result.error().text();
  });
  std::vector<float> sums(n);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(function.read_state("sums", sums));
    EXPECT_THAT(sums, Each(sums[0]));
    if (i % 10 != 9) continue;
    std::ranges::fill(sums, static_cast<float>(1000 * i));
    ASSERT_TRUE(function.write_state("sums", sums));
  }
  stop = true;
  caller.join();
  std::array<std::int64_t, 1> steps{};
  ASSERT_TRUE(function.read_state("steps", steps));
  EXPECT_EQ(steps[0], executed);
}

TEST_P(GraphStateAccess, SaysWhatIsWrong) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(counted_sum()).value();
  std::array<float, 4> floats{};
  std::array<float, 3> few{};
  std::array<std::int32_t, 4> integers{};
  const auto no_name = function.read_state("sum", floats);
  EXPECT_EQ(no_name.error(), Errc::invalid_argument);
  EXPECT_THAT(no_name.error().text(), HasSubstr("'counted sum' has no state 'sum'; it has 'sums', "
                                                "'steps'"));
  const auto no_number = function.write_state(2, floats);
  EXPECT_EQ(no_number.error(), Errc::invalid_argument);
  EXPECT_THAT(no_number.error().text(), HasSubstr("has 2 states, none of number 2"));
  const auto other_type = function.write_state("sums", integers);
  EXPECT_EQ(other_type.error(), Errc::dtype_mismatch);
  EXPECT_THAT(other_type.error().text(),
              HasSubstr("state 0 ('sums'). Expected: f32[4]. Got: elements of i32"));
  const auto other_count = function.read_state("sums", few);
  EXPECT_EQ(other_count.error(), Errc::element_count_mismatch);
  EXPECT_THAT(other_count.error().text(), HasSubstr("Expected: 16 bytes. Got: 12"));
  EXPECT_EQ(CompiledFunction().read_state(0, floats).error(), Errc::kernel_not_found);
  EXPECT_EQ(CompiledFunction().write_state("sums", floats).error(), Errc::kernel_not_found);
  EXPECT_EQ(CompiledFunction().reset_states().error(), Errc::kernel_not_found);
  EXPECT_TRUE(runtime.shutdown());
  EXPECT_EQ(function.read_state(0, floats).error(), Errc::runtime_closed);
  EXPECT_EQ(function.reset_states().error(), Errc::runtime_closed);
}

/// Executions that do not end: those of a kernel that rests.
TEST_P(GraphStateAccess, WaitsForItsTimeoutOnly) {
  auto runtime = open();
  const CompiledFunction function = runtime.compile(counted_sum()).value();
  const std::string id = runtime.kernels().at(0);
  runtime.deactivate(id).value();
  std::array<float, 4> sums{7, 7, 7, 7};
  ASSERT_TRUE(function.read_state(0, sums)) << "it rests";
  EXPECT_THAT(sums, Each(0.0f));
  auto result = function.async_execute(ones, boost::asio::use_future);
  const auto late = function.write_state(0, std::array{5.0f, 5.0f, 5.0f, 5.0f}, 20ms);
  EXPECT_EQ(late.error(), Errc::deadline_exceeded);
  EXPECT_THAT(late.error().text(), HasSubstr("states of compiled function 'counted sum'"));
  runtime.activate(id).value();
  EXPECT_THAT(result.get().elements<float>(), Each(1.0f)) << "nothing was written";
}

}  // namespace
}  // namespace ringkernel::test
