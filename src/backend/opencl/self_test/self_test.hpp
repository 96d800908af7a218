/// Proof, before anything relies on it, that host and kernel see what the other one wrote, by the
/// transfer strategy in question, and while both run. Capability bits alone are not believed.
///
/// Threading: any thread. Blocks until the probe has returned, a fraction of a second.
/// Errors: Errc::backend_unavailable with what exactly did not happen.
#pragma once

#include <cstdint>
#include <string>

#include "backend/opencl/cache/binary_cache.hpp"

namespace ringkernel::opencl {

struct SelfTestFigures {
  uint64_t polls_per_ms = 0;  /// idle polls
  uint64_t ping_p50_ns = 0;   /// host to kernel and back
};

/// What a self-test runs on, and with.
struct Probe {
  cl_context context;
  cl_device_id device;
  const std::string& options;
  BinaryCache& cache;
};

/// zero_copy: host and kernel see each other's stores in shared memory.
Result<SelfTestFigures> test_zero_copy(const Probe& probe);
/// How many of `work_groups` run together: each announces itself and answers a ping before any of
/// them ends. At least 1.
Result<uint32_t> test_work_groups(const Probe& probe, uint32_t work_groups);
/// dma: they see each other's copies through a second queue, where larger ones get through, too.
Result<SelfTestFigures> test_dma(const Probe& probe);
/// dma: as test_work_groups, with copies. `polls_per_ms`: of test_dma.
Result<uint32_t> test_copied_work_groups(const Probe& probe, uint32_t work_groups,
                                         uint64_t polls_per_ms);
/// sliced: a kernel sees the copies before it, and the copies behind it see what it stored.
Result<SelfTestFigures> test_sliced(const Probe& probe);

}  // namespace ringkernel::opencl
