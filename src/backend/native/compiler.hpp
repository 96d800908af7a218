/// Programs of users, compiled at run time by the system's compiler, and the objects kept for the
/// next process (backend/cache/cache_place.hpp).
///
/// Threading: any thread; blocks while a compiler runs, for some tenths of a second. What is
/// compiled is immutable.
/// Ownership: the object is unloaded with the last owner of its program. Handlers of it that still
/// run keep one.
/// Errors: Errc::backend_unavailable where there is no compiler, Errc::build_failed with the
/// program's name and the compiler's words, or the dynamic linker's, Errc::execution_timeout where
/// the compiler does not end, Errc::protocol_mismatch where the object was made for another host.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "backend/loader.hpp"
#include "backend/native/toolchain.hpp"
#include "kernels/rk_hosted_abi.h"
#include "ringkernel/backend_abi.h"
#include "ringkernel/result.hpp"

namespace ringkernel::native {

class CompiledProgram {
 public:
  CompiledProgram(backend::SharedLibrary library, const rk_hosted_program& hosted,
                  bool from_cache) noexcept
      : library_(std::move(library)), hosted_(hosted), was_kept_(from_cache) {}

  /// To be called as long as this object is there.
  [[nodiscard]] const rk_hosted_program& hosted() const noexcept { return hosted_; }

  /// Whether the cache had it, so that nothing was compiled.
  [[nodiscard]] bool was_kept() const noexcept { return was_kept_; }

 private:
  backend::SharedLibrary library_;
  const rk_hosted_program& hosted_;
  bool was_kept_;
};

/// `text` is one translation unit of C++20 that needs no other file of ours, and ends with
/// kernels/rk_hosted.h. `#line` in it says which names and lines the compiler's words have. `name`
/// is the program's, for errors alone.
Result<std::shared_ptr<const CompiledProgram>> compile_program(
    const std::string& name, const std::string& text,
    const Surroundings& surroundings = Surroundings::of_process());

/// The best of those builds (rk_program_source) that this processor runs; null if there is none
/// that this host can call. They stay for the life of the process.
[[nodiscard]] const rk_hosted_program* find_compiled(const rk_compiled_program* builds);

}  // namespace ringkernel::native
