#include "backend/opencl/cache_place.hpp"

#include <cstdlib>

#include "ringkernel/backend_abi.h"
#include "ringkernel/protocol/version.h"

namespace ringkernel::opencl {

namespace {

constexpr uint64_t folder_bytes_max = 64ull * 1024 * 1024;

/// Empty if there is no such place. A relative path names none.
std::string folder_path() {
  if (const std::string_view base = environment("XDG_CACHE_HOME"); base.starts_with('/'))
    return std::string(base) + "/ringkernel";
  if (const std::string_view home = environment("HOME"); home.starts_with('/'))
    return std::string(home) + "/.cache/ringkernel";
  return {};
}

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

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

std::optional<CacheFolder> open_cache() {
  if (environment("RINGKERNEL_CACHE") == "0") return std::nullopt;
  const std::string path = folder_path();
  if (path.empty()) return std::nullopt;
  return CacheFolder::open(path, folder_bytes_max);
}

std::string cache_key_of(const FoundDevice& found) {
  Result<std::string> description = describe(found);
  return description.has_value() ? std::move(*description) : std::string();
}

}  // namespace ringkernel::opencl
