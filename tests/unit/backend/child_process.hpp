/// Runs a program with a changed environment, bounded in time, and keeps what it printed.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ringkernel::testing {

struct ChildResult {
  int exit_code = -1;      ///< -1 if it was killed by a signal
  bool timed_out = false;  ///< killed, because it did not end
  std::string output;      ///< stdout and stderr
};

/// An empty value removes the variable.
ChildResult run_child(const std::vector<std::string>& command,
                      const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace ringkernel::testing
