#include "backend/native/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "foundation/file.hpp"

namespace ringkernel::native {

namespace {

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds left_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

/// Where the child works, and which descriptors it has: its output at 1 and 2, nothing to read at
/// 0, and no other.
class FileActions {
 public:
  FileActions(int output, const std::string& folder) {
    check(posix_spawn_file_actions_init(&actions_));
    // The output first: it may itself have a number below 3, in a process that had closed those.
    const bool added =
        posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO) == 0 &&
        posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO) == 0 &&
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
        posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str()) == 0;
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    // Ours are closed by exec. Those of the program that we are part of might not be.
    const bool closed = posix_spawn_file_actions_addclosefrom_np(&actions_, 3) == 0;
#else
    const bool closed = true;
#endif
    if (added && closed) return;
    posix_spawn_file_actions_destroy(&actions_);
    throw std::bad_alloc();
  }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

  [[nodiscard]] const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  static void check(int failure) {
    if (failure != 0) throw std::bad_alloc();
  }

  posix_spawn_file_actions_t actions_;
};

/// Signals as a program expects them at its start, and a group of its own, to be killed as one.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    if (posix_spawnattr_init(&attributes_) != 0) throw std::bad_alloc();
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }

  [[nodiscard]] const posix_spawnattr_t* get() const noexcept { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

/// The started child. One that has not ended when this goes is killed, with all of its group.
class Child {
 public:
  explicit Child(pid_t id) noexcept : id_(id) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (has_ended_) return;
    kill(-id_, SIGKILL);
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) continue;
  }

  /// False if it has not ended by then.
  bool wait(Clock::time_point deadline, std::optional<int>& status) noexcept {
    // Readable when it has ended. Without one, before Linux 5.3, it is asked each millisecond.
    const File ended(static_cast<int>(syscall(SYS_pidfd_open, id_, 0)));
    for (;;) {
      int found = 0;
      const pid_t answer = waitpid(id_, &found, WNOHANG);
      if (answer == id_) status = found;
      has_ended_ = answer == id_ || (answer < 0 && errno == ECHILD);
      if (has_ended_) return true;
      const auto left = left_until(deadline);
      if (left.count() == 0) return false;
      pollfd ending{ended.get(), POLLIN, 0};
      poll(&ending, 1, ended ? static_cast<int>(std::min<long>(left.count(), 1'000'000)) : 1);
    }
  }

 private:
  pid_t id_;
  bool has_ended_ = false;
};

/// Reads until nobody has the other end. False if that took too long.
bool read_output(int input, Clock::time_point deadline, Ended& ended) noexcept {
  std::array<char, 4096> buffer;
  for (;;) {
    const auto left = left_until(deadline);
    if (left.count() == 0) return false;
    pollfd ready{input, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(std::min<long>(left.count(), 1'000'000))) <= 0) continue;
    const ssize_t bytes = ::read(input, buffer.data(), buffer.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return true;
    const auto room = child_output_bytes_max - ended.output.size();
    const auto kept = std::min(room, static_cast<std::size_t>(bytes));
    ended.output.append(buffer.data(), kept);  // there is room for all of it since the beginning
    ended.is_cut = ended.is_cut || kept < static_cast<std::size_t>(bytes);
  }
}

std::vector<char*> pointers_of(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

Error not_started(const std::string& path, int failure) {
  return {Errc::build_failed, path + " could not be started: " + std::strerror(failure)};
}

}  // namespace

Result<Ended> run_child(const Command& command) {
  const std::string& path = command.words.front();
  const std::vector<char*> words = pointers_of(command.words);
  const std::vector<char*> variables = pointers_of(command.variables);
  Ended ended;
  ended.output.reserve(child_output_bytes_max);
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return not_started(path, errno);
  const File input(ends[0]);
  File output(ends[1]);
  const FileActions actions(output.get(), command.folder);
  const SpawnAttributes attributes;
  const auto deadline = Clock::now() + command.deadline;
  pid_t id = 0;
  const int failure = posix_spawn(&id, path.c_str(), actions.get(), attributes.get(), words.data(),
                                  variables.data());
  if (failure != 0) return not_started(path, failure);
  Child child(id);
  output = File(-1);  // from now on only the child has it
  if (read_output(input.get(), deadline, ended) && child.wait(deadline, ended.status)) return ended;
  return Error(Errc::execution_timeout,
               path + " did not end within " + std::to_string(command.deadline.count()) + " ms" +
                   (ended.output.empty() ? "" : ", and said: ") + ended.output);
}

}  // namespace ringkernel::native
