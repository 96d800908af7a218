/// `rkstat top`: the runtimes of this user on a whole terminal, until its user has seen enough.
///
/// Threading: one thread; takes over SIGINT, SIGTERM and SIGHUP, which end it.
#pragma once

#include <chrono>
#include <string>

#include "telemetry/folder.hpp"

namespace rkstat {

/// What came of it: an exit code, and a sentence if there was no terminal for it.
struct TopEnd {
  int exit_code = 0;
  std::string problem;
};

/// Of the runtimes of the scope.
[[nodiscard]] TopEnd run_top(const ringkernel::telemetry::Scope& scope,
                             std::chrono::duration<double> delay);

}  // namespace rkstat
