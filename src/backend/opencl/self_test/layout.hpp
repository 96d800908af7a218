/// Compares the protocol's layout as the device compiler sees it with the host's.
///
/// Threading: any thread.
/// Errors: Errc::protocol_mismatch names the first struct or field that differs.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "backend/opencl/cache/binary_cache.hpp"

namespace ringkernel::opencl {

/// Compares what `rk_layout_probe` wrote, one figure per line of ringkernel/protocol/layout.def.
Result<void> compare_layout(std::span<const uint32_t> figures);

/// Runs the probe on the device and compares.
Result<void> check_layout(cl_context context, cl_device_id device, const std::string& options,
                          BinaryCache& cache);

}  // namespace ringkernel::opencl
