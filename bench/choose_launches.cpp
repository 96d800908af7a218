// OpenCL without us for `choose`: everything made once; for each request a write, a launch for each
// layer, and a read that is waited for. The kernels are the straightforward ones.
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "choose_work.hpp"
#include "opencl.hpp"

namespace bench {
namespace {

constexpr const char* layers_source = R"(
kernel void sum(global const float* operands, global float* y) {
  const size_t i = get_global_id(0);
  y[i] = operands[i] + operands[get_global_size(0) + i];
}

// Up to 32 outputs each, in vectors where they are 32.
kernel void dense(global const float* x, global float* y, global const float* weights,
                  global const float* bias, int relu, int inputs, int outputs) {
  const int first = 32 * get_global_id(0), count = min(outputs - first, 32);
  float sums[32];
  for (int o = 0; o < count; ++o) sums[o] = bias[first + o];
  x += get_global_id(1) * inputs;
  y += get_global_id(1) * outputs + first;
  weights += first;
  if (count == 32)
    for (int i = 0; i < inputs; ++i)
      for (int o = 0; o < 32; ++o) sums[o] = fma(x[i], weights[i * outputs + o], sums[o]);
  else
    for (int i = 0; i < inputs; ++i)
      for (int o = 0; o < count; ++o) sums[o] = fma(x[i], weights[i * outputs + o], sums[o]);
  for (int o = 0; o < count; ++o) y[o] = relu ? fmax(sums[o], 0.0f) : sums[o];
}

kernel void convolution(global const float* x, global float* y, global const float* weights,
                        global const float* bias, int relu, int inputs) {
  const size_t o = get_global_id(0), outputs = get_global_size(0);
  const size_t column = get_global_id(1), row = get_global_id(2), half_side = get_global_size(1);
  const size_t side = 2 * half_side;
  float value = bias[o];
  for (size_t r = 0; r < 3 && 2 * row + r < side; ++r)
    for (size_t c = 0; c < 3 && 2 * column + c < side; ++c)
      for (int i = 0; i < inputs; ++i)
        value = fma(x[((2 * row + r) * side + 2 * column + c) * inputs + i],
                    weights[((r * 3 + c) * inputs + i) * outputs + o], value);
  y[(row * half_side + column) * outputs + o] = relu ? fmax(value, 0.0f) : value;
})";

struct Launch {
  Kernel kernel;
  std::array<std::size_t, 3> extents;
};

template <class T>
void set_argument(const Kernel& kernel, cl_uint index, const T& value) {
  check(clSetKernelArg(kernel.get(), index, sizeof value, &value), "clSetKernelArg");
}

class LaunchRunner : public Runner {
 public:
  explicit LaunchRunner(const Work& work) : session_(layers_source), out_(work.expected.size()) {
    for (const std::vector<float>& input : work.inputs)
      operands_.insert(operands_.end(), input.begin(), input.end());
    add_buffer(operands_.size());
    if (work.is_sum()) add_launch("sum", {out_.size(), 1, 1}, out_.size());
    for (const Layer& layer : work.layers) add_layer(layer, work.rows);
  }

  void run() override {
    check(clEnqueueWriteBuffer(session_.queue(), buffers_.front().get(), CL_FALSE, 0,
                               operands_.size() * sizeof(float), operands_.data(), 0, nullptr,
                               nullptr),
          "clEnqueueWriteBuffer");
    for (const Launch& launch : launches_) {
      // A small launch is one work-group; of a larger one the driver knows best.
      const auto& [x, y, z] = launch.extents;
      const bool small = x * y * z <= 1024;
      check(clEnqueueNDRangeKernel(session_.queue(), launch.kernel.get(), 3, nullptr,
                                   launch.extents.data(), small ? launch.extents.data() : nullptr,
                                   0, nullptr, nullptr),
            "clEnqueueNDRangeKernel");
    }
    check(clEnqueueReadBuffer(session_.queue(), result_, CL_TRUE, 0, out_.size() * sizeof(float),
                              out_.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }
  [[nodiscard]] std::span<const float> output() const override { return out_; }

 private:
  cl_mem add_buffer(std::size_t count) {
    buffers_.push_back(session_.buffer(count * sizeof(float)));
    return buffers_.back().get();
  }
  cl_mem add_constant(const std::vector<float>& values) {
    const cl_mem buffer = add_buffer(values.size());
    check(clEnqueueWriteBuffer(session_.queue(), buffer, CL_TRUE, 0, values.size() * sizeof(float),
                               values.data(), 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
    return buffer;
  }
  /// Reads what the one before has written.
  const Kernel& add_launch(const char* name, std::array<std::size_t, 3> extents,
                           std::size_t output_count) {
    const cl_mem x = launches_.empty() ? buffers_.front().get() : result_;
    const Kernel& kernel = launches_.emplace_back(session_.kernel(name), extents).kernel;
    result_ = add_buffer(output_count);
    set_argument(kernel, 0, x);
    set_argument(kernel, 1, result_);
    return kernel;
  }
  void add_layer(const Layer& layer, std::size_t rows) {
    const std::size_t half = layer.side / 2;
    const Kernel& kernel =
        layer.is_convolution()
            ? add_launch("convolution", {layer.outputs, half, half}, layer.output_count())
            : add_launch("dense", {(layer.outputs + 31) / 32, rows, 1},
                         rows * layer.output_count());
    const std::vector<float> zeros(layer.outputs);
    set_argument(kernel, 2, add_constant(layer.weights));
    set_argument(kernel, 3, add_constant(layer.bias.empty() ? zeros : layer.bias));
    set_argument(kernel, 4, cl_int{layer.relu});
    set_argument(kernel, 5, static_cast<cl_int>(layer.inputs));
    if (!layer.is_convolution()) set_argument(kernel, 6, static_cast<cl_int>(layer.outputs));
  }

  Session session_;
  std::vector<Buffer> buffers_;
  std::vector<Launch> launches_;
  cl_mem result_ = nullptr;
  std::vector<float> operands_;
  std::vector<float> out_;
};

}  // namespace

std::unique_ptr<Runner> make_launches(const Work& work) {
  return std::make_unique<LaunchRunner>(work);
}

}  // namespace bench
