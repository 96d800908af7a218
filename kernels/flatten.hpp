/// One translation unit from the embedded device sources: OpenCL resolves `#include` from folders
/// on disk, and the sources travel inside the library.
///
/// Threading: any thread; pure.
/// Errors: Errc::program_not_found if `name` is not embedded, Errc::build_failed if an included
/// file is not.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernels/sources.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel {

/// The text of `name` with every `#include "..."` replaced by the text of that file, behind
/// `#line`. A file is looked for beside the one that includes it, then in `kernels/` and
/// `include/`. It is taken once, so it must not stand behind a condition; a `.def` file is taken
/// every time.
Result<std::string> flatten(std::span<const KernelSource> sources, std::string_view name);

}  // namespace ringkernel
