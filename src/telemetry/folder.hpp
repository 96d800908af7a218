/// Where counters files lie: `$XDG_RUNTIME_DIR/ringkernel/PID/`, else
/// `/dev/shm/ringkernel-UID/PID/`.
///
/// Threading: any thread.
#pragma once

#include <filesystem>
#include <vector>

#include "ringkernel/error.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::telemetry {

/// The folder above those of the processes; it need not exist.
[[nodiscard]] std::filesystem::path telemetry_root();

/// This process's own folder, made with mode 0700, as is the one above it.
/// Errc::backend_unavailable with the path and the reason, also where it is not this user's alone.
[[nodiscard]] Result<std::filesystem::path> make_process_folder(const std::filesystem::path& root);

/// All counters files below `root`, in order of their names.
[[nodiscard]] std::vector<std::filesystem::path> counters_files(const std::filesystem::path& root);

/// Removes what processes left behind that ended: all but the 16 that were alive last, and those
/// made more than a day ago. Files that are not understood, after a day.
void remove_dead_files(const std::filesystem::path& root);

}  // namespace ringkernel::telemetry
