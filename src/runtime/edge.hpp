/// The edge of the public interface: whether a handle can be used, where std::bad_alloc ends, and
/// where an error is put into the error log, once.
///
/// Threading: any thread.
#pragma once

#include <memory>
#include <utility>

#include "foundation/memory_error.hpp"
#include "runtime/kernel_state.hpp"

namespace ringkernel::detail {

/// Whether a handle can be used; `refusal` says why not.
[[nodiscard]] inline bool usable(const std::shared_ptr<KernelState>& kernel) noexcept {
  return kernel != nullptr && !kernel->is_foreign();
}
[[nodiscard]] Error refusal(const std::shared_ptr<KernelState>& kernel);

/// What `use` gives, a Result, whose error is put into the log. By itself: its result is made in
/// place, which needs all returns of a function to be one.
template <class Use>
auto noting(KernelState& kernel, Use&& use) -> decltype(use()) {
  auto result = or_no_memory(use);
  if (!result) [[unlikely]]
    kernel.note(result.error());
  return result;
}

/// The same of a handle, if it can be used.
template <class Use>
auto at_edge(const std::shared_ptr<KernelState>& kernel, Use&& use) -> decltype(use()) {
  if (!usable(kernel)) [[unlikely]]
    return refusal(kernel);
  return noting(*kernel, use);
}

/// Whether that is how a message ended, and not a receiver's wait, which is no error.
[[nodiscard]] inline bool is_of_message(const Error& error) noexcept { return error.message != 0; }

}  // namespace ringkernel::detail
