#include "ring_classifier.hpp"

#include <algorithm>
#include <string>

namespace digits {
namespace {

namespace rk = ringkernel;

class RingClassifier final : public Classifier {
 public:
  RingClassifier(rk::Kernel hidden_layer, rk::Kernel output_layer, const Network& network)
      : hidden_layer_(std::move(hidden_layer)),
        output_layer_(std::move(output_layer)),
        w1_({pixels, hidden}, network.w1),
        b1_(network.b1),
        w2_({hidden, classes}, network.w2),
        b2_(network.b2) {}

  // Each reply is the operand of the next call, where it lies.
  int classify(std::span<const float, pixels> image, Latencies& ops) override {
    const rk::TensorView x({1, pixels}, image);
    const auto call = [&ops](rk::Kernel& layer, const rk::Request& request) {
      return ops.timed([&] { return layer.call(request).value(); });
    };
    const rk::Reply weighted = call(hidden_layer_, rk::ops::matmul(x, w1_));
    const rk::Reply biased = call(hidden_layer_, rk::ops::add(weighted.tensor(), b1_));
    const rk::Reply active = call(hidden_layer_, rk::ops::relu(biased.tensor()));
    const rk::Reply scored = call(output_layer_, rk::ops::matmul(active.tensor(), w2_));
    const rk::Reply scores = call(output_layer_, rk::ops::add(scored.tensor(), b2_));
    return static_cast<int>(std::ranges::max_element(scores.floats()) - scores.floats().begin());
  }

 private:
  rk::Kernel hidden_layer_;
  rk::Kernel output_layer_;
  rk::TensorView w1_;
  rk::TensorView b1_;
  rk::TensorView w2_;
  rk::TensorView b2_;
};

rk::Kernel start(rk::RingKernelRuntime& runtime, const std::string& id) {
  rk::Kernel kernel = runtime.launch(id).value();
  kernel.activate().value();
  return kernel;
}

}  // namespace

std::unique_ptr<Classifier> make_ring_classifier(rk::RingKernelRuntime& runtime, std::size_t number,
                                                 const Network& network) {
  const std::string worker = std::to_string(number);
  return std::make_unique<RingClassifier>(start(runtime, "hidden-" + worker),
                                          start(runtime, "output-" + worker), network);
}

}  // namespace digits
