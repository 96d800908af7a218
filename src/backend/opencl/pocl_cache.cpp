#include "backend/opencl/pocl_cache.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "foundation/environment.hpp"
#include "foundation/private_folder.hpp"

namespace ringkernel::opencl {

namespace {

constexpr const char* place = "/tmp";
constexpr const char* cure =
    "; set POCL_CACHE_DIR or XDG_CACHE_HOME to a folder that can be written";

std::string text_of(int error) { return std::generic_category().message(error); }

std::string quoted(std::string_view path) { return "'" + std::string(path) + "'"; }

/// Why PoCL could not make `path` or write there, or should not load what is there; empty if it
/// can. Its own folders may be writable by a group, which is mostly the user's own.
std::string objection_to_cache(std::string path) {
  struct stat what {};
  bool is_there = true;
  while (stat(path.c_str(), &what) != 0) {
    if (errno != ENOENT) return text_of(errno);
    is_there = false;
    const std::size_t end = path.rfind('/');
    path = end == std::string::npos ? "." : path.substr(0, end == 0 ? 1 : end);
  }
  if (!S_ISDIR(what.st_mode)) return text_of(ENOTDIR);
  if (eaccess(path.c_str(), W_OK | X_OK) != 0) return text_of(errno);
  if (is_there && what.st_uid != geteuid() && what.st_uid != 0) return "another user's";
  if (is_there && (what.st_mode & S_IWOTH) != 0) return "every user can write it";
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

/// PoCL loads libraries from there.
std::string objection_to_private(const std::string& folder) {
  if (std::string why = objection_to_place(place); !why.empty()) return place + (": " + why);
  if (std::string why = make_private_folder(folder); !why.empty())
    return quoted(folder) + ": " + why;
  struct statvfs what {};
  if (statvfs(folder.c_str(), &what) == 0 && (what.f_flag & ST_NOEXEC) != 0)
    return quoted(folder) + ": nothing there may be executed";
  return {};
}

}  // namespace

PoclCache choose_pocl_cache() {
  if (const std::string_view chosen = environment("POCL_CACHE_DIR"); !chosen.empty()) {
    const std::string why = objection_to_cache(std::string(chosen));
    if (why.empty()) return {};
    return {{}, "its cache folder POCL_CACHE_DIR=" + quoted(chosen) + ": " + why + cure};
  }
  const std::string own = own_choice();
  const std::string why =
      own.empty() ? "neither XDG_CACHE_HOME nor HOME names one" : objection_to_cache(own);
  if (why.empty()) return {};
  const std::string trouble =
      "its cache folder" + (own.empty() ? "" : " " + quoted(own)) + ": " + why;
  const std::string folder = std::string(place) + "/ringkernel-" + std::to_string(geteuid());
  if (const std::string refusal = objection_to_private(folder); !refusal.empty())
    return {{}, trouble + "; a private one instead: " + refusal + cure};
  std::string path = folder + "/pocl";
  return {path, trouble + "; it has " + quoted(path) + " instead"};
}

}  // namespace ringkernel::opencl
