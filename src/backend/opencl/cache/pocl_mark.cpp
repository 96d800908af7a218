#include "backend/opencl/cache/pocl_mark.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "foundation/entries.hpp"
#include "foundation/memory_error.hpp"

namespace ringkernel::opencl {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view lock_name = "ringkernel.lock";
constexpr std::string_view mark_prefix = "ringkernel.at-work.";

std::string lock_path(const std::string& folder) { return folder + "/" + std::string(lock_name); }

bool is_mark(const fs::path& path) { return path.filename().string().starts_with(mark_prefix); }

/// The lock, held so that nobody has a mark; none: somebody has, or there never was one.
File lock_alone(const std::string& folder) {
  File lock(::open(lock_path(folder).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return File(-1);
  return lock;
}

bool has_mark(const std::string& folder) {
  std::error_code failed;
  return std::ranges::any_of(entries_of(folder, failed), is_mark);
}

/// The marks of this process.
struct Marks {
  std::mutex mutex;
  std::vector<std::string> paths;
  unsigned ever = 0;
  pid_t process = getpid();  // a child that was forked off has none of them
};

Marks& marks() {
  static auto* const all = new Marks;  // outlives every static destructor
  return *all;
}

/// A process that exits did not die, whatever its threads are inside of. But the compiler in PoCL
/// ends a process by `exit`, too, from one of our threads for drivers or one of PoCL's own. So only
/// the main thread is believed; what another one leaves behind costs a build.
void remove_marks() {
  if (marks().process != getpid() || gettid() != getpid()) return;
  const std::lock_guard lock(marks().mutex);
  for (const std::string& path : marks().paths) unlink(path.c_str());
}

void remove_marks_at_exit() {
  static const bool is_registered =
      std::atexit(remove_marks) == 0 && std::at_quick_exit(remove_marks) == 0;
  (void)is_registered;
}

}  // namespace

PoclMark::PoclMark(const std::string& folder) noexcept {
  if (folder.empty()) return;
  (void)with_memory([&] {
    constexpr mode_t private_mode = 0600;
    File lock(
        ::open(lock_path(folder).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, private_mode));
    // Whoever looks, or empties the folder, is soon done.
    if (!lock || flock(lock.get(), LOCK_SH) != 0) return;
    remove_marks_at_exit();
    Marks& all = marks();
    const std::lock_guard alone(all.mutex);
    if (std::exchange(all.process, getpid()) != getpid()) all.paths.clear();
    path_ = folder + "/" + std::string(mark_prefix) + std::to_string(getpid()) + "." +
            std::to_string(all.ever++);
    all.paths.push_back(path_);
    const File mark(
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, private_mode));
    lock_ = std::move(lock);
  });
}

PoclMark::~PoclMark() {
  if (path_.empty()) return;
  Marks& all = marks();
  const std::lock_guard alone(all.mutex);
  unlink(path_.c_str());
  std::erase(all.paths, path_);
}

bool has_dead_mark(const std::string& folder) noexcept {
  bool found = false;
  (void)with_memory([&] {
    const File lock = lock_alone(folder);
    found = lock && has_mark(folder);
  });
  return found;
}

void empty_marked_folder(const std::string& folder) noexcept {
  (void)with_memory([&] {
    const File lock = lock_alone(folder);
    if (!lock || !has_mark(folder)) return;  // another process did it meanwhile
    std::error_code failed;
    std::vector<fs::path> entries = entries_of(folder, failed);
    std::partition(entries.begin(), entries.end(),
                   std::not_fn(is_mark));  // who is cut short leaves the marks
    for (const fs::path& path : entries)
      if (path.filename() != lock_name) fs::remove_all(path, failed);
  });
}

}  // namespace ringkernel::opencl
