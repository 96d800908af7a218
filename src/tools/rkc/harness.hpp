/// The files of `harness/`, which `rkc check` gives to compilers.
///
/// Threading: any thread.
/// Ownership: static storage.
#pragma once

#include <span>
#include <string_view>

namespace ringkernel {

struct HarnessFile {
  std::string_view name;
  std::string_view text;
};

std::span<const HarnessFile> harness_files() noexcept;

}  // namespace ringkernel
