// Ops that are left after each of their steps, for another ring kernel's that overwrite what they
// packed: the bytes are those of ops that run to their end.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "conformance/cases.hpp"
#include "support/attributes.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;

RK_ON_EACH_BACKEND(Turns);

/// Of several steps each: in parts of rows and of K, in strips of columns and rests of them, in
/// matrices of a batch, in images, in tiles of rows.
std::vector<Case> cases_of_steps() {
  Dice dice(cases_seed, 7);
  const auto draw = [&](const std::vector<std::int64_t>& dims) {
    return random_tensor(dims, dice);
  };
  std::vector<Case> cases;
  const auto matmul = [&](const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
    cases.push_back({Op::matmul, {draw(a), draw(b)}, {}});
  };
  matmul({200, 600}, {600, 70});
  matmul({3, 1, 20, 40}, {2, 40, 50});
  matmul({5, 6, 30}, {30, 40});
  matmul({1, 300}, {300, 200});
  matmul({4, 1, 50}, {4, 50, 90});
  matmul({2000, 100}, {100, 7});
  matmul({2000, 100}, {100, 16});
  matmul({3, 900, 90}, {3, 90, 5});
  cases.push_back({Op::dot, {draw({200, 150}), draw({150})}, {}});
  cases.push_back({Op::dot, {draw({150}), draw({150, 100})}, {}});
  const auto conv2d = [&](const std::vector<std::int64_t>& images,
                          const std::vector<std::int64_t>& filter) {
    for (const Padding padding : {Padding::valid, Padding::same})
      for (const std::int64_t stride : {1, 2}) {
        static const std::int64_t strides[2][2] = {{1, 1}, {2, 2}};
        OpAttributes attributes;
        attributes.strides = IntList(strides[stride - 1]);
        attributes.padding = padding;
        cases.push_back({Op::conv2d, {draw(images), draw(filter)}, attributes});
      }
  };
  conv2d({2, 20, 17, 8}, {3, 3, 8, 40});
  conv2d({3, 50, 40, 4}, {3, 3, 4, 6});
  conv2d({2, 40, 30, 6}, {5, 3, 6, 16});
  const auto draw_images = draw({2, 9, 60, 24});
  const OpAttributes same = sliding({1, 1}, Padding::same);
  cases.push_back({Op::conv2d, {draw_images, draw({5, 5, 1, 24})}, grouped(24, same)});
  cases.push_back({Op::conv2d, {draw_images, draw({3, 3, 6, 8})}, grouped(4, same)});
  cases.push_back({Op::conv2d, {draw({2, 9, 60, 5}), draw({3, 3, 1, 5})}, grouped(5, same)});
  cases.push_back({Op::conv2d, {draw({1, 1, 4000, 24}), draw({1, 25, 1, 24})}, grouped(24, same)});
  cases.push_back({Op::max_pool, {draw_images}, pooling({3, 3}, same)});
  return cases;
}

/// One of each kind that packs.
std::vector<Case> cases_that_pack() {
  Dice dice(cases_seed, 8);
  const auto draw = [&](const std::vector<std::int64_t>& dims) {
    return random_tensor(dims, dice);
  };
  return {{Op::matmul, {draw({13, 140}), draw({140, 33})}, {}},
          {Op::matmul, {draw({40, 60}), draw({60, 3})}, {}}};
}

const KernelOptions room{.input_bytes = 1 << 22, .output_bytes = 1 << 22};

TEST_P(Turns, KeepEveryBitWhileOthersPackInBetween) {
  auto whole = open({.turn_for = 0ns});
  auto stepwise = open({.turn_for = 1ns});
  Kernel expected_of = active(whole, "ops", room);
  Kernel kernel = active(stepwise, "ops", room);
  Kernel other = active(stepwise, "other", room);
  const std::vector<Case> others = cases_that_pack();
  for (const Case& example : cases_of_steps()) {
    SCOPED_TRACE(example.text());
    const auto expected = expected_of.call(example.request());
    ASSERT_TRUE(expected) << expected.error().text();
    ASSERT_TRUE(kernel.send(example.request()));
    Result<Reply> reply = Error(Errc::deadline_exceeded);
    for (std::size_t calls = 0; !reply && reply.error() == Errc::deadline_exceeded; ++calls) {
      ASSERT_TRUE(other.call(others[calls % others.size()].request()));
      reply = kernel.receive(1ns);
    }
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_TRUE(std::ranges::equal(reply->bytes(), expected->bytes()));
  }
}

/// Products, single ops and chains of several rows and several looks each.
Graph layers(const std::vector<Tensor>& weights, const Tensor& bias) {
  Graph graph("layers");
  const std::uint32_t width = weights[0].shape[0];
  Graph::Value value = graph.input({DType::f32, {64, width}});
  for (const Tensor& weight : weights) {
    value = graph.add(ops::matmul(value, graph.constant(weight.view())));
    value = graph.add(ops::add(value, graph.constant(bias.view())));
    value = graph.add(ops::relu(value));
    value = graph.add(ops::transpose(value, {1, 0}));
    value = graph.add(ops::transpose(value, {1, 0}));
  }
  graph.output(value);
  return graph;
}

TEST_P(Turns, KeepEveryBitOfAGraph) {
  auto whole = open({.turn_for = 0ns});
  auto stepwise = open({.turn_for = 1ns});
  Dice dice(cases_seed, 9);
  const std::vector<Tensor> weights = {random_tensor({160, 160}, dice),
                                       random_tensor({160, 160}, dice)};
  const Graph graph = layers(weights, random_tensor({160}, dice));
  const CompiledFunction expected_of = whole.compile(graph).value();
  const CompiledFunction function = stepwise.compile(graph).value();
  Kernel other = active(stepwise, "other", room);
  const std::vector<Case> others = cases_that_pack();
  const Tensor input = random_tensor({64, 160}, dice);
  const auto expected = expected_of.execute(input.view());
  ASSERT_TRUE(expected) << expected.error().text();
  std::atomic<bool> stop = false;
  std::jthread beside([&] {
    for (std::size_t calls = 0; !stop; ++calls)
      ASSERT_TRUE(other.call(others[calls % others.size()].request()));
  });
  for (int i = 0; i < 3; ++i) {
    const auto result = function.execute(input.view());
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_TRUE(std::ranges::equal(std::as_bytes(result->elements<float>()),
                                   std::as_bytes(expected->elements<float>())));
  }
  stop = true;
}

}  // namespace
}  // namespace ringkernel::test
