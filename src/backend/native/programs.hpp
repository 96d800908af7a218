/// The compiled-in device programs and the choice of the instruction-set level.
#pragma once

#include <string_view>

#include "kernels/rk_workspace.h"
#include "ringkernel/protocol/abi.h"

namespace ringkernel::native {

/// One work-group's part of a slice of an executor (kernels/ring_kernel.cl). `workspace` and
/// `local` are the work-group's own (kernels/rk_workspace.h); `echo`, which packs nothing, takes
/// null for a workspace.
using SliceFunction = void (*)(rk_u8* arena, rk_u64 arena_bytes, rk_u64 executor_offset,
                               rk_u32 slice, rk_u32 group, rk_u8* workspace, rk_u8* local);

/// The best build of `program` that this processor runs; nullptr if there is no such program.
[[nodiscard]] SliceFunction find_program(std::string_view program) noexcept;

/// "x86-64-v3", or "portable".
[[nodiscard]] const char* level_name() noexcept;

}  // namespace ringkernel::native
