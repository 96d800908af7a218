/// The device sources as the library carries them: every file below `kernels/` and
/// `include/ringkernel/protocol/`, so that a program builds its kernels without finding files.
///
/// Threading: any thread.
/// Ownership: static storage.
#pragma once

#include <span>
#include <string_view>

namespace ringkernel {

struct KernelSource {
  std::string_view name;  ///< path from the top of the project: "kernels/rk_device.h"
  std::string_view text;
};

std::span<const KernelSource> kernel_sources() noexcept;

}  // namespace ringkernel
