/// Which process wrote a file, whether it still runs, and not to be in its way.
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

/// From here on this thread, and those that it starts, take no processor away from a service: when
/// they wake they wait for an idle one or the scheduler's next tick. For tools that look on.
void give_way_to_services() noexcept;

}  // namespace ringkernel::telemetry
