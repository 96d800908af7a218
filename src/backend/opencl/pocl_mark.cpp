#include "backend/opencl/pocl_mark.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
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
  File lock(open(lock_path(folder).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return File(-1);
  return lock;
}

bool has_mark(const std::string& folder) {
  std::error_code failed;
  return std::ranges::any_of(entries_of(folder, failed), is_mark);
}

}  // namespace

PoclMark::PoclMark(const std::string& folder) noexcept {
  if (folder.empty()) return;
  (void)with_memory([&] {
    constexpr mode_t private_mode = 0600;
    static std::atomic<unsigned> marks{0};
    File lock(
        open(lock_path(folder).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, private_mode));
    // Whoever looks, or empties the folder, is soon done.
    if (!lock || flock(lock.get(), LOCK_SH) != 0) return;
    std::string path = folder + "/" + std::string(mark_prefix) + std::to_string(getpid()) + "." +
                       std::to_string(marks.fetch_add(1, std::memory_order_relaxed));  // a number
    const File mark(
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, private_mode));
    if (!mark) return;
    path_ = std::move(path);
    lock_ = std::move(lock);
  });
}

PoclMark::~PoclMark() {
  if (!path_.empty()) unlink(path_.c_str());
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
