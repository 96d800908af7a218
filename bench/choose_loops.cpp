// What somebody writes who needs this one net and nothing else: loops over extents that the
// compiler knows, outputs innermost, so that it makes vectors of them. This file alone is compiled
// for this very processor.
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "choose_work.hpp"

namespace bench {
namespace {

template <std::size_t inputs, std::size_t outputs, bool relu, std::size_t rows = 1>
void dense_loop(const float* __restrict x, const Layer& layer, float* __restrict y) {
  const float* __restrict weights = layer.weights.data();
  for (std::size_t row = 0; row < rows; ++row, x += inputs, y += outputs) {
    for (std::size_t o = 0; o < outputs; ++o) y[o] = layer.bias.empty() ? 0 : layer.bias[o];
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t o = 0; o < outputs; ++o) y[o] += x[i] * weights[i * outputs + o];
    for (std::size_t o = 0; o < outputs; ++o) y[o] = relu ? std::max(y[o], 0.0f) : y[o];
  }
}

/// GCC 12 would unroll the loop over outputs before it can make vectors of it: six times as slow.
template <std::size_t side, std::size_t inputs, std::size_t outputs>
void convolution_loop(const float* __restrict image, const Layer& layer, float* __restrict y) {
  constexpr std::size_t half = side / 2;
  const float* __restrict weights = layer.weights.data();
  for (std::size_t row = 0; row < half; ++row) {
    for (std::size_t column = 0; column < half; ++column) {
      std::array<float, outputs> sums;
      for (std::size_t o = 0; o < outputs; ++o) sums[o] = layer.bias[o];
      const std::size_t rows = std::min<std::size_t>(3, side - 2 * row);
      const std::size_t columns = std::min<std::size_t>(3, side - 2 * column);
      for (std::size_t r = 0; r < rows; ++r) {
        // A row of the window and of the filter lie behind each other.
        const float* const x = image + ((2 * row + r) * side + 2 * column) * inputs;
        const float* const w = weights + r * 3 * inputs * outputs;
        for (std::size_t i = 0; i < columns * inputs; ++i)
#pragma GCC unroll 1
          for (std::size_t o = 0; o < outputs; ++o) sums[o] += x[i] * w[i * outputs + o];
      }
      for (std::size_t o = 0; o < outputs; ++o)
        y[(row * half + column) * outputs + o] = std::max(sums[o], 0.0f);
    }
  }
}

void sum_loop(const float* __restrict a, const float* __restrict b, float* __restrict out,
              std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
}

using Loop = void (*)(const Work& work, float* out);

void run_sum(const Work& work, float* out) {
  sum_loop(work.inputs[0].data(), work.inputs[1].data(), out, work.expected.size());
}

void run_mlp64(const Work& work, float* out) {
  std::array<float, 32> hidden;
  dense_loop<64, 32, true>(work.inputs[0].data(), work.layers[0], hidden.data());
  dense_loop<32, 10, false>(hidden.data(), work.layers[1], out);
}

void run_mlp784(const Work& work, float* out) {
  std::array<float, 128> hidden;
  dense_loop<784, 128, true>(work.inputs[0].data(), work.layers[0], hidden.data());
  dense_loop<128, 10, false>(hidden.data(), work.layers[1], out);
}

void run_cnn(const Work& work, float* out) {
  std::array<float, 14 * 14 * 8> first;
  std::array<float, 7 * 7 * 16> second;
  convolution_loop<28, 1, 8>(work.inputs[0].data(), work.layers[0], first.data());
  convolution_loop<14, 8, 16>(first.data(), work.layers[1], second.data());
  dense_loop<784, 10, false>(second.data(), work.layers[2], out);
}

void run_matmul512(const Work& work, float* out) {
  dense_loop<512, 512, false, 512>(work.inputs[0].data(), work.layers[0], out);
}

Loop loop_of(std::string_view name, const Work& work) {
  if (work.is_sum()) return run_sum;
  if (name == "mlp64") return run_mlp64;
  if (name == "mlp784") return run_mlp784;
  if (name == "cnn") return run_cnn;
  if (name == "matmul512") return run_matmul512;
  throw std::invalid_argument("no loop for this work");
}

class LoopRunner : public Runner {
 public:
  LoopRunner(Loop loop, const Work& work) : loop_(loop), work_(work), out_(work.expected.size()) {}
  void run() override { loop_(work_, out_.data()); }
  [[nodiscard]] std::span<const float> output() const override { return out_; }

 private:
  Loop loop_;
  const Work& work_;
  std::vector<float> out_;
};

}  // namespace

std::unique_ptr<Runner> make_loop(std::string_view name, const Work& work) {
  return std::make_unique<LoopRunner>(loop_of(name, work), work);
}

}  // namespace bench
