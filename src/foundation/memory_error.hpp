/// Where std::bad_alloc ends: at the edge of the public interface it becomes E6004; below, where
/// nobody can be told, what was to be done is left for later.
///
/// Threading: any thread.
/// Errors: none of this needs memory.
#pragma once

#include <new>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ringkernel/result.hpp"

namespace ringkernel {

/// E6004, without a text of its own.
[[nodiscard]] inline Error no_memory() noexcept {
  return Error(make_error_code(Errc::allocation_failure));
}

/// Whether that is why a Result is an error.
[[nodiscard]] bool has_no_memory(const auto& result) noexcept {
  return !result && result.error() == Errc::allocation_failure;
}

/// What `body` gives, a Result. Every public function that has one is inside this.
template <class Body>
std::invoke_result_t<Body&> or_no_memory(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return no_memory();
  } catch (const std::length_error&) {  // more than any container holds
    return no_memory();
  }
}

/// False: there was no memory. `body` leaves everything such that it can be tried again, or left.
template <class Body>
bool with_memory(Body&& body) noexcept {
  try {
    body();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// With the text, if there is memory for it: an error that says what has to be done must not become
/// another one.
[[nodiscard]] inline Error error_of(Errc code, std::string_view detail) noexcept {
  Error error(make_error_code(code));
  (void)with_memory([&] { error.detail = detail; });
  return error;
}

}  // namespace ringkernel
