/// Where counters files lie: `$XDG_RUNTIME_DIR/ringkernel/PID/`, else
/// `/dev/shm/ringkernel-UID/PID/`.
///
/// Threading: any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ringkernel/error.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::telemetry {

/// The folders above those of the processes, which need not exist: the first one that can be made
/// is this process's, in the others may be those of the user's services that have other
/// environments.
[[nodiscard]] std::vector<std::filesystem::path> telemetry_roots();

/// This process's own folder, made with mode 0700, as is the one above it.
/// Errc::backend_unavailable with the path and the reason, also where it is not this user's alone.
[[nodiscard]] Result<std::filesystem::path> make_process_folder(const std::filesystem::path& root);

/// All counters files below `root`, in order of their names.
[[nodiscard]] std::vector<std::filesystem::path> counters_files(const std::filesystem::path& root);

/// Where to look for counters files, and whose.
struct Scope {
  std::vector<std::filesystem::path> roots;
  std::string process;  ///< its id; empty: every one
};

/// Below each root, in order of their names.
[[nodiscard]] std::vector<std::filesystem::path> counters_files(const Scope& scope);

/// A sentence for each folder that is there and cannot be listed: a root, or one of those below.
[[nodiscard]] std::vector<std::string> unreadable_folders(const Scope& scope);

/// Removes what processes left behind that ended: all but the 16 that were alive last, and those
/// that were so more than a day before `now_ns` (CLOCK_MONOTONIC), of any version. Of what is no
/// counters file, what was made so long ago. Nothing where `root` is not this user's alone.
void remove_dead_files(const std::filesystem::path& root, std::uint64_t now_ns);

}  // namespace ringkernel::telemetry
