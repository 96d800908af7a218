/// The same network without this library: each op is a launch, written as a careful user of OpenCL
/// would. Program, kernels and buffers are made once, arguments are set once, weights stay on the
/// device.
///
/// Threading: a classifier belongs to one thread; several share a `PlainOpencl`.
/// Ownership: OpenCL objects stay until the process ends; a process makes one `PlainOpencl`.
/// Errors: a failed OpenCL call throws `std::runtime_error` with its name and status.
#pragma once

#include <memory>
#include <string>

#include "classifier.hpp"
#include "opencl_functions.hpp"

namespace digits {

/// What moves between host and device.
enum class Traffic {
  every_op,   ///< each op is a request of its own: write, launch, read
  each_digit  ///< the ops of a digit are chained on the device: write, five launches, read
};

class PlainOpencl {
 public:
  /// Takes the first device with fine-grained shared memory and atomics, as ring kernels do.
  PlainOpencl();

  [[nodiscard]] const std::string& device() const noexcept { return device_name_; }
  [[nodiscard]] std::unique_ptr<Classifier> make_classifier(const Network& network,
                                                            Traffic traffic) const;

 private:
  OpenclFunctions cl_;
  cl_device_id device_ = nullptr;
  std::string device_name_;
  cl_context context_ = nullptr;
  cl_program program_ = nullptr;
};

}  // namespace digits
