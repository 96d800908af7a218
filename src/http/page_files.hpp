/// The live page as the library carries it: every file below `src/http/page/`.
///
/// Threading: any thread.
/// Ownership: static storage.
#pragma once

#include <span>
#include <string_view>

namespace ringkernel {

struct PageFile {
  std::string_view name;  ///< path below `page/`
  std::string_view text;
};

std::span<const PageFile> page_files() noexcept;

}  // namespace ringkernel
