/// `as_result`: a completion token that gives a `Result`, so that the text of an asynchronous error
/// arrives with it: an operation void(error_code, T) becomes void(Result<T>).
///
///     rk::Result<rk::Reply> reply =
///         co_await kernel.async_call(request, rk::as_result(asio::use_awaitable));
///     if (!reply) log(reply.error().text());  // "E6001 ...: index 7 at position 1"
///
/// Works with every token, inside and outside of adapters such as `bind_executor`. `RK_CO_TRY`
/// (result.hpp) takes what it gives.
///
/// Threading: as the token inside.
/// Ownership: holds that token.
#pragma once

#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <type_traits>
#include <utility>

#include "ringkernel/result.hpp"

namespace ringkernel {

template <class Token>
struct AsResult {
  Token token;
};

template <class Token>
[[nodiscard]] constexpr AsResult<std::decay_t<Token>> as_result(Token&& token) {
  return {std::forward<Token>(token)};
}

namespace detail {

/// The code with which an operation ended, as every handler takes it, and the error behind it.
class AsyncError : public error_code {
 public:
  explicit AsyncError(Error error) noexcept : error_code(error.code), error_(std::move(error)) {}
  [[nodiscard]] Error take() noexcept { return std::move(error_); }

 private:
  Error error_;
};

/// Result<T>, or Result<void> of nothing.
template <class T = void, class...>
struct OneOf {
  using Type = T;
};
template <class... T>
using ResultOf = Result<typename OneOf<T...>::Type>;

/// Calls `handler` with the Result.
template <class Concrete, class... T>
struct ResultHandler {
  Concrete handler;

  void operator()(AsyncError end, T... value) {
    const bool has_failed = end.failed();
    finish(has_failed, end.take(), std::move(value)...);
  }
  /// Of an operation that is not ours.
  void operator()(error_code code, T... value) {
    finish(code.failed(), Error(code), std::move(value)...);
  }

 private:
  void finish(bool has_failed, Error error, T... value) {
    using Ended = ResultOf<T...>;
    std::move(handler)(has_failed ? Ended(std::move(error))
                                  : Ended(boost::system::in_place_value, std::move(value)...));
  }
};

}  // namespace detail
}  // namespace ringkernel

template <template <class, class> class Associator, class Concrete, class... T, class Default>
struct boost::asio::associator<Associator, ringkernel::detail::ResultHandler<Concrete, T...>,
                               Default> : Associator<Concrete, Default> {
  static auto get(const ringkernel::detail::ResultHandler<Concrete, T...>& handler) noexcept {
    return Associator<Concrete, Default>::get(handler.handler);
  }
  static auto get(const ringkernel::detail::ResultHandler<Concrete, T...>& handler,
                  const Default& fallback) noexcept {
    return Associator<Concrete, Default>::get(handler.handler, fallback);
  }
};

template <class Token, class... T>
class boost::asio::async_result<ringkernel::AsResult<Token>,
                                void(boost::system::error_code, T...)> {
 public:
  template <class Initiation, class... Args>
  static auto initiate(Initiation&& initiation, ringkernel::AsResult<Token> token, Args&&... args) {
    return async_initiate<Token, void(ringkernel::detail::ResultOf<T...>)>(
        [initiation = std::forward<Initiation>(initiation)](auto handler, auto&&... given) mutable {
          std::move(initiation)(
              ringkernel::detail::ResultHandler<decltype(handler), T...>{std::move(handler)},
              std::forward<decltype(given)>(given)...);
        },
        token.token, std::forward<Args>(args)...);
  }
};
