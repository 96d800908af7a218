/// How often and how long the self-tests try.
///
/// Threading: constants.
/// Units: as std::chrono says.
#pragma once

#include <chrono>

#include "ringkernel/protocol/abi.h"

namespace ringkernel::opencl {

inline constexpr rk_u32 self_test_pings = 100;

/// How long the host waits for one step. Generous: a loaded machine is no reason to refuse a
/// device.
inline constexpr std::chrono::seconds self_test_step_timeout{5};

/// Drivers compile at the first launch, so the start has its own patience.
inline constexpr std::chrono::seconds self_test_start_timeout{60};

/// How long the next work-group may take to start, or to answer, beside those that did.
inline constexpr std::chrono::seconds self_test_group_patience{1};

/// Where the device's pace is known, a kernel that nobody stops ends by itself after about this
/// long.
inline constexpr std::chrono::seconds self_test_kernel_time{10};

}  // namespace ringkernel::opencl
