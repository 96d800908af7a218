#include "backend/cache/cache_place.hpp"

#include <string_view>

#include "foundation/environment.hpp"

namespace ringkernel::backend {

namespace {

constexpr std::uint64_t folder_bytes_max = 64ull * 1024 * 1024;

}  // namespace

std::string cache_path() {
  if (const std::string_view base = environment("XDG_CACHE_HOME"); base.starts_with('/'))
    return std::string(base) + "/ringkernel";
  if (const std::string_view home = environment("HOME"); home.starts_with('/'))
    return std::string(home) + "/.cache/ringkernel";
  return {};
}

std::optional<CacheFolder> open_cache_at(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return CacheFolder::open(path, folder_bytes_max);
}

std::optional<CacheFolder> open_cache() {
  if (environment("RINGKERNEL_CACHE") == "0") return std::nullopt;
  return open_cache_at(cache_path());
}

}  // namespace ringkernel::backend
