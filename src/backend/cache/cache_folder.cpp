#include "backend/cache/cache_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "foundation/hash.hpp"

namespace ringkernel::backend {

namespace {

constexpr std::string_view entry_suffix = ".bin";
constexpr std::string_view unfinished_suffix = ".tmp";

/// The start of an entry. The key and the content follow.
struct Header {
  std::array<char, 8> magic{'R', 'K', 'C', 'A', 'C', 'H', 'E', '\0'};
  std::uint64_t format = 1;
  std::uint64_t key_bytes = 0;
  std::uint64_t content_bytes = 0;
  std::uint64_t checksum =
      0;  // of key and content: tells damage; whoever may write the folder is trusted
};
static_assert(sizeof(Header) == 40);

Header header_of(std::string_view key, std::string_view content) {
  Header header;
  header.key_bytes = key.size();
  header.content_bytes = content.size();
  header.checksum = fnv1a(content, fnv1a(key));
  return header;
}

/// The content of the entry `file`, if that is what was stored under `key`.
std::optional<std::string_view> content_of(std::string_view file, std::string_view key) {
  if (file.size() < sizeof(Header)) return std::nullopt;
  if (file.substr(sizeof(Header), key.size()) != key) return std::nullopt;
  const std::string_view content = file.substr(sizeof(Header) + key.size());
  const Header expected = header_of(key, content);
  if (std::memcmp(file.data(), &expected, sizeof expected) != 0) return std::nullopt;
  return content;
}

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(value));
  return digits.data();
}

/// Ours, and nobody else may write it.
bool is_private(const struct stat& what) {
  return what.st_uid == geteuid() && (what.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool read_all(int file, std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t bytes = read(file, text.data() + done, text.size() - done);
    if (bytes <= 0) return false;
    done += static_cast<std::size_t>(bytes);
  }
  return true;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t bytes = write(file, text.data(), text.size());
    if (bytes <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(bytes));
  }
  return true;
}

struct Entry {
  std::string name;
  std::uint64_t bytes;
  std::int64_t used_s;
  std::int64_t used_ns;
};

/// Our files in the folder, those included that somebody is writing or never finished.
std::vector<Entry> entries_of(int folder) {
  std::vector<Entry> entries;
  // A description of its own: the position in a folder belongs to it.
  const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(own < 0 ? nullptr : fdopendir(own), closedir);
  if (!listing) return entries;
  while (const dirent* const found = readdir(listing.get())) {
    const std::string_view name = found->d_name;
    if (!name.ends_with(entry_suffix) && !name.ends_with(unfinished_suffix)) continue;
    struct stat what {};
    if (fstatat(folder, found->d_name, &what, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(what.st_mode))
      continue;
    entries.push_back({std::string(name), static_cast<std::uint64_t>(what.st_size),
                       what.st_mtim.tv_sec, what.st_mtim.tv_nsec});
  }
  return entries;
}

}  // namespace

std::optional<CacheFolder> CacheFolder::open(const std::string& path, std::uint64_t bytes_max) {
  mkdir(path.substr(0, path.rfind('/')).c_str(), S_IRWXU);  // mostly there
  mkdir(path.c_str(), S_IRWXU);                             // likewise
  File folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat what {};
  if (!folder || fstat(folder.get(), &what) != 0 || !is_private(what)) return std::nullopt;
  return CacheFolder(std::move(folder), bytes_max);
}

std::string CacheFolder::file_name(std::string_view key) {
  return hexadecimal(fnv1a(key)).append(entry_suffix);
}

Lookup CacheFolder::load(std::string_view key, std::string& content) const {
  // Whatever it is, opening does not wait.
  const File file(openat(folder_.get(), file_name(key).c_str(),
                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return errno == ENOENT ? Lookup::miss : Lookup::rejected;
  struct stat what {};
  if (fstat(file.get(), &what) != 0 || !S_ISREG(what.st_mode) || !is_private(what) ||
      static_cast<std::uint64_t>(what.st_size) > bytes_max_)
    return Lookup::rejected;
  std::string text(static_cast<std::size_t>(what.st_size), '\0');
  if (!read_all(file.get(), text)) return Lookup::rejected;
  const auto found = content_of(text, key);
  if (!found) return Lookup::rejected;
  content = *found;
  futimens(file.get(), nullptr);
  return Lookup::hit;
}

bool CacheFolder::store(std::string_view key, std::string_view content) const {
  if (sizeof(Header) + key.size() + content.size() > bytes_max_) return false;
  const Header header = header_of(key, content);
  const std::string name = file_name(key);
  std::random_device random;
  const std::uint64_t number = (std::uint64_t{random()} << 32) | random();
  const std::string unfinished = hexadecimal(number).append(unfinished_suffix);
  {
    const File file(openat(folder_.get(), unfinished.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           S_IRUSR | S_IWUSR));
    if (!file) return false;
    const bool written =
        write_all(file.get(), {reinterpret_cast<const char*>(&header), sizeof header}) &&
        write_all(file.get(), key) && write_all(file.get(), content);
    if (!written || renameat(folder_.get(), unfinished.c_str(), folder_.get(), name.c_str()) != 0) {
      unlinkat(folder_.get(), unfinished.c_str(), 0);
      return false;
    }
  }
  make_room(name);
  return true;
}

void CacheFolder::make_room(std::string_view newest) const {
  std::vector<Entry> entries = entries_of(folder_.get());
  std::ranges::sort(entries, {}, [&](const Entry& entry) {
    return std::tuple(entry.name == newest, entry.used_s, entry.used_ns);
  });
  std::uint64_t bytes = 0;
  for (const Entry& entry : entries) bytes += entry.bytes;
  for (const Entry& entry : entries) {
    if (bytes <= bytes_max_) return;
    unlinkat(folder_.get(), entry.name.c_str(), 0);  // another process may have been first
    bytes -= entry.bytes;
  }
}

}  // namespace ringkernel::backend
