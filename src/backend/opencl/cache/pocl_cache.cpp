#include "backend/opencl/cache/pocl_cache.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "backend/opencl/cache/pocl_mark.hpp"
#include "backend/opencl/query.hpp"
#include "foundation/environment.hpp"
#include "foundation/private_folder.hpp"

namespace ringkernel::opencl {

namespace {

namespace fs = std::filesystem;

constexpr const char* place = "/tmp";
/// PoCL has no device then. Left alone it would load what lies in a folder that was refused.
constexpr const char* unusable = "/dev/null/pocl";
constexpr const char* died_there =
    "a process ended while PoCL worked there; if an entry is damaged, each one would; remove this "
    "folder to have it used again";
constexpr const char* cure =
    "; set POCL_CACHE_DIR or XDG_CACHE_HOME to a folder that can be written";

std::string text_of(int error) { return std::generic_category().message(error); }

std::string in_quotes(std::string_view path) { return "'" + std::string(path) + "'"; }

/// Whether another user can put something else in the place of what is, or will be, in there.
std::string objection_to_owner(const struct stat& what, bool is_sticky_enough) {
  if (what.st_uid != geteuid() && what.st_uid != 0) return "another user's";
  const bool is_sticky = is_sticky_enough && (what.st_mode & S_ISVTX) != 0;
  return (what.st_mode & S_IWOTH) != 0 && !is_sticky ? "every user can write it" : "";
}

/// The nearest folder that exists; what it is; or why there is none.
struct Nearest {
  fs::path path;
  struct stat what {};
  int error = 0;
};

Nearest nearest_of(const std::string& path) {
  Nearest nearest{.path = path};
  while (stat(nearest.path.c_str(), &nearest.what) != 0) {
    if (errno != ENOENT || nearest.path == nearest.path.parent_path()) {
      nearest.error = errno;
      break;
    }
    nearest.path = nearest.path.has_parent_path() ? nearest.path.parent_path() : ".";
  }
  return nearest;
}

/// Why PoCL could not make `path` or write there, or should not load what is there; empty if it
/// can. Its own folders may be writable by a group, which is mostly the user's own.
std::string objection_to_cache(const std::string& path) {
  std::error_code failed;
  auto [nearest, what, error] = nearest_of(path);
  if (error != 0) return text_of(error);
  if (!S_ISDIR(what.st_mode)) return text_of(ENOTDIR);
  if (eaccess(nearest.c_str(), W_OK | X_OK) != 0) return text_of(errno);
  // In a sticky folder what is not there yet is made by whoever comes first.
  if (std::string why = objection_to_owner(what, false); !why.empty()) return why;
  const fs::path real = fs::canonical(nearest, failed);
  if (failed) return failed.message();
  for (fs::path above = real; above != above.parent_path();) {
    above = above.parent_path();
    if (stat(above.c_str(), &what) != 0) return text_of(errno);
    if (const std::string why = objection_to_owner(what, true); !why.empty())
      return in_quotes(above.string()) + ": " + why;
  }
  return {};
}

/// By PoCL's rules; empty where it would take one that every user knows.
std::string own_choice() {
  if (const std::string_view base = environment("XDG_CACHE_HOME"); !base.empty())
    return std::string(base) + "/pocl/kcache";
  if (const std::string_view home = environment("HOME"); !home.empty())
    return std::string(home) + "/.cache/pocl/kcache";
  return {};
}

std::string chosen_or_own() {
  const std::string_view chosen = environment("POCL_CACHE_DIR");
  return chosen.empty() ? own_choice() : std::string(chosen);
}

/// PoCL loads libraries from there.
std::string objection_to_private(const std::string& folder) {
  if (std::string why = objection_to_place(place); !why.empty()) return place + (": " + why);
  if (std::string why = make_private_folder(folder); !why.empty())
    return in_quotes(folder) + ": " + why;
  struct statvfs what {};
  if (statvfs(folder.c_str(), &what) == 0 && (what.f_flag & ST_NOEXEC) != 0)
    return in_quotes(folder) + ": nothing there may be executed";
  return {};
}

}  // namespace

std::string pocl_cache_folder(std::string_view platform) {
  return platform == pocl_platform ? chosen_or_own() : std::string();
}

Result<void> check_pocl_room(const std::string& folder, std::uint64_t needed_bytes) {
  if (folder.empty()) return {};
  struct statvfs disk {};
  const Nearest nearest = nearest_of(folder);
  if (nearest.error != 0 || statvfs(nearest.path.c_str(), &disk) != 0) return {};
  if (disk.f_blocks == 0) return {};  // one that does not say
  const std::uint64_t left = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (left >= needed_bytes) return {};
  return Error(Errc::backend_unavailable,
               "PoCL needs " + std::to_string(needed_bytes >> 10) +
                   " KiB for what it compiles, and ends the process without; its cache folder " +
                   in_quotes(folder) + " has " + std::to_string(left >> 10) +
                   " KiB left: make room, or name another one (POCL_CACHE_DIR)");
}

PoclCache choose_pocl_cache() {
  const std::string folder = std::string(place) + "/ringkernel-" + std::to_string(geteuid());
  const std::string ours = folder + "/pocl";
  const std::string_view chosen = environment("POCL_CACHE_DIR");
  std::string trouble = "its private cache folder";  // a process has left it to its child
  if (chosen != ours) {
    const std::string own = chosen_or_own();
    trouble = "its cache folder" + std::string(chosen.empty() ? "" : " POCL_CACHE_DIR=") +
              (own.empty() ? "" : (chosen.empty() ? " " : "") + in_quotes(own)) + ": ";
    if (has_dead_mark(own)) {
      trouble += died_there;
    } else {
      const std::string why =
          own.empty() ? "neither XDG_CACHE_HOME nor HOME names one" : objection_to_cache(own);
      if (why.empty()) return {};
      trouble += why;
      if (!chosen.empty()) return {{}, trouble + cure};
    }
  }
  std::string refusal = objection_to_private(folder);
  if (has_foreign_environment() && geteuid() == getuid())  // by its group or capabilities
    refusal = "it would be that of whoever started this program";
  if (!refusal.empty()) return {unusable, trouble + "; a private one instead: " + refusal + cure};
  empty_marked_folder(ours);
  if (chosen == ours) return {};
  return {ours, trouble + "; it has " + in_quotes(ours) + " instead"};
}

}  // namespace ringkernel::opencl
