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

/// Declares `name` from the value of a `Result`, or returns its error from the calling function.
#define RK_TRY(name, ...)                                       \
  auto RK_TRY_CONCAT(rk_try_, __LINE__) = (__VA_ARGS__);        \
  if (!RK_TRY_CONCAT(rk_try_, __LINE__).has_value())            \
    return std::move(RK_TRY_CONCAT(rk_try_, __LINE__)).error(); \
  auto name = std::move(*RK_TRY_CONCAT(rk_try_, __LINE__))

/// The same in a coroutine whose own result is a `Result`.
#define RK_CO_TRY(name, ...)                                       \
  auto RK_TRY_CONCAT(rk_try_, __LINE__) = (__VA_ARGS__);           \
  if (!RK_TRY_CONCAT(rk_try_, __LINE__).has_value())               \
    co_return std::move(RK_TRY_CONCAT(rk_try_, __LINE__)).error(); \
  auto name = std::move(*RK_TRY_CONCAT(rk_try_, __LINE__))

/// Returns the error of a `Result<void>`, or goes on.
#define RK_TRY_VOID(...)                                                     \
  do {                                                                       \
    auto rk_try_result = (__VA_ARGS__);                                      \
    if (!rk_try_result.has_value()) return std::move(rk_try_result).error(); \
  } while (false)

/// The same in a coroutine.
#define RK_CO_TRY_VOID(...)                                                     \
  do {                                                                          \
    auto rk_try_result = (__VA_ARGS__);                                         \
    if (!rk_try_result.has_value()) co_return std::move(rk_try_result).error(); \
  } while (false)
