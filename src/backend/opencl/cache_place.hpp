/// Where the backend keeps what the next process can use, and under which device's name:
/// `$XDG_CACHE_HOME/ringkernel`, else `$HOME/.cache/ringkernel`.
///
/// Threading: any thread.
/// Errors: none. Where nothing can be kept, nothing is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backend/opencl/cache_folder.hpp"
#include "backend/opencl/query.hpp"

namespace ringkernel::opencl {

/// A variable of the environment; empty if it is not there.
std::string_view environment(const char* name);

/// Nothing if `RINGKERNEL_CACHE=0` asks for that, or there is no such folder.
std::optional<CacheFolder> open_cache();

/// Protocol, device and driver, with their versions; empty where the driver does not say.
std::string cache_key_of(const FoundDevice& found);

}  // namespace ringkernel::opencl
