/// Small files under keys, in a private folder: what was stored comes back exactly or not at all.
///
/// Threading: any thread, and any number of processes on one folder: an entry appears whole, by
/// renaming, and one that is being read stays readable when another process removes it.
/// Ownership: keeps the folder open.
/// Errors: none. What cannot be opened, read or written is not there.
/// Units: bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "foundation/file.hpp"

namespace ringkernel::backend {

enum class Lookup : std::uint8_t {
  hit,
  miss,      ///< there is no entry
  rejected,  ///< there is something, and it is not what was stored under this key
};

class CacheFolder {
 public:
  /// The folder at `path`, made with mode 0700 where it is missing, as is the one around it.
  /// Nothing if it cannot be made, is no folder, or is not ours alone to write.
  static std::optional<CacheFolder> open(const std::string& path, std::uint64_t bytes_max);

  /// Fills `content` on a hit, which makes the entry the most recently used one.
  [[nodiscard]] Lookup load(std::string_view key, std::string& content) const;

  /// Replaces what is there. Entries that were not used for longest go where all of them would
  /// exceed the folder's maximum. False if nothing was stored.
  bool store(std::string_view key, std::string_view content) const;

  /// Where the entry for `key` lies in the folder.
  [[nodiscard]] static std::string file_name(std::string_view key);

 private:
  CacheFolder(File folder, std::uint64_t bytes_max) noexcept
      : folder_(std::move(folder)), bytes_max_(bytes_max) {}

  void make_room(std::string_view newest) const;

  File folder_;
  std::uint64_t bytes_max_;
};

}  // namespace ringkernel::backend
