#include "backend/opencl/binary_cache.hpp"

#include <cstdlib>

#include "ringkernel/backend_abi.h"
#include "ringkernel/protocol/version.h"

namespace ringkernel::opencl {

namespace {

constexpr uint64_t folder_bytes_max = 64ull * 1024 * 1024;

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

/// Empty if there is no such place. A relative path names none.
std::string folder_path() {
  if (const std::string_view base = environment("XDG_CACHE_HOME"); base.starts_with('/'))
    return std::string(base) + "/ringkernel";
  if (const std::string_view home = environment("HOME"); home.starts_with('/'))
    return std::string(home) + "/.cache/ringkernel";
  return {};
}

/// Asking PoCL for a binary makes it compile once more, and its own cache is nearly as fast.
bool driver_caches(std::string_view platform) {
  return platform == "Portable Computing Language" && environment("POCL_KERNEL_CACHE") != "0";
}

bool is_wanted(std::string_view platform) {
  const std::string_view choice = environment("RINGKERNEL_CACHE");
  return choice == "1" || (choice != "0" && !driver_caches(platform));
}

/// Everything that decides what a device builds from a source, and whether it can run it.
Result<std::string> describe(const FoundDevice& found) {
  std::string text = "ringkernel protocol " + std::to_string(RK_PROTOCOL_VERSION) + ", backend " +
                     std::to_string(RK_BACKEND_ABI_VERSION) + "\n";
  for (const cl_platform_info what : {CL_PLATFORM_NAME, CL_PLATFORM_VENDOR, CL_PLATFORM_VERSION})
    text += platform_text(found.platform, what) + "\n";
  for (const cl_device_info what :
       {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION}) {
    RK_TRY(line, device_text(found.id, what));
    text += line + "\n";
  }
  return text;
}

/// The binary of a program that was built for one device; empty if the driver gives none.
std::string binary_of(cl_program program) {
  std::size_t bytes = 0;
  if (cl().clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr) !=
      CL_SUCCESS)
    return {};
  std::string binary(bytes, '\0');
  char* start = binary.data();
  if (cl().clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof start, &start, nullptr) !=
      CL_SUCCESS)
    return {};
  return binary;
}

Program from_binary(cl_context context, cl_device_id device, const std::string& binary,
                    const std::string& options) {
  const auto* start = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t bytes = binary.size();
  cl_int accepted = CL_SUCCESS;
  cl_int status = CL_SUCCESS;
  Program program(
      cl().clCreateProgramWithBinary(context, 1, &device, &bytes, &start, &accepted, &status));
  if (status != CL_SUCCESS || accepted != CL_SUCCESS) return {};
  if (cl().clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr) !=
      CL_SUCCESS)
    return {};
  return program;
}

}  // namespace

BinaryCache::BinaryCache(const FoundDevice& found) : device_(found.id) {
  if (!is_wanted(found.description.platform)) return;
  Result<std::string> description = describe(found);
  const std::string path = folder_path();
  if (!description.has_value() || path.empty()) return;
  device_key_ = std::move(*description);
  folder_ = CacheFolder::open(path, folder_bytes_max);
}

std::string BinaryCache::key(std::string_view options, std::string_view source) const {
  if (!folder_) return {};
  return std::string(device_key_).append(options).append("\n").append(source);
}

Program BinaryCache::load(cl_context context, const std::string& key, const std::string& options) {
  if (!folder_) return {};
  std::string binary;
  switch (folder_->load(key, binary)) {
    case Lookup::miss: add_one(misses_); return {};
    case Lookup::rejected: add_one(rejected_); return {};
    case Lookup::hit: break;
  }
  Program program = from_binary(context, device_, binary, options);
  add_one(program ? hits_ : rejected_);
  return program;
}

void BinaryCache::store(BuiltProgram& built) {
  const std::string key = std::exchange(built.missing_key, {});
  if (key.empty()) return;
  const std::string binary = binary_of(built.program.get());
  if (!binary.empty()) folder_->store(key, binary);
}

}  // namespace ringkernel::opencl
