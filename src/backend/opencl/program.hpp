/// Builds device programs from the embedded sources, or takes them from the cache.
///
/// Threading: any thread.
/// Errors: Errc::program_not_found, Errc::build_failed with the compiler's log.
#pragma once

#include <string>
#include <string_view>

#include "backend/opencl/binary_cache.hpp"

namespace ringkernel::opencl {

/// The options for this device: the newest OpenCL C that it has, and IEEE division where the device
/// can. No relaxed mathematics: results are the same on every backend.
Result<std::string> build_options(cl_device_id device);

/// Builds the embedded file `source` ("kernels/programs/core.cl"), unless `cache` has it. Once it
/// ran, it is for `BinaryCache::store`.
Result<BuiltProgram> build_program(cl_context context, cl_device_id device, std::string_view source,
                                   const std::string& options, BinaryCache& cache);

}  // namespace ringkernel::opencl
