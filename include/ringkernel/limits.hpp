/// Every limit of the system in one place, with the relations between them asserted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ringkernel/protocol/command.h"
#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/record.h"
#include "ringkernel/protocol/ring.h"

namespace ringkernel {

/// Highest rank of a tensor and most inputs of one op.
inline constexpr std::size_t rank_max = RK_RANK_MAX;
inline constexpr std::size_t inputs_max = RK_INPUTS_MAX;

/// Live ring kernels per program, and programs per runtime.
inline constexpr std::size_t kernels_max = RK_KERNELS_MAX;
inline constexpr std::size_t programs_max = 8;

/// Work-groups of one executor.
inline constexpr std::size_t work_groups_max = RK_WORK_GROUPS_MAX;

/// Bytes of a ring's data.
inline constexpr std::size_t ring_bytes_min = RK_RING_CAPACITY_MIN;
inline constexpr std::size_t ring_bytes_max = RK_RING_CAPACITY_MAX;

/// Messages that one kernel may have accepted and not yet answered to its owner.
inline constexpr std::size_t in_flight_max = std::size_t{1} << 15;

/// Resident tensors of one runtime; their bytes are bounded by its arena.
inline constexpr std::size_t tensors_max = std::size_t{1} << 16;

/// FlatBuffers verifier limits for foreign bytes.
inline constexpr std::uint32_t verifier_depth_max = 16;
inline constexpr std::uint32_t verifier_tables_max = 1000;

/// Kinds of errors that a runtime tells apart (RingKernelRuntime::errors).
inline constexpr std::size_t errors_max = 256;

/// Events that a stream keeps for whoever is slow to take them.
inline constexpr std::size_t events_max = 1024;

/// Bytes in the name of a runtime, which is UTF-8.
inline constexpr std::size_t runtime_name_length_max = 63;

/// Bytes in the id of a ring kernel, which is UTF-8.
inline constexpr std::size_t kernel_id_length_max = 128;

static_assert(kernels_max % 16 == 0, "doorbells come in lines of 16");
static_assert(RK_RING_RECORD_MAX(ring_bytes_min) >= sizeof(rk_record_header) + sizeof(rk_command));

}  // namespace ringkernel
