/// OpenCL without us, for the baselines: objects that release themselves, errors as exceptions.
///
/// Threading: one thread.
/// Errors: std::runtime_error with the function's name and status.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace bench {

inline void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS)
    throw std::runtime_error(std::string(what) + " gave " + std::to_string(status));
}

/// Owns one OpenCL object.
template <class Object, cl_int (*release)(Object)>
class Owned {
 public:
  explicit Owned(Object object) noexcept : object_(object) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ~Owned() {
    if (object_ != nullptr) release(object_);
  }
  [[nodiscard]] Object get() const noexcept { return object_; }

 private:
  Object object_;
};
using Context = Owned<cl_context, clReleaseContext>;
using Queue = Owned<cl_command_queue, clReleaseCommandQueue>;
using Program = Owned<cl_program, clReleaseProgram>;
using Kernel = Owned<cl_kernel, clReleaseKernel>;
using Buffer = Owned<cl_mem, clReleaseMemObject>;

inline cl_device_id default_device() {
  cl_platform_id platform = nullptr;
  check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  cl_device_id device = nullptr;
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
  return device;
}

/// Calls a function that reports its status through its last parameter.
template <class Make, class... Args>
auto make(const char* what, Make function, Args... args) {
  cl_int status = CL_SUCCESS;
  auto object = function(args..., &status);
  check(status, what);
  return object;
}

/// One device, one in-order queue, one program.
class Session {
 public:
  explicit Session(const char* source, const char* options = "-cl-std=CL3.0")
      : device_(default_device()),
        context_(make("clCreateContext", clCreateContext, nullptr, 1u, &device_, nullptr, nullptr)),
        queue_(make("clCreateCommandQueue", clCreateCommandQueueWithProperties, context_.get(),
                    device_, nullptr)),
        program_(make("clCreateProgram", clCreateProgramWithSource, context_.get(), 1u, &source,
                      nullptr)) {
    check(clBuildProgram(program_.get(), 1, &device_, options, nullptr, nullptr), "clBuildProgram");
  }

  [[nodiscard]] cl_context context() const { return context_.get(); }
  [[nodiscard]] cl_command_queue queue() const { return queue_.get(); }
  [[nodiscard]] Kernel kernel(const char* name) const {
    return Kernel(make("clCreateKernel", clCreateKernel, program_.get(), name));
  }
  [[nodiscard]] Buffer buffer(std::size_t bytes) const {
    return Buffer(make("clCreateBuffer", clCreateBuffer, context_.get(),
                       cl_mem_flags{CL_MEM_READ_WRITE}, bytes, nullptr));
  }

 private:
  cl_device_id device_;
  Context context_;
  Queue queue_;
  Program program_;
};

}  // namespace bench
