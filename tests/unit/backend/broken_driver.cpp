// An OpenCL driver with one platform, which tells its name and fails at everything else. Its
// version puts it first where the loader sorts platforms by version.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <cstring>

namespace {

cl_int CL_API_CALL platform_info(cl_platform_id, cl_platform_info what, size_t bytes, void* value,
                                 size_t* bytes_needed) {
  const char* text = "";
  switch (what) {
    case CL_PLATFORM_NAME: text = "Broken Driver"; break;
    case CL_PLATFORM_VERSION: text = "OpenCL 3.0 broken"; break;
    case CL_PLATFORM_PROFILE: text = "FULL_PROFILE"; break;
    case CL_PLATFORM_EXTENSIONS: text = "cl_khr_icd"; break;
    case CL_PLATFORM_ICD_SUFFIX_KHR: text = "BRK"; break;
    default: break;
  }
  const size_t needed = std::strlen(text) + 1;
  if (bytes_needed != nullptr) *bytes_needed = needed;
  if (value == nullptr) return CL_SUCCESS;
  if (bytes < needed) return CL_INVALID_VALUE;
  std::memcpy(value, text, needed);
  return CL_SUCCESS;
}

cl_int CL_API_CALL device_ids(cl_platform_id, cl_device_type, cl_uint, cl_device_id*, cl_uint*) {
  return CL_OUT_OF_RESOURCES;
}

struct Platform {
  cl_icd_dispatch* dispatch;
};

cl_icd_dispatch make_dispatch() {
  cl_icd_dispatch dispatch{};
  dispatch.clGetPlatformInfo = platform_info;
  dispatch.clGetDeviceIDs = device_ids;
  return dispatch;
}

cl_icd_dispatch dispatch = make_dispatch();
Platform platform{&dispatch};

cl_int CL_API_CALL platform_ids(cl_uint entries, cl_platform_id* platforms, cl_uint* count) {
  if (count != nullptr) *count = 1;
  if (platforms != nullptr && entries > 0) *platforms = reinterpret_cast<cl_platform_id>(&platform);
  return CL_SUCCESS;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
    return reinterpret_cast<void*>(&platform_ids);
  return nullptr;
}

[[gnu::visibility("default")]] cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id id,
                                                                    cl_platform_info what,
                                                                    size_t bytes, void* value,
                                                                    size_t* bytes_needed) {
  return platform_info(id, what, bytes, value, bytes_needed);
}

[[gnu::visibility("default")]] cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint entries,
                                                                         cl_platform_id* platforms,
                                                                         cl_uint* count) {
  return platform_ids(entries, platforms, count);
}
}
