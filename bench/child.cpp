#include "child.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

namespace bench {
namespace {

/// Far longer than any case takes; a case that hangs must not spin for ever.
constexpr unsigned case_seconds_max = 120;

[[noreturn]] void become_case(const Case& what, int output) {
  // This process has one thread, so everything may be called between fork and exec.
  const std::string device(what.pocl_device);
  if (!device.empty()) setenv("POCL_DEVICES", device.c_str(), 1);
  dup2(output, STDOUT_FILENO);
  alarm(case_seconds_max);  // outlives exec
  const std::string name(what.name);
  execl("/proc/self/exe", "bench", "--child", name.c_str(), nullptr);
  _exit(127);
}

std::string read_all(int input) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = read(input, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

std::optional<Measurement> run_in_child(const Case& what) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) become_case(what, ends[1]);
  close(ends[1]);
  const std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == exit_absent) return std::nullopt;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("case '" + std::string(what.name) + "' failed");
  return Measurement::from_json(text);
}

}  // namespace bench
