/// A program run as a child: an argument vector and no shell, nothing on its input, its output
/// bounded, its time too.
///
/// Threading: any thread; blocks. The process may ignore SIGCHLD, or reap all children elsewhere:
/// then only the exit status is not known.
/// Ownership: none of our descriptors reach the child. It is in a process group of its own, which
/// is killed where it does not end in time, or where there is no memory to go on.
/// Errors: Errc::execution_timeout, with what it had printed; Errc::build_failed where it could not
/// be started.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "ringkernel/result.hpp"

namespace ringkernel::native {

/// Of a child's output this much is kept, the rest is read and dropped.
inline constexpr std::size_t child_output_bytes_max = std::size_t{64} * 1024;

struct Command {
  std::vector<std::string> words;      ///< the first is the absolute path of what is run
  std::vector<std::string> variables;  ///< "NAME=value": all that the child's environment has
  std::string folder;                  ///< where it works
  std::chrono::milliseconds deadline;
};

struct Ended {
  std::optional<int> status;  ///< as waitpid has it; none: somebody else has reaped the child
  std::string output;         ///< stdout and stderr
  bool is_cut = false;        ///< there was more output

  [[nodiscard]] bool has_failed() const noexcept { return status.has_value() && *status != 0; }
};

Result<Ended> run_child(const Command& command);

}  // namespace ringkernel::native
