/// Discovery: which platforms and devices there are, what they can do, and which failed to say.
/// Each platform is asked by itself, so that one broken driver does not hide the others.
///
/// Threading: any thread; discovery runs once per process.
/// Errors: what fails is reported as text, never as a missing device without a word.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "backend/opencl/cl.hpp"
#include "backend/opencl/residency.hpp"
#include "ringkernel/backend_abi.h"

namespace ringkernel::opencl {

struct FoundDevice {
  FoundDevice(cl_platform_id of, cl_device_id device, const rk_device_description& what);

  /// For a hold around whatever builds a program, or frees memory, on a device of NVIDIA's: the
  /// driver waits there until no kernel of the context runs, for ever beside one that is busy. Null
  /// on other devices. A launch that is refused meanwhile is tried again by the copy agent, with
  /// which these devices work.
  [[nodiscard]] Residency* residency_to_hold() const noexcept {
    return waits_for_kernels ? &residency : nullptr;
  }

  cl_platform_id platform;
  cl_device_id id;
  rk_device_description description;
  bool waits_for_kernels;       ///< NVIDIA's driver
  mutable Residency residency;  ///< of the whole process
};

/// The name of PoCL's platform.
inline constexpr std::string_view pocl_platform = "Portable Computing Language";

struct Discovery {
  std::deque<FoundDevice> devices;
  /// One sentence for each platform or device that failed, or that does without something.
  std::vector<std::string> failures;
  bool has_call_failed = false;  ///< which may go well another time

  /// Whether there is no use in another look.
  [[nodiscard]] bool is_final() const noexcept { return !devices.empty() || !has_call_failed; }
};

/// Whether OpenCL was in use when this process was forked off: drivers have threads, which are the
/// parent's. The first call in a process where it was not brings it into use.
[[nodiscard]] bool was_used_before_fork() noexcept;

/// Looks at every platform, once per process; again where that found nothing since a call failed.
/// Empty where there is no OpenCL library.
const Discovery& discover();

/// One sentence for each installed driver (`.icd` file) whose library does not load: the loader
/// leaves such a driver out without a word.
std::vector<std::string> broken_drivers();

/// A text property of a device.
Result<std::string> device_text(cl_device_id device, cl_device_info what);

/// Whether the device lists the extension.
bool has_extension(cl_device_id device, std::string_view name);

/// Whether the driver is NVIDIA's, whose ways OpenCL has no question for (docs/decisions/0019).
bool is_nvidia(cl_device_id device);

/// The number in "OpenCL 3.0 PoCL" or "OpenCL C 1.2", as OpenCL C counts versions: 300, 120. 0
/// where there is none.
unsigned version_number(std::string_view text);

/// Of OpenCL, not of OpenCL C; 0 where the device does not say.
unsigned device_version(cl_device_id device);

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
