/// An opened device: context, arena and the programs built for it.
///
/// Threading: any thread.
/// Memory ordering: the executor count stands alone; it publishes nothing.
/// Ownership: executors refer to their device and go first.
/// Errors: Errc::backend_unavailable with the missing capability or the self-test's finding,
/// Errc::protocol_mismatch, Errc::allocation_failure, Errc::limit_exceeded.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "backend/opencl/binary_cache.hpp"
#include "backend/opencl/query.hpp"
#include "backend/opencl/self_test.hpp"
#include "ringkernel/backend_abi.h"

namespace ringkernel::opencl {

/// One of the executors that a device keeps resident, counted over the whole process.
class ExecutorSlot {
 public:
  explicit ExecutorSlot(std::atomic<uint32_t>& executors)
      // relaxed: a count that orders nothing
      : executors_(&executors), count_(executors.fetch_add(1, std::memory_order_relaxed) + 1) {}
  ExecutorSlot(ExecutorSlot&& other) noexcept
      : executors_(std::exchange(other.executors_, nullptr)), count_(other.count_) {}
  ExecutorSlot& operator=(ExecutorSlot&&) = delete;
  ~ExecutorSlot() {
    // relaxed: as above
    if (executors_ != nullptr) executors_->fetch_sub(1, std::memory_order_relaxed);
  }

  /// How many there were with this one.
  [[nodiscard]] uint32_t count() const noexcept { return count_; }

 private:
  std::atomic<uint32_t>* executors_;
  uint32_t count_;
};

class Device {
 public:
  static Result<std::unique_ptr<Device>> open(const FoundDevice& found,
                                              const rk_device_options& options);

  [[nodiscard]] rk_device_state state() const;
  [[nodiscard]] cl_context context() const noexcept { return context_.get(); }
  [[nodiscard]] cl_device_id id() const noexcept { return found_.id; }
  [[nodiscard]] const SharedMemory& arena() const noexcept { return arena_; }

  /// Errc::limit_exceeded where one more resident slice would never be scheduled.
  Result<ExecutorSlot> claim_executor_slot();

  /// A fresh kernel object of kernels/programs/<program>.cl, which is built once.
  Result<Kernel> make_executor_kernel(const std::string& program);

  /// Puts a program that has run into the cache, unless it came from there.
  void keep_program(const std::string& program);

 private:
  Device(const FoundDevice& found, Context context, SharedMemory arena, std::string options,
         std::unique_ptr<BinaryCache> cache, SelfTestFigures self_test);

  const FoundDevice& found_;
  Context context_;
  SharedMemory arena_;
  std::string options_;
  std::unique_ptr<BinaryCache> cache_;
  SelfTestFigures self_test_;
  std::mutex programs_mutex_;
  std::map<std::string, BuiltProgram> programs_;
};

}  // namespace ringkernel::opencl
