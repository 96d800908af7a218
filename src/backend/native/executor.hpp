/// A program on an arena of this process, as a queue of slices on a worker of its own. Of several
/// work-groups, each but the first has a worker of its own in addition.
///
/// Threading: `launch`, `run` and `wait` from any thread; `prepare` and `replace` from one at a
/// time; `forget` while no slice runs.
/// Memory ordering: what a slice calls is released by `replace` and acquired by `run_slice`.
/// Ownership: the arena outlives it. The destructor waits for the slices that were launched.
/// Errors: of `create` and `prepare` those of the compiler (compiler.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/native/compiler.hpp"
#include "backend/native/memory.hpp"
#include "backend/native/programs.hpp"
#include "foundation/slice_worker.hpp"
#include "kernels/rk_hosted_abi.h"
#include "kernels/rk_workspace.h"
#include "ringkernel/backend_abi.h"
#include "ringkernel/result.hpp"

namespace ringkernel::native {

/// What slices run for the messages of a program that is none of ours.
struct Called {
  SliceFunction function = nullptr;
  rk_slice_code code{};
  std::shared_ptr<const CompiledProgram> owner;  ///< null: the code is part of the process
};
using CalledPointer = std::unique_ptr<const Called>;

class HostExecutor {
 public:
  /// For the executor whose host line lies at `offset` of `arena`.
  static Result<std::unique_ptr<HostExecutor>> create(std::span<std::byte> arena,
                                                      const rk_program_source& program,
                                                      std::uint64_t offset,
                                                      std::uint32_t work_groups);
  HostExecutor(const HostExecutor&) = delete;
  HostExecutor& operator=(const HostExecutor&) = delete;
  ~HostExecutor() { (void)wait(forever_ns); }

  /// Takes what the first launch needs otherwise.
  void start() { worker_.start(); }
  void launch(std::uint32_t slice) { worker_.launch(slice); }
  /// Runs a slice on this thread. False if one is running or waiting to run, or if there are
  /// several work-groups.
  bool run(std::uint32_t slice) { return others_.empty() && worker_.run(slice); }
  /// False if slices were still running after `timeout_ns`.
  bool wait(std::uint64_t timeout_ns) { return worker_.wait(timeout_ns); }

  Result<void> prepare(const rk_program_source& program);
  /// Slices that begin from here on call what was prepared. Errc::execution_timeout if one that
  /// calls the old still ran after `timeout_ns`.
  Result<void> replace(std::uint64_t timeout_ns);

  /// The next slice looks at all that it serves, as the first one did.
  void forget() noexcept;

  static constexpr std::uint64_t forever_ns = UINT64_MAX / 4;

 private:
  /// Of memory for each work-group.
  static constexpr std::uint64_t group_bytes = RK_WORKSPACE_BYTES + RK_SLICE_BYTES;

  HostExecutor(std::span<std::byte> arena, SliceFunction function, CalledPointer called,
               std::uint64_t offset, std::uint32_t work_groups, Memory memory);

  [[nodiscard]] rk_u8* workspace(std::size_t group) const noexcept {
    return reinterpret_cast<rk_u8*>(memory_.data()) + group * group_bytes;
  }
  [[nodiscard]] rk_u8* local(std::size_t group) const noexcept {
    return workspace(group) + RK_WORKSPACE_BYTES;
  }
  void run_group(std::uint32_t slice, std::uint32_t group);
  /// Returns when all work-groups have, as a launch of a device does.
  void run_slice(std::uint32_t slice);
  void ask_to_leave() noexcept;
  /// Waits until no slice runs that began before `current_` was changed.
  bool wait_for_old(std::uint64_t timeout_ns);

  const std::span<std::byte> arena_;
  const SliceFunction function_;  // of a program of ours
  CalledPointer called_;          // as are next_ and old_: of the thread that prepares and replaces
  CalledPointer next_;
  std::vector<CalledPointer> old_;  // that slices may still call
  std::atomic<const Called*> current_;
  const Called* running_ = nullptr;  // by the slice that runs; written by it
  std::atomic<std::uint32_t> running_slice_{0};
  const std::uint64_t offset_;
  // Workspace and local memory of each work-group, whichever threads run it: its slices run one
  // after the other, callers' too, so that no two ops of a work-group are ever under way. On no
  // stack, because a caller's may be small. What no op has touched takes no memory, so that a
  // program that packs nothing, as echo, costs addresses only.
  const Memory memory_;
  std::vector<std::unique_ptr<SliceWorker>> others_;
  SliceWorker worker_{[this](std::uint32_t slice) { run_slice(slice); }};
};

}  // namespace ringkernel::native
