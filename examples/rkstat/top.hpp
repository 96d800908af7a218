/// `rkstat top`: the runtimes of this user on a whole terminal, until its user has seen enough.
///
/// Threading: one thread; takes over SIGINT, SIGTERM and SIGHUP, which end it.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace rkstat {

/// What came of it: an exit code, and a sentence if there was no terminal for it.
struct TopEnd {
  int exit_code = 0;
  std::string problem;
};

[[nodiscard]] TopEnd run_top(const std::filesystem::path& root,
                             std::chrono::duration<double> delay);

}  // namespace rkstat
