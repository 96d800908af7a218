#include "telemetry/state_request.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>

#include "foundation/file.hpp"
#include "telemetry/counters_file.hpp"
#include "telemetry/counters_reader.hpp"

namespace ringkernel::telemetry {
namespace {

using std::chrono::steady_clock;

constexpr auto look_period = std::chrono::milliseconds(1);

Error failure(const std::filesystem::path& path, Errc code, const std::string& why) {
  return {code, "'" + path.string() + "': " + why};
}

std::string seconds_text(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) +
         " ms";
}

/// The file at the path is still the one that is open.
bool is_there(const std::filesystem::path& path, const struct stat& open_file) {
  struct stat now {};
  return stat(path.c_str(), &now) == 0 && now.st_ino == open_file.st_ino &&
         now.st_dev == open_file.st_dev;
}

Result<void> lock(const std::filesystem::path& path, const File& file,
                  steady_clock::time_point deadline) {
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return failure(path, Errc::backend_unavailable, std::generic_category().message(errno));
    if (steady_clock::now() >= deadline)
      return failure(path, Errc::deadline_exceeded, "others ask this runtime for states all along");
    std::this_thread::sleep_for(look_period);
  }
  return {};
}

}  // namespace

Result<std::string> ask_for_state(const std::filesystem::path& path, std::uint64_t kernel,
                                  std::chrono::nanoseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  RK_TRY(reader, CountersReader::open(path));  // whose it is, and that it is one
  const File file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat opened {};
  if (!file || fstat(file.get(), &opened) != 0)
    return failure(path, Errc::backend_unavailable,
                   "a request cannot be written there: " + std::generic_category().message(errno));
  if (!S_ISREG(opened.st_mode) || static_cast<std::size_t>(opened.st_size) < sizeof(CountersFile))
    return failure(path, Errc::bad_record, "truncated, or no counters file");
  RK_TRY_VOID(lock(path, file, deadline));
  const auto get = [&](std::size_t offset) {
    std::uint64_t word = 0;
    return pread(file.get(), &word, sizeof word, static_cast<off_t>(offset)) == sizeof word ? word
                                                                                            : 0;
  };
  const auto put = [&](std::size_t offset, std::uint64_t word) {
    return pwrite(file.get(), &word, sizeof word, static_cast<off_t>(offset)) == sizeof word;
  };
  constexpr std::size_t request_at = offsetof(CountersFile, state_request.number);
  constexpr std::size_t answer_at = offsetof(CountersFile, state_answer.number);

  std::uint64_t number = get(request_at) + 1;  // the lock's holder's, as the kernel
  // The last answer's, unless one is just being given to who has left.
  if (number == get(answer_at)) ++number;
  bool is_asked = put(offsetof(CountersFile, state_request.kernel), kernel);
  // release: the kernel; pairs with the acquire in CountersWriter::state_request
  std::atomic_thread_fence(std::memory_order_release);
  is_asked = is_asked && put(request_at, number);
  if (!is_asked)
    return failure(path, Errc::backend_unavailable, std::generic_category().message(errno));
  while (get(answer_at) != number) {
    if (!is_running(reader.writer().process) || !is_there(path, opened))
      return failure(path, Errc::runtime_closed, "the runtime has ended meanwhile");
    if (steady_clock::now() >= deadline)
      return failure(path, Errc::deadline_exceeded,
                     "no answer in " + seconds_text(timeout) + "; the runtime publishes every " +
                         seconds_text(reader.writer().period) + ", and answers then");
    std::this_thread::sleep_for(look_period);
  }
  // acquire: the answer; pairs with the release in CountersWriter::answer
  std::atomic_thread_fence(std::memory_order_acquire);
  const auto code = static_cast<int>(get(offsetof(CountersFile, state_answer.code)));
  std::string text(
      std::min<std::uint64_t>(get(offsetof(CountersFile, state_answer.bytes)), state_text_max), 0);
  if (pread(file.get(), text.data(), text.size(), offsetof(CountersFile, state_text)) !=
      static_cast<ssize_t>(text.size()))
    return failure(path, Errc::bad_record, "truncated");
  if (code == 0) return text;
  return Error(error_code(code, error_category()), std::move(text));
}

}  // namespace ringkernel::telemetry
