#include "backend/native/scratch_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "foundation/private_folder.hpp"

namespace ringkernel::native {

namespace {

/// Removes what lies in the open folder, without needing memory for it. Compilers put files there,
/// and wrappers of compilers now and then a folder.
void remove_content(int folder, int depth) noexcept {
  alignas(dirent64) std::array<char, 2048> entries;
  for (;;) {
    const ssize_t bytes = getdents64(folder, entries.data(), entries.size());
    if (bytes <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(bytes);) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || unlinkat(folder, entry->d_name, 0) == 0 || depth == 0)
        continue;
      {
        const File below(
            openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (below) remove_content(below.get(), depth - 1);
      }
      unlinkat(folder, entry->d_name, AT_REMOVEDIR);
    }
  }
}

constexpr int depth_max = 8;

}  // namespace

Result<ScratchFolder> ScratchFolder::make(std::span<const std::string> places) {
  std::string tried;
  for (const std::string& place : places) {
    if (place.empty()) continue;
    std::string path = place + "/compile-XXXXXX";
    tried += (tried.empty() ? "" : "; ") + place + " - ";
    if (const std::string why = objection_to_place(place); !why.empty()) {
      tried += why;
      continue;
    }
    if (mkdtemp(path.data()) != nullptr) {
      File folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (folder) return ScratchFolder(std::move(path), std::move(folder));
      rmdir(path.c_str());
    }
    tried += std::strerror(errno);
  }
  return Error(Errc::build_failed, "no folder for the compiler's files, tried: " + tried);
}

ScratchFolder::~ScratchFolder() {
  if (!folder_) return;
  remove_content(folder_.get(), depth_max);
  rmdir(path_.c_str());
}

bool ScratchFolder::write(const char* name, std::string_view content) const {
  const File file(openat(folder_.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                         S_IRUSR | S_IWUSR));
  return file && write_whole(file.get(), content);
}

bool ScratchFolder::read(const char* name, std::string& content, std::uint64_t bytes_max) const {
  const File file(openat(folder_.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat what {};
  if (!file || fstat(file.get(), &what) != 0 || !S_ISREG(what.st_mode)) return false;
  if (what.st_size <= 0 || static_cast<std::uint64_t>(what.st_size) > bytes_max) return false;
  content.resize(static_cast<std::size_t>(what.st_size));
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t bytes = ::read(file.get(), content.data() + done, content.size() - done);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return false;
    done += static_cast<std::size_t>(bytes);
  }
  return true;
}

bool write_whole(int file, std::string_view content) noexcept {
  while (!content.empty()) {
    const ssize_t bytes = ::write(file, content.data(), content.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(bytes));
  }
  return true;
}

}  // namespace ringkernel::native
