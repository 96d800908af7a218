/// What lies in a folder. Not with std::filesystem::directory_iterator, which ends the process
/// where there is no memory: what it has with an error_code is noexcept and allocates.
///
/// Threading: any thread.
/// Errors: std::bad_alloc; `error` where the folder, or the rest of it, cannot be read.
#pragma once

#include <dirent.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>
#include <vector>

namespace ringkernel {

/// As far as they can be listed; what goes meanwhile is not there.
inline std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder,
                                                     std::error_code& error) {
  struct Close {
    void operator()(DIR* open) const noexcept { closedir(open); }
  };
  std::vector<std::filesystem::path> entries;
  const std::unique_ptr<DIR, Close> open(opendir(folder.c_str()));
  if (open == nullptr && errno == ENOMEM) throw std::bad_alloc();
  if (open == nullptr) {
    error.assign(errno, std::generic_category());
    return entries;
  }
  for (;;) {
    errno = 0;
    const dirent* const entry = readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") entries.push_back(folder / name);
  }
  if (errno != 0) error.assign(errno, std::generic_category());
  return entries;
}

}  // namespace ringkernel
