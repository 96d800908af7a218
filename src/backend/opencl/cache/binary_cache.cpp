#include "backend/opencl/cache/binary_cache.hpp"

#include "backend/cache/cache_place.hpp"
#include "backend/opencl/cache/cache_key.hpp"
#include "foundation/environment.hpp"

namespace ringkernel::opencl {

namespace {

/// Asking PoCL for a binary makes it compile once more, and its own cache is nearly as fast.
bool driver_caches(std::string_view platform) {
  return platform == pocl_platform && environment("POCL_KERNEL_CACHE") != "0";
}

bool is_wanted(std::string_view platform) {
  return environment("RINGKERNEL_CACHE") == "1" || !driver_caches(platform);
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

ClProgram from_binary(cl_context context, cl_device_id device, const std::string& binary,
                      const std::string& options) {
  const auto* start = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t bytes = binary.size();
  cl_int accepted = CL_SUCCESS;
  cl_int status = CL_SUCCESS;
  ClProgram program(
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
  device_key_ = cache_key_of(found);
  if (!device_key_.empty()) folder_ = backend::open_cache();
}

std::string BinaryCache::key(std::string_view options, std::string_view source) const {
  if (!folder_) return {};
  return std::string(device_key_).append(options).append("\n").append(source);
}

ClProgram BinaryCache::load(cl_context context, const std::string& key,
                            const std::string& options) {
  if (!folder_) return {};
  std::string binary;
  switch (folder_->load(key, binary)) {
    case backend::Lookup::miss: add_one(misses_); return {};
    case backend::Lookup::rejected: add_one(rejected_); return {};
    case backend::Lookup::hit: break;
  }
  ClProgram program = from_binary(context, device_, binary, options);
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
