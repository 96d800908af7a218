/// Version of the library (semantic versioning). The ring protocol has its own:
/// protocol/version.h.
#pragma once

namespace ringkernel {

inline constexpr int version_major = 0;
inline constexpr int version_minor = 1;
inline constexpr int version_patch = 0;

}  // namespace ringkernel
