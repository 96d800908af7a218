/// Where backends keep what the next process can use: `$XDG_CACHE_HOME/ringkernel`, else
/// `$HOME/.cache/ringkernel`.
///
/// Threading: any thread.
/// Errors: none. Where nothing can be kept, nothing is.
#pragma once

#include <optional>
#include <string>

#include "backend/cache/cache_folder.hpp"

namespace ringkernel::backend {

/// Empty if there is no such place. A relative path names none.
std::string cache_path();

/// The folder at `path`, of the size that we keep; nothing if there is no such folder.
std::optional<CacheFolder> open_cache_at(const std::string& path);

/// Nothing if `RINGKERNEL_CACHE=0` asks for that, or there is no such folder.
std::optional<CacheFolder> open_cache();

}  // namespace ringkernel::backend
