#include "plain_opencl.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

namespace digits {
namespace {

constexpr const char* source = R"(
kernel void matmul(global const float* x, global const float* w, global float* y, int k, int n) {
  const int column = get_global_id(0);
  float sum = 0;
  for (int i = 0; i < k; ++i) sum = fma(x[i], w[i * n + column], sum);
  y[column] = sum;
}
kernel void add(global const float* a, global const float* b, global float* y) {
  const int i = get_global_id(0);
  y[i] = a[i] + b[i];
}
kernel void relu(global const float* x, global float* y) {
  const int i = get_global_id(0);
  y[i] = fmax(x[i], 0.0f);
}
)";

void check(const char* call, cl_int status) {
  if (status != CL_SUCCESS)
    throw std::runtime_error(std::string(call) + ": status " + std::to_string(status));
}

/// For the functions whose last argument takes the status.
template <class Function, class... Arguments>
auto create(const char* call, Function function, Arguments... arguments) {
  cl_int status = CL_SUCCESS;
  const auto object = function(arguments..., &status);
  check(call, status);
  return object;
}

/// One op with everything it needs: launched again and again as it is.
struct Step {
  cl_kernel kernel;
  cl_mem input;
  std::size_t input_bytes;
  cl_mem output;
  std::size_t output_count;
};

class PlainClassifier final : public Classifier {
 public:
  PlainClassifier(const OpenclFunctions& cl, cl_device_id device, cl_context context,
                  cl_program program, const Network& network, Traffic traffic)
      : cl_(cl),
        context_(context),
        program_(program),
        queue_(create("clCreateCommandQueueWithProperties", cl.clCreateCommandQueueWithProperties,
                      context, device, nullptr)),
        traffic_(traffic) {
    const cl_mem x = buffer(pixels);
    std::array<cl_mem, 3> h{buffer(hidden), buffer(hidden), buffer(hidden)};
    std::array<cl_mem, 2> y{buffer(classes), buffer(classes)};
    steps_ = {step("matmul", x, pixels, h[0], hidden, weights(network.w1), pixels, hidden),
              step("add", h[0], hidden, h[1], hidden, weights(network.b1)),
              step("relu", h[1], hidden, h[2], hidden),
              step("matmul", h[2], hidden, y[0], classes, weights(network.w2), hidden, classes),
              step("add", y[0], classes, y[1], classes, weights(network.b2))};
  }

  int classify(std::span<const float, pixels> image, Latencies& ops) override {
    std::array<float, pixels> values{};  // the image, then what each op makes of it
    std::ranges::copy(image, values.begin());
    if (traffic_ == Traffic::every_op) {
      for (const Step& op : steps_)
        ops.timed([&] {
          write(op, values);
          launch(op);
          read(op, values);
        });
    } else {
      write(steps_.front(), values);
      for (const Step& op : steps_) launch(op);
      read(steps_.back(), values);
    }
    return static_cast<int>(std::max_element(values.begin(), values.begin() + classes) -
                            values.begin());
  }

 private:
  void write(const Step& op, const std::array<float, pixels>& values) const {
    check("clEnqueueWriteBuffer",
          cl_.clEnqueueWriteBuffer(queue_, op.input, CL_FALSE, 0, op.input_bytes, values.data(), 0,
                                   nullptr, nullptr));
  }
  void launch(const Step& op) const {
    check("clEnqueueNDRangeKernel",
          cl_.clEnqueueNDRangeKernel(queue_, op.kernel, 1, nullptr, &op.output_count, nullptr, 0,
                                     nullptr, nullptr));
  }
  void read(const Step& op, std::array<float, pixels>& values) const {
    check("clEnqueueReadBuffer",
          cl_.clEnqueueReadBuffer(queue_, op.output, CL_TRUE, 0, op.output_count * sizeof(float),
                                  values.data(), 0, nullptr, nullptr));
  }

  [[nodiscard]] cl_mem buffer(std::size_t count) const {
    return create("clCreateBuffer", cl_.clCreateBuffer, context_, cl_mem_flags{CL_MEM_READ_WRITE},
                  count * sizeof(float), nullptr);
  }
  [[nodiscard]] cl_mem weights(const std::vector<float>& values) const {
    const cl_mem memory = buffer(values.size());
    check("clEnqueueWriteBuffer",
          cl_.clEnqueueWriteBuffer(queue_, memory, CL_TRUE, 0, values.size() * sizeof(float),
                                   values.data(), 0, nullptr, nullptr));
    return memory;
  }

  /// The kernel's arguments: input, weights if any, output, extents if any.
  template <class... Extents>
  [[nodiscard]] Step step(const char* name, cl_mem input, std::size_t input_count, cl_mem output,
                          std::size_t output_count, cl_mem operand = nullptr,
                          Extents... extents) const {
    const cl_kernel kernel = create("clCreateKernel", cl_.clCreateKernel, program_, name);
    cl_uint index = 0;
    const auto argument = [&](const auto& value) {
      check("clSetKernelArg", cl_.clSetKernelArg(kernel, index++, sizeof value, &value));
    };
    argument(input);
    if (operand != nullptr) argument(operand);
    argument(output);
    (argument(static_cast<cl_int>(extents)), ...);
    return {kernel, input, input_count * sizeof(float), output, output_count};
  }

  const OpenclFunctions& cl_;
  cl_context context_;
  cl_program program_;
  cl_command_queue queue_;
  Traffic traffic_;
  std::array<Step, ops_per_digit> steps_{};
};

bool shares_memory(const OpenclFunctions& cl, cl_device_id device) {
  constexpr cl_device_svm_capabilities wanted =
      CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS;
  cl_device_svm_capabilities svm = 0;
  return cl.clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, nullptr) ==
             CL_SUCCESS &&
         (svm & wanted) == wanted;
}

cl_device_id find_device(const OpenclFunctions& cl) {
  constexpr cl_uint count_max = 16;
  std::array<cl_platform_id, count_max> platforms{};
  cl_uint platform_count = 0;
  check("clGetPlatformIDs", cl.clGetPlatformIDs(count_max, platforms.data(), &platform_count));
  for (cl_uint p = 0; p < std::min(platform_count, count_max); ++p) {
    std::array<cl_device_id, count_max> devices{};
    cl_uint count = 0;
    if (cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, count_max, devices.data(), &count) !=
        CL_SUCCESS)
      continue;  // a platform without devices, or broken: perhaps another one
    for (cl_uint d = 0; d < std::min(count, count_max); ++d)
      if (shares_memory(cl, devices[d])) return devices[d];
  }
  throw std::runtime_error("no OpenCL device with fine-grained shared memory and atomics");
}

}  // namespace

PlainOpencl::PlainOpencl() : device_(find_device(cl_)) {
  std::array<char, 256> name{};
  check("clGetDeviceInfo",
        cl_.clGetDeviceInfo(device_, CL_DEVICE_NAME, name.size() - 1, name.data(), nullptr));
  device_name_ = name.data();
  context_ = create("clCreateContext", cl_.clCreateContext, nullptr, cl_uint{1}, &device_, nullptr,
                    nullptr);
  program_ = create("clCreateProgramWithSource", cl_.clCreateProgramWithSource, context_,
                    cl_uint{1}, const_cast<const char**>(&source), nullptr);
  check("clBuildProgram",
        cl_.clBuildProgram(program_, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr));
}

std::unique_ptr<Classifier> PlainOpencl::make_classifier(const Network& network,
                                                         Traffic traffic) const {
  return std::make_unique<PlainClassifier>(cl_, device_, context_, program_, network, traffic);
}

}  // namespace digits
