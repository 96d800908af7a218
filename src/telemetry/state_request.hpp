/// Asks a service for the state of one of its ring kernels, through its counters file:
///
///     rkstat:     lock the file, kernel, number ----> wait ----> text, unlock
///     publisher:                            copy the state, text, number
///
/// The lock keeps others out until the answer was read, and goes with who holds it. A request that
/// nobody waits for any more is answered, too, and its number is nobody's.
///
/// Threading: any thread of any process.
/// Memory ordering: each number is released behind what it is of, and acquired before.
/// Errors: backend_unavailable with the path and the reason, where the file cannot be written;
/// protocol_mismatch, another version's; deadline_exceeded, with what was waited for;
/// runtime_closed; those of Kernel::state_json; limit_exceeded, with the size.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "ringkernel/result.hpp"

namespace ringkernel::telemetry {

/// `kernel`: its number (PublishedKernel). Of the time an answer takes, a runtime's period is the
/// most.
[[nodiscard]] Result<std::string> ask_for_state(const std::filesystem::path& counters_file,
                                                std::uint64_t kernel,
                                                std::chrono::nanoseconds timeout);

}  // namespace ringkernel::telemetry
