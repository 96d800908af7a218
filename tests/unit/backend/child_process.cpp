#include "unit/backend/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace ringkernel::testing {

namespace {

constexpr std::chrono::seconds child_patience{120};

[[noreturn]] void become(const std::vector<std::string>& command,
                         const std::vector<std::pair<std::string, std::string>>& environment,
                         std::optional<uid_t> user, int output) {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  for (const auto& [name, value] : environment) {
    if (value.empty())
      unsetenv(name.c_str());
    else
      setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  if (user && setuid(*user) != 0) _exit(126);
  execv(arguments[0], arguments.data());
  _exit(127);
}

/// Reads until the child closes its end. False if it did not in time.
bool read_all(int input, std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + child_patience;
  std::array<char, 4096> buffer;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd ready{input, POLLIN, 0};
    if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) return false;
    const ssize_t bytes = ::read(input, buffer.data(), buffer.size());
    if (bytes <= 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command,
                      const std::vector<std::pair<std::string, std::string>>& environment,
                      std::optional<uid_t> user) {
  ChildResult result;
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return result;  // not for children of other threads
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    become(command, environment, user, ends[1]);
  }
  close(ends[1]);
  result.timed_out = !read_all(ends[0], result.output);
  close(ends[0]);
  if (result.timed_out) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

}  // namespace ringkernel::testing
