// Graphs as bytes, and what the next process makes of them.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "mlir/recording.hpp"
#include "ringkernel/ringkernel.hpp"

namespace ringkernel::test {
namespace {

using mlir::Recording;
using mlir::replayed;

/// max_pool(conv2d(x, filter)) + state, sliced, with every kind of call in it.
Graph recorded(std::string& bytes) {
  Graph graph("recorded");
  Recording recording(graph, &bytes);
  const Graph::Value x = recording.input({DType::f32, {1, 6, 6, 2}});
  const Graph::Value kept = recording.state({DType::f32, {1, 2, 2, 3}});
  std::vector<float> filter(2 * 2 * 2 * 3);
  for (std::size_t i = 0; i < filter.size(); ++i) filter[i] = static_cast<float>(i) - 11.5f;
  const Graph::Value weights =
      recording.constant(TensorView({DType::f32, {2, 2, 2, 3}}, filter.data()));
  const Graph::Value images = recording.add(ops::conv2d(
      x, weights, {.strides = {1, 1}, .padding = Padding::custom, .pads = {0, 1, 1, 0}}));
  const Graph::Value largest = recording.add(ops::max_pool(images, {2, 2}, {.strides = {2, 2}}));
  const Graph::Value part =
      recording.add(ops::slice(largest, {{0, 0, 0, 0}, {1, 2, 3, 3}, {1, 1, 2, 1}}));
  const Graph::Value next = recording.add(ops::add(part, kept));
  const Graph::Value truth = recording.add(ops::compare(next, part, Comparison::less));
  const Graph::Value sums =
      recording.add(ops::sum(recording.add(ops::cast(truth, DType::i64)), {1, 2}, true));
  recording.update(kept, next);
  recording.output(next);
  recording.output(sums);
  return graph;
}

TEST(MlirRecording, AReplayIsTheSameGraph) {
  std::string bytes;
  const Graph graph = recorded(bytes);
  ASSERT_TRUE(graph.status()) << graph.status().error().text();
  const Graph again = replayed(bytes).value();
  EXPECT_EQ(again.name(), "recorded");
  EXPECT_EQ(again.op_count(), graph.op_count());
  EXPECT_EQ(again.inputs(), graph.inputs());
  EXPECT_EQ(again.states(), graph.states());
  auto runtime = RingKernelRuntime::builder().backend("native").build().value();
  const CompiledFunction first = runtime.compile(graph).value();
  const CompiledFunction second = runtime.compile(again).value();
  std::vector<float> x(6 * 6 * 2);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 5 % 17) - 8;
  for (int run = 0; run < 2; ++run) {  // the second one has a state
    const TensorView images({DType::f32, {1, 6, 6, 2}}, x.data());
    const auto a = first.execute(images).value();
    const auto b = second.execute(images).value();
    ASSERT_EQ(a.size(), 2u);
    for (std::size_t i = 0; i < a.elements<float>(0).size(); ++i)
      EXPECT_EQ(a.elements<float>(0)[i], b.elements<float>(0)[i]) << run << ", " << i;
    for (std::size_t i = 0; i < a.elements<std::int64_t>(1).size(); ++i)
      EXPECT_EQ(a.elements<std::int64_t>(1)[i], b.elements<std::int64_t>(1)[i]) << run;
  }
}

TEST(MlirRecording, WhatIsCutOffIsNoRecording) {
  std::string bytes;
  (void)recorded(bytes);
  int whole = 0;  // between two calls the rest is missing, and what is there is a graph
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto graph = replayed(std::string_view(bytes).substr(0, length));
    if (graph)
      ++whole;
    else
      EXPECT_TRUE(graph.error() == Errc::malformed_message) << length << graph.error().text();
  }
  EXPECT_LT(whole, 20);
}

TEST(MlirRecording, ChangedBytesAreAGraphOrAnError) {
  std::string bytes;
  (void)recorded(bytes);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {1, 0x80, 0xff}) {
      std::string other = bytes;
      other[at] = static_cast<char>(other[at] ^ change);
      const auto graph = replayed(other);
      EXPECT_TRUE(graph || !graph.error().text().empty()) << at;
    }
  }
}

}  // namespace
}  // namespace ringkernel::test
