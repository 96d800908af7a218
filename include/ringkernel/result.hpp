/// `Result<T>`: a value or an `Error`. The synchronous half of the error model; the asynchronous
/// half is `error_code` in completion signatures.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Errors: `.value()` on an error throws `boost::system::system_error` that carries the detail.
#pragma once

#include <boost/system/result.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

#include "ringkernel/error.hpp"

namespace ringkernel {

/// A value, or the error that came instead.
template <class T>
using Result = boost::system::result<T, Error>;

/// Found by ADL from `Result<T>::value()`.
[[noreturn]] inline void throw_exception_from_error(const Error& error,
                                                    const boost::source_location&) {
  throw boost::system::system_error(error.code, error.detail);
}

}  // namespace ringkernel

#define RK_TRY_CONCAT_INNER(a, b) a##b
#define RK_TRY_CONCAT(a, b) RK_TRY_CONCAT_INNER(a, b)

// `result` is hidden, and another name each time: one may stand in a lambda of another, or beside
// it on a line. In the inline functions of a public header it would differ from file to file.
#define RK_TRY_UNIQUE RK_TRY_CONCAT(rk_try_, __COUNTER__)
#define RK_TRY_WITH(leave, result, name, ...)               \
  auto result = (__VA_ARGS__);                              \
  if (!result.has_value()) leave std::move(result).error(); \
  auto name = std::move(*result)
#define RK_TRY_VOID_WITH(leave, result, ...)                  \
  do {                                                        \
    auto result = (__VA_ARGS__);                              \
    if (!result.has_value()) leave std::move(result).error(); \
  } while (false)

/// Declares `name` from the value of a `Result`, or returns its error from the calling function.
#define RK_TRY(name, ...) RK_TRY_WITH(return, RK_TRY_UNIQUE, name, __VA_ARGS__)

/// The same in a coroutine whose own result is a `Result`.
#define RK_CO_TRY(name, ...) RK_TRY_WITH(co_return, RK_TRY_UNIQUE, name, __VA_ARGS__)

/// Returns the error of a `Result<void>`, or goes on.
#define RK_TRY_VOID(...) RK_TRY_VOID_WITH(return, RK_TRY_UNIQUE, __VA_ARGS__)

/// The same in a coroutine.
#define RK_CO_TRY_VOID(...) RK_TRY_VOID_WITH(co_return, RK_TRY_UNIQUE, __VA_ARGS__)
