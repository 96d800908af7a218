/// Where PoCL keeps what it has compiled. It has no device where it cannot make that folder, and
/// says nothing about it. It also loads what lies there.
///
/// Threading: once, before the OpenCL library is loaded.
#pragma once

#include <string>

namespace ringkernel::opencl {

struct PoclCache {
  std::string path;     ///< what POCL_CACHE_DIR is to be; empty: as it is
  std::string trouble;  ///< what is wrong with PoCL's own choice, and what came of it; mostly empty
};

/// The folder that PoCL takes by itself, where it can be written and nobody else fills it; else a
/// private one. A user's POCL_CACHE_DIR stays in any case.
PoclCache choose_pocl_cache();

}  // namespace ringkernel::opencl
