#include "child_process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace digits {
namespace {

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0) fail("write");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> chunk{};
  ssize_t length = 0;
  while ((length = read(file, chunk.data(), chunk.size())) > 0)
    text.append(chunk.data(), static_cast<std::size_t>(length));
  if (length < 0) fail("read");
  return text;
}

/// The child: its exit code says whether the text is a result or the reason why there is none.
[[noreturn]] void run_child(const std::function<std::string()>& work, int pipe_end) {
  int code = 1;
  try {
    std::string text;
    try {
      text = work();
      code = 0;
    } catch (const std::exception& error) {
      text = error.what();
    }
    write_all(pipe_end, text);
  } catch (const std::exception&) {
    code = 1;
  }
  std::fflush(stdout);
  _exit(code);  // the parent's static objects are not the child's to destroy
}

}  // namespace

std::string in_child_process(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) fail("pipe");
  std::fflush(stdout);  // the child must not print it again
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) run_child(work, ends[1]);
  close(ends[1]);
  std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  if (waitpid(child, &status, 0) < 0) fail("waitpid");
  if (!WIFEXITED(status)) throw std::runtime_error("the process was killed");
  if (WEXITSTATUS(status) != 0) throw std::runtime_error(text);
  return text;
}

}  // namespace digits
