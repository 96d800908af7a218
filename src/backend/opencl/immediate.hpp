/// Immediate command execution, `cl_intel_exec_by_local_thread`: a queue whose commands run on the
/// thread that enqueues them. Intel's CPU driver has one worker less than cores for all its queues,
/// so on two cores a resident slice leaves none for a second executor, or for anything else.
///
/// Threading: any thread.
/// Memory ordering: a mutex orders everything but the stop words, which stand alone.
/// Ownership: the destructor of a worker waits for the slices that were launched.
/// Errors: Errc::device_error from a failed call, and from `launch` while the process ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "backend/opencl/cl.hpp"
#include "foundation/slice_worker.hpp"
#include "ringkernel/protocol/control_block.h"

namespace ringkernel::opencl {

/// True if the device has such queues.
bool has_immediate_queues(cl_device_id device);

/// A queue on which `clEnqueueNDRangeKernel` returns when the kernel has.
Result<Queue> make_immediate_queue(cl_context context, cl_device_id device);

/// The thread that enqueues an executor's slices. When the process ends they are stopped: the
/// driver's own end would wait for a slice that is kept busy, for ever.
class ImmediateWorker {
 public:
  /// `run_slice` is called by one thread at a time, and never once the process ends.
  ImmediateWorker(rk_executor_host_line& executor, std::function<void(uint32_t)> run_slice);
  ~ImmediateWorker();
  ImmediateWorker(const ImmediateWorker&) = delete;
  ImmediateWorker& operator=(const ImmediateWorker&) = delete;

  Result<void> launch(uint32_t slice);
  /// False if slices were still running after `timeout`.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout);

 private:
  void run(uint32_t slice) const;

  rk_executor_host_line& executor_;
  const std::function<void(uint32_t)> run_slice_;
  SliceWorker worker_{[this](uint32_t slice) { run(slice); }};
};

}  // namespace ringkernel::opencl
