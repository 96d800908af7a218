/// One program on one device as a queue of slices: an in-order command queue and the events of the
/// slices that have not returned.
///
/// Threading: any thread. Only `launch` calls the driver for long; `error` never waits for it.
/// Memory ordering: the mutex orders everything but the sticky error, which stands alone.
/// Ownership: refers to its device. The destructor waits for the last slice.
/// Errors: Errc::limit_exceeded from `create`; a slice that the driver ended is Errc::device_error,
/// kept for good.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "backend/opencl/cl.hpp"
#include "backend/opencl/device.hpp"

namespace ringkernel::opencl {

class Executor {
 public:
  /// Builds the program and runs one slice on zeroed memory, where it has nothing to do, because
  /// some drivers compile at the first launch: slices on the arena start at once.
  static Result<std::unique_ptr<Executor>> create(Device& device, const std::string& program,
                                                  uint64_t executor_offset);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  Result<void> launch(uint32_t slice);
  Result<void> wait(std::chrono::nanoseconds timeout);
  Result<void> error();

 private:
  Executor(ExecutorSlot slot, Queue queue, Kernel kernel) noexcept;

  /// Binds the memory that slices work on.
  Result<void> bind(const SharedMemory& memory, uint64_t executor_offset);
  Result<void> warm_up(cl_context context);
  /// Forgets slices that have returned and keeps the first failure.
  void reap_locked();
  [[nodiscard]] Result<void> failure() const;

  ExecutorSlot slot_;
  Queue queue_;
  Kernel kernel_;
  std::mutex mutex_;           // guards the kernel's arguments, the queue and running_
  std::deque<Event> running_;  // launched and not seen to have returned, oldest first
  std::atomic<cl_int> failure_ = CL_SUCCESS;  // status of the first failed slice
};

}  // namespace ringkernel::opencl
