/// Discovery: which platforms and devices there are, what they can do, and which failed to say.
/// Each platform is asked by itself, so that one broken driver does not hide the others.
///
/// Threading: any thread; discovery runs once per process.
/// Memory ordering: `executors` is a count that publishes nothing.
/// Errors: what fails is reported as text, never as a missing device without a word.
#pragma once

#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "backend/opencl/cl.hpp"
#include "ringkernel/backend_abi.h"

namespace ringkernel::opencl {

struct FoundDevice {
  FoundDevice(cl_platform_id of, cl_device_id device, const rk_device_description& what)
      : platform(of), id(device), description(what) {}

  cl_platform_id platform;
  cl_device_id id;
  rk_device_description description;
  mutable std::atomic<uint32_t> executors = 0;  ///< that the whole process keeps on it
};

struct Discovery {
  std::deque<FoundDevice> devices;
  std::vector<std::string> failures;  ///< one sentence for each platform or device that failed
};

/// Looks at every platform, once per process. Empty where there is no OpenCL library.
const Discovery& discover();

/// One sentence for each installed driver (`.icd` file) whose library does not load: the loader
/// leaves such a driver out without a word.
std::vector<std::string> broken_drivers();

/// A text property of a device.
Result<std::string> device_text(cl_device_id device, cl_device_info what);

/// A text property of a platform; "?" where it does not say.
std::string platform_text(cl_platform_id platform, cl_platform_info what);

template <class Value>
Result<Value> device_value(cl_device_id device, cl_device_info what) {
  Value value{};
  RK_TRY_VOID(
      check("clGetDeviceInfo", cl().clGetDeviceInfo(device, what, sizeof value, &value, nullptr)));
  return value;
}

template <class Entry>
Result<std::vector<Entry>> device_list(cl_device_id device, cl_device_info what) {
  std::size_t bytes = 0;
  RK_TRY_VOID(check("clGetDeviceInfo", cl().clGetDeviceInfo(device, what, 0, nullptr, &bytes)));
  std::vector<Entry> entries(bytes / sizeof(Entry));
  RK_TRY_VOID(
      check("clGetDeviceInfo", cl().clGetDeviceInfo(device, what, bytes, entries.data(), nullptr)));
  return entries;
}

}  // namespace ringkernel::opencl
