/// A private folder for the files of one compile, gone with the object, whatever was left in it.
///
/// Threading: one thread at a time.
/// Ownership: the folder, and all that lies in it.
/// Errors: Errc::build_failed with the places that were tried.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "foundation/file.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::native {

class ScratchFolder {
 public:
  /// Makes one, of mode 0700, in the first of `places` that is nobody's but ours or root's, or
  /// keeps what others make from our reach (as /tmp does). Empty ones are passed over.
  static Result<ScratchFolder> make(std::span<const std::string> places);

  ScratchFolder(ScratchFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), folder_(std::move(other.folder_)) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// The new file `name` with this content. False, and errno, if that did not go.
  [[nodiscard]] bool write(const char* name, std::string_view content) const;

  /// The whole of the file `name`, of at most `bytes_max`. False if there is none, or it is empty.
  [[nodiscard]] bool read(const char* name, std::string& content, std::uint64_t bytes_max) const;

 private:
  ScratchFolder(std::string path, File folder) noexcept
      : path_(std::move(path)), folder_(std::move(folder)) {}

  std::string path_;
  File folder_;
};

/// All of `content` into the open file. False, and errno, if that did not go.
[[nodiscard]] bool write_whole(int file, std::string_view content) noexcept;

}  // namespace ringkernel::native
