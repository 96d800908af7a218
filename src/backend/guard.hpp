/// The seam between C++ and the C backend interface: no exception crosses it, and a failure leaves
/// its text where `last_detail` finds it.
///
/// Threading: any thread; the text belongs to the thread that failed.
/// Ownership: the text stays valid until the next failing call on the same thread.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "foundation/memory_error.hpp"
#include "foundation/of_thread.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::backend {

/// The text of the last failure on this thread; empty also where there was no memory for it.
inline const char* last_detail_text() noexcept {
  const std::string* const text = of_thread<std::string>();
  return text != nullptr ? text->c_str() : "";
}

/// Keeps `detail` for `last_detail` and returns `code` as a status.
inline int32_t fail(Errc code, std::string detail = {}) noexcept {
  if (std::string* const text = of_thread<std::string>()) *text = std::move(detail);
  return static_cast<int32_t>(code);
}

/// Runs `body`, which returns `Result<void>`, and turns its error or exception into a status.
template <class Body>
int32_t guarded(Body&& body) noexcept {
  try {
    Result<void> result = std::forward<Body>(body)();
    if (result.has_value()) return 0;
    return fail(static_cast<Errc>(result.error().code.value()), std::move(result.error().detail));
  } catch (const std::bad_alloc&) {
    return fail(Errc::allocation_failure);
  } catch (const std::exception& error) {
    std::string text;
    (void)with_memory([&] { text = error.what(); });
    return fail(Errc::internal, std::move(text));
  } catch (...) {
    return fail(Errc::internal);
  }
}

}  // namespace ringkernel::backend
