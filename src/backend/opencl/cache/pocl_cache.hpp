/// Where PoCL keeps what it has compiled. It has no device where it cannot make that folder, and
/// says nothing about it. It also loads what lies there.
///
/// Threading: once, before the OpenCL library is loaded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ringkernel/result.hpp"

namespace ringkernel::opencl {

struct PoclCache {
  std::string path;     ///< what POCL_CACHE_DIR is to be; empty: as it is
  std::string trouble;  ///< what is wrong with PoCL's own choice, and what came of it; mostly empty
};

/// The folder that PoCL takes by itself, where it can be written and nobody else fills it, and
/// where no process died in PoCL (pocl_mark.hpp); else a private one. A user's POCL_CACHE_DIR stays
/// unless a process died there. Of the private one what a process died with is removed.
PoclCache choose_pocl_cache();

/// The folder that the driver of `platform` works on, if it is PoCL; empty where nobody knows.
std::string pocl_cache_folder(std::string_view platform);

/// What PoCL may need for one program. An entry takes up to 1 MiB; its linker writes beside it.
inline constexpr std::uint64_t pocl_room_bytes = std::uint64_t{4} << 20;

/// Whether PoCL can keep a program in its `folder`, which need not be there yet: its compiler ends
/// the process on a full disk. An empty `folder` is nobody's. Errors: backend_unavailable.
Result<void> check_pocl_room(const std::string& folder,
                             std::uint64_t needed_bytes = pocl_room_bytes);

}  // namespace ringkernel::opencl
