/// Under which device's name the backend keeps what the next process can use
/// (backend/cache/cache_place.hpp).
///
/// Threading: any thread.
/// Errors: none. Where nothing can be kept, nothing is.
#pragma once

#include <string>

#include "backend/opencl/query.hpp"

namespace ringkernel::opencl {

/// Protocol, device and driver, with their versions; empty where the driver does not say.
std::string cache_key_of(const FoundDevice& found);

}  // namespace ringkernel::opencl
