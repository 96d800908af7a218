/// An opened device: context, arena and the programs built for it.
///
/// Threading: any thread.
/// Ownership: executors refer to their device and go first.
/// Errors: Errc::backend_unavailable with the missing capability or the self-test's finding,
/// Errc::protocol_mismatch, Errc::allocation_failure; Errc::limit_exceeded for too large an arena.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "backend/opencl/cache/binary_cache.hpp"
#include "backend/opencl/copy_queue.hpp"
#include "backend/opencl/immediate.hpp"
#include "backend/opencl/memory.hpp"
#include "backend/opencl/query.hpp"
#include "backend/opencl/self_test/choice.hpp"
#include "ringkernel/backend_abi.h"

namespace ringkernel::opencl {

class ClDevice {
 public:
  static Result<std::unique_ptr<ClDevice>> open(const FoundDevice& found,
                                                const rk_device_options& options);
  ClDevice(const ClDevice&) = delete;
  ClDevice& operator=(const ClDevice&) = delete;
  ~ClDevice() {
    if (copies_) copies_->end();  // copies of the arena, which goes first
  }

  [[nodiscard]] rk_device_state state() const;
  [[nodiscard]] cl_context context() const noexcept { return context_.get(); }
  [[nodiscard]] cl_device_id id() const noexcept { return found_.id; }
  [[nodiscard]] const FoundDevice& found() const noexcept { return found_; }
  [[nodiscard]] uint64_t arena_bytes() const noexcept { return size_of(arena_); }
  [[nodiscard]] uint32_t transfer() const noexcept { return choice_.transfer; }
  /// That an executor can have.
  [[nodiscard]] uint32_t work_groups() const noexcept { return choice_.work_groups; }
  /// Whether executors run their slices on threads of their own (immediate.hpp).
  /// Not beside copies: what stops such a slice at the end of the process is a store of the host's.
  [[nodiscard]] bool runs_immediate_slices() const noexcept { return runs_immediate_slices_; }
  /// Whether the driver is to tell what has ended: its own threads work on processors that whoever
  /// asks would keep busy. What callbacks cost elsewhere is unknown.
  [[nodiscard]] bool calls_back() const noexcept {
    return found_.description.kind == RK_DEVICE_KIND_CPU;
  }
  [[nodiscard]] std::byte* host_arena() const noexcept { return host_data(arena_); }
  /// Unless zero_copy.
  [[nodiscard]] CopyQueue& copies() noexcept { return *copies_; }

  /// Makes the arena, as slices see it, argument `index` of a kernel.
  Result<void> set_arena_argument(cl_kernel kernel, cl_uint index) const;
  /// `may_launch`: the caller does not hold the residency's lock.
  Result<uint64_t> start_copies(std::span<const rk_copy> copies, bool may_launch = true);

  /// Work-groups that the device keeps resident at once, as far as is known.
  [[nodiscard]] std::size_t resident_groups_max() const;
  [[nodiscard]] Residency& residency() const noexcept { return found_.residency; }
  /// Whether slices are counted as resident: sliced, none stays, and immediate ones have threads.
  [[nodiscard]] bool has_residents() const {
    return choice_.transfer != RK_TRANSFER_SLICED && !runs_immediate_slices();
  }

  /// A fresh kernel object of kernels/programs/<program>.cl, which is built once.
  Result<ClKernel> make_executor_kernel(const rk_program_source& program);

  /// Puts a program that has run into the cache, unless it came from there.
  void keep_program(const rk_program_source& program);

 private:
  ClDevice(const FoundDevice& found, Context context, std::unique_ptr<CopyQueue> copies,
           ArenaMemory arena, std::string options, std::unique_ptr<BinaryCache> cache,
           Choice choice);

  const FoundDevice& found_;
  Context context_;
  std::unique_ptr<CopyQueue> copies_;
  ArenaMemory arena_;
  std::string options_;
  std::unique_ptr<BinaryCache> cache_;
  Choice choice_;
  std::string copier_;                // what became of the resident copier
  const bool runs_immediate_slices_;  // asked once: launches are not to be inside the driver
  std::mutex programs_mutex_;
  std::map<std::string, BuiltProgram, std::less<>> programs_;  // by their texts
};

}  // namespace ringkernel::opencl
