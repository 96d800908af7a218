/// Proof, before anything relies on it, that a resident kernel and the host see each other's stores
/// while both run. Capability bits alone are not believed.
///
/// Threading: any thread. Blocks until the probe has returned, a fraction of a second.
/// Errors: Errc::backend_unavailable with what exactly did not happen.
#pragma once

#include <cstdint>
#include <string>

#include "backend/opencl/binary_cache.hpp"

namespace ringkernel::opencl {

struct SelfTestFigures {
  uint64_t polls_per_ms = 0;  /// idle polls
  uint64_t ping_p50_ns = 0;   /// host to resident kernel and back
};

Result<SelfTestFigures> run_self_test(cl_context context, cl_device_id device,
                                      const std::string& options, BinaryCache& cache);

}  // namespace ringkernel::opencl
