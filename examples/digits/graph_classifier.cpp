#include "graph_classifier.hpp"

#include <algorithm>

namespace digits {
namespace {

namespace rk = ringkernel;

class GraphClassifier final : public Classifier {
 public:
  explicit GraphClassifier(rk::CompiledFunction function) : function_(std::move(function)) {}

  int classify(std::span<const float, pixels> image, Latencies&) override {
    const rk::FunctionResult result = function_.execute(rk::TensorView({1, pixels}, image)).value();
    const std::span<const float> scores = result.elements<float>();
    return static_cast<int>(std::ranges::max_element(scores) - scores.begin());
  }

 private:
  rk::CompiledFunction function_;
};

}  // namespace

rk::CompiledFunction compile_network(rk::RingKernelRuntime& runtime, const Network& network) {
  rk::Graph graph("digits");
  const auto image = graph.input({rk::DType::f32, {1, pixels}});
  const rk::TensorView w1({pixels, hidden}, network.w1), w2({hidden, classes}, network.w2);
  const auto weighted = graph.add(rk::ops::matmul(image, w1));
  const auto active = graph.add(rk::ops::relu(graph.add(rk::ops::add(weighted, network.b1))));
  const auto scored = graph.add(rk::ops::matmul(active, w2));
  graph.output(graph.add(rk::ops::add(scored, network.b2)));
  return runtime.compile(graph).value();
}

std::unique_ptr<Classifier> make_graph_classifier(const rk::CompiledFunction& function) {
  return std::make_unique<GraphClassifier>(function);
}

}  // namespace digits
