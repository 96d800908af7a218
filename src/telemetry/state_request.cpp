#include "telemetry/state_request.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>

#include "foundation/file.hpp"
#include "foundation/scope_guard.hpp"
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
  void* const memory =
      mmap(nullptr, sizeof(CountersFile), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED)
    return failure(path, Errc::backend_unavailable, std::generic_category().message(errno));
  const ScopeGuard unmapping([&]() noexcept { munmap(memory, sizeof(CountersFile)); });
  auto& counters = *static_cast<CountersFile*>(memory);
  StateRequest& request = counters.state_request;
  StateAnswer& answer = counters.state_answer;

  std::uint64_t number = request.number + 1;  // the lock's holder's, as the kernel
  // relaxed: the last answer's, unless one is just being given to who has left
  if (number == std::atomic_ref(answer.number).load(std::memory_order_relaxed)) ++number;
  std::atomic_ref(request.kernel).store(kernel, std::memory_order_relaxed);
  // release: the kernel; pairs with the acquire in CountersWriter::state_request
  std::atomic_ref(request.number).store(number, std::memory_order_release);
  // acquire: the answer; pairs with the release in CountersWriter::answer
  while (std::atomic_ref(answer.number).load(std::memory_order_acquire) != number) {
    if (!is_running(reader.writer().process) || !is_there(path, opened))
      return failure(path, Errc::runtime_closed, "the runtime has ended meanwhile");
    if (steady_clock::now() >= deadline)
      return failure(path, Errc::deadline_exceeded,
                     "no answer in " + seconds_text(timeout) + "; the runtime publishes every " +
                         seconds_text(reader.writer().period) + ", and answers then");
    std::this_thread::sleep_for(look_period);
  }
  std::string text(counters.state_text, std::min<std::uint64_t>(answer.bytes, state_text_max));
  if (answer.code == 0) return text;
  return Error(error_code(static_cast<int>(answer.code), error_category()), std::move(text));
}

}  // namespace ringkernel::telemetry
