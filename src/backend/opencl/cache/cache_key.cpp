#include "backend/opencl/cache/cache_key.hpp"

#include "ringkernel/backend_abi.h"
#include "ringkernel/protocol/version.h"

namespace ringkernel::opencl {

namespace {

/// Everything that decides what a device builds from a source, and whether it can run it.
Result<std::string> describe(const FoundDevice& found) {
  std::string text = "ringkernel protocol " + std::to_string(RK_PROTOCOL_VERSION) + ", backend " +
                     std::to_string(RK_BACKEND_ABI_VERSION) + "\n";
  constexpr cl_platform_info of_platform[] = {CL_PLATFORM_NAME, CL_PLATFORM_VENDOR,
                                              CL_PLATFORM_VERSION};
  constexpr cl_device_info of_device[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION,
                                          CL_DRIVER_VERSION};
  for (const cl_platform_info what : of_platform)
    text += platform_text(found.platform, what) + "\n";
  for (const cl_device_info what : of_device) {
    RK_TRY(line, device_text(found.id, what));
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string cache_key_of(const FoundDevice& found) {
  Result<std::string> description = describe(found);
  return description.has_value() ? std::move(*description) : std::string();
}

}  // namespace ringkernel::opencl
