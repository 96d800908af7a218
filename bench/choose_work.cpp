#include "choose_work.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

/// Numbers around zero, at most `scale`; others for each `seed`.
std::vector<float> made_up_numbers(std::size_t count, float scale, std::uint32_t seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = scale * (static_cast<float>(seed >> 8) * 0x1p-23f - 1.0f);
  }
  return values;
}

/// From the definition, in double.
std::vector<double> apply_dense(const Layer& layer, const std::vector<double>& x) {
  const std::size_t rows = x.size() / layer.inputs;
  std::vector<double> y(rows * layer.outputs);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < layer.inputs; ++i)
      for (std::size_t o = 0; o < layer.outputs; ++o)
        y[row * layer.outputs + o] +=
            x[row * layer.inputs + i] * double{layer.weights[i * layer.outputs + o]};
  return y;
}

std::vector<double> apply_convolution(const Layer& layer, const std::vector<double>& x) {
  const std::size_t half = layer.side / 2;
  std::vector<double> y(layer.output_count());
  for (std::size_t at = 0; at < half * half * 9; ++at) {
    const std::size_t place = at / 9, tap = at % 9;
    const std::size_t row = place / half * 2 + tap / 3, column = place % half * 2 + tap % 3;
    if (row == layer.side || column == layer.side) continue;  // padding
    for (std::size_t i = 0; i < layer.inputs; ++i)
      for (std::size_t o = 0; o < layer.outputs; ++o)
        y[place * layer.outputs + o] +=
            x[(row * layer.side + column) * layer.inputs + i] *
            double{layer.weights[(tap * layer.inputs + i) * layer.outputs + o]};
  }
  return y;
}

void expect_of_layers(Work& work) {
  std::vector<double> x(work.inputs[0].begin(), work.inputs[0].end());
  for (const Layer& layer : work.layers) {
    x = layer.is_convolution() ? apply_convolution(layer, x) : apply_dense(layer, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!layer.bias.empty()) x[i] += double{layer.bias[i % layer.outputs]};
      if (layer.relu) x[i] = std::max(x[i], 0.0);
    }
  }
  work.expected.assign(x.begin(), x.end());
}

Work make_sum(std::size_t count) {
  Work work;
  work.inputs = {made_up_numbers(count, 1, 1), made_up_numbers(count, 1, 2)};
  for (std::size_t i = 0; i < count; ++i)
    work.expected.push_back(work.inputs[0][i] + work.inputs[1][i]);
  return work;
}

Work make_net(std::vector<Layer> layers, std::size_t rows = 1, bool with_bias = true) {
  Work work{rows, std::move(layers), {}, {}};
  std::uint32_t seed = 3;
  for (Layer& layer : work.layers) {
    const std::size_t terms = layer.inputs * (layer.is_convolution() ? 9 : 1);
    layer.weights =
        made_up_numbers(terms * layer.outputs, 2 / std::sqrt(static_cast<float>(terms)), ++seed);
    if (with_bias) layer.bias = made_up_numbers(layer.outputs, 0.5f, ++seed);
  }
  work.inputs = {made_up_numbers(rows * work.layers[0].input_count(), 1, 1)};
  expect_of_layers(work);
  return work;
}

}  // namespace

Work make_work(std::string_view name) {
  if (name == "add16") return make_sum(16);
  if (name == "add256") return make_sum(256);
  if (name == "add64k") return make_sum(64 * 1024 / sizeof(float));
  if (name == "mlp64")
    return make_net({{.inputs = 64, .outputs = 32, .relu = true},
                     {.inputs = 32, .outputs = 10, .relu = false}});
  if (name == "mlp784")
    return make_net({{.inputs = 784, .outputs = 128, .relu = true},
                     {.inputs = 128, .outputs = 10, .relu = false}});
  if (name == "cnn")
    return make_net({{.side = 28, .inputs = 1, .outputs = 8, .relu = true},
                     {.side = 14, .inputs = 8, .outputs = 16, .relu = true},
                     {.inputs = 784, .outputs = 10, .relu = false}});
  if (name == "matmul512")
    return make_net({{.inputs = 512, .outputs = 512, .relu = false}}, 512, false);
  throw std::invalid_argument("no work '" + std::string(name) + "'");
}

}  // namespace bench
