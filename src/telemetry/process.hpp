/// Which process wrote a file, and whether it still runs.
///
/// Threading: any thread.
/// Errors: none; what /proc does not say counts as gone.
#pragma once

#include <cstdint>

namespace ringkernel::telemetry {

struct Process {
  std::uint64_t id = 0;
  std::uint64_t start = 0;  ///< clock ticks since boot: tells processes with the same id apart

  bool operator==(const Process&) const = default;
};

[[nodiscard]] Process this_process();
/// Not one that has ended and waits for its parent to notice.
[[nodiscard]] bool is_running(const Process& process);

}  // namespace ringkernel::telemetry
