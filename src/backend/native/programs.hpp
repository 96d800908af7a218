/// The compiled-in device programs and the choice of the instruction-set level.
#pragma once

#include "kernels/rk_workspace.h"
#include "ringkernel/backend_abi.h"
#include "ringkernel/protocol/abi.h"

struct rk_message;

namespace ringkernel::native {

/// What a message of a program that was loaded goes to (kernels/rk_message.h).
using Handler = rk_u32 (*)(rk_message*);

/// One work-group's part of a slice of an executor (kernels/ring_kernel.cl). `workspace` and
/// `local` are the work-group's own (kernels/rk_workspace.h); `echo`, which packs nothing, takes
/// null for a workspace.
/// `handler` is what messages go to in `hosted`; null in the others, which have their own.
using SliceFunction = void (*)(rk_u8* arena, rk_u64 arena_bytes, rk_u64 executor_offset,
                               rk_u32 slice, rk_u32 group, rk_u8* workspace, rk_u8* local,
                               Handler handler);

/// The best build that this processor runs, of a program that is ours (RK_PROGRAM_*), or of the
/// executor of those that are not: RK_PROGRAM_OF_SOURCES.
[[nodiscard]] SliceFunction find_program(rk_u32 built_in) noexcept;

/// The instruction-set level of x86-64 that this processor runs, 2 to 4; 0: less, or another kind.
[[nodiscard]] rk_u32 processor_level() noexcept;

/// "x86-64-v3", or "portable".
[[nodiscard]] const char* level_name() noexcept;

}  // namespace ringkernel::native
