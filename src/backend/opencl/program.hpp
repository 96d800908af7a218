/// Builds device programs from the embedded sources, or takes them from the cache.
///
/// Threading: any thread.
/// Errors: Errc::program_not_found, Errc::build_failed with the compiler's log.
#pragma once

#include <string>
#include <string_view>

#include "backend/opencl/cache/binary_cache.hpp"

namespace ringkernel::opencl {

/// The option for the language, where `newest` is the newest OpenCL C that the device has, as
/// OpenCL C counts: 3.0 from 300 on, else 1.2, which is a part of 2.0. Errc::backend_unavailable
/// below 120.
Result<std::string> language_option(unsigned newest);

/// What makes kernels for a GPU: bodies that need little private memory (kernels/rk_device.h).
inline constexpr const char* gpu_option = "-DRK_GPU";

/// That option, behind a blank, for a device of this type; nothing for one that is a CPU too.
std::string class_option(cl_device_type type);

/// What makes kernels name NVIDIA's own orders of memory (kernels/rk_atomics.h): OpenCL C has no
/// word for them there, and without them nothing that a running kernel reads is sure to be new.
inline constexpr const char* ptx_option = "-DRK_PTX";

/// Whether the device's compiler takes them: NVIDIA's, of devices from sm_70 on.
bool takes_ptx_option(cl_device_id device);

/// The options for this device: OpenCL C 3.0 if it has that, else 1.2, and IEEE division where the
/// device can. No relaxed mathematics: results are the same on every backend.
Result<std::string> build_options(cl_device_id device);

/// Builds the embedded file `source` ("kernels/programs/core.cl"), unless `cache` has it. Once it
/// ran, it is for `BinaryCache::store`.
Result<BuiltProgram> build_program(cl_context context, cl_device_id device, std::string_view source,
                                   const std::string& options, BinaryCache& cache);

/// The same of a text that includes nothing; `name` is for errors.
Result<BuiltProgram> build_text(cl_context context, cl_device_id device, std::string_view name,
                                const std::string& text, const std::string& options,
                                BinaryCache& cache);

}  // namespace ringkernel::opencl
