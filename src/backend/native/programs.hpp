/// The compiled-in device programs and the choice of the instruction-set level.
#pragma once

#include "kernels/rk_workspace.h"
#include "ringkernel/backend_abi.h"
#include "ringkernel/protocol/abi.h"

struct rk_slice_code;

namespace ringkernel::native {

/// One work-group's part of a slice of an executor (kernels/ring_kernel.cl). `workspace` and
/// `local` are the work-group's own (kernels/rk_workspace.h); `echo`, which packs nothing, takes
/// null for a workspace. `local` is zeroed, or as the slice before left it.
/// `code` is what messages go to in `hosted`; the others have their own, and take null.
using SliceFunction = void (*)(rk_u8* arena, rk_u64 arena_bytes, rk_u64 executor_offset,
                               rk_u32 slice, rk_u32 group, rk_u8* workspace, rk_u8* local,
                               const rk_slice_code* code);

/// The best build that this processor runs, of a program that is ours (RK_PROGRAM_*), or of the
/// executor of those that are not: RK_PROGRAM_OF_SOURCES.
[[nodiscard]] SliceFunction find_program(rk_u32 built_in) noexcept;

/// The executor of those that are not ours which looks for handlers that write beyond their reply
/// or state (kernels/rk_guard.h).
[[nodiscard]] SliceFunction guarded_executor() noexcept;

/// The instruction-set level of x86-64 that this processor runs, 2 to 4; 0: less, or another kind.
[[nodiscard]] rk_u32 processor_level() noexcept;

/// "x86-64-v3", or "portable".
[[nodiscard]] const char* level_name() noexcept;

}  // namespace ringkernel::native
