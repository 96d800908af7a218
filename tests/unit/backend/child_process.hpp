/// Runs a program with a changed environment, bounded in time, and keeps what it printed.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ringkernel::testing {

/// A user without rights, on every Linux.
constexpr uid_t nobody = 65534;

struct ChildResult {
  int exit_code = -1;      ///< -1 if it was killed by a signal
  bool timed_out = false;  ///< killed, because it did not end
  std::string output;      ///< stdout and stderr
};

/// An empty value removes the variable. Only root can run it as another user.
ChildResult run_child(const std::vector<std::string>& command,
                      const std::vector<std::pair<std::string, std::string>>& environment,
                      std::optional<uid_t> user = std::nullopt);

}  // namespace ringkernel::testing
