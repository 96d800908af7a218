/// `as_result`: a completion token that gives a `Result`, so that the text of an asynchronous error
/// arrives with it: an operation void(error_code, T) becomes void(Result<T>).
///
///     rk::Result<rk::Reply> reply =
///         co_await kernel.async_call(request, rk::as_result(asio::use_awaitable));
///     if (!reply) log(reply.error().text());  // "E6001 ...: index 7 at position 1"
///
/// It stands inside and outside of adapters such as `bind_executor`, and in the place of `as_tuple`
/// and `redirect_error`: behind it there is no code for these to find.
/// `RK_CO_TRY` (result.hpp) takes what it gives. Errors: std::bad_alloc where the operation starts.
///
/// Threading: as the token inside.
/// Ownership: holds that token.
#pragma once

#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <memory>
#include <type_traits>
#include <utility>

#include "ringkernel/result.hpp"

namespace ringkernel {

/// A completion token around another one, made by `as_result`.
template <class Token>
struct AsResult {
  Token token;
};

/// `token`, but the handler gets a `Result` with the text of the error, instead of an `error_code`.
template <class Token>
[[nodiscard]] constexpr AsResult<std::decay_t<Token>> as_result(Token&& token) {
  return {std::forward<Token>(token)};
}

namespace detail {

/// Where a handler wants the error behind its code, before it is called; null: it does not.
using ErrorSink = std::shared_ptr<Error>;

/// The sink of a handler, or of the one that an adapter has around it.
template <class Concrete, class Default = ErrorSink>
struct ErrorSinkOf {
  using type = Default;  // NOLINT(readability-identifier-naming): Asio asks for it
  static type get(const Concrete&, const Default& fallback = Default()) noexcept {
    return fallback;
  }
};
template <class Concrete, class Default>
requires requires { typename boost::asio::associator<ErrorSinkOf, Concrete, Default>::type; }
struct ErrorSinkOf<Concrete, Default> : boost::asio::associator<ErrorSinkOf, Concrete, Default> {};

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
  ErrorSink sink;

  void operator()(error_code code, T... value) {
    using Ended = ResultOf<T...>;
    if (!code.failed())
      return std::move(handler)(Ended(boost::system::in_place_value, std::move(value)...));
    // Nobody fills the sink of an operation that is not ours.
    std::move(handler)(Ended(sink->code == code ? std::move(*sink) : Error(code)));
  }
};
template <class Concrete, class... T, class Default>
struct ErrorSinkOf<ResultHandler<Concrete, T...>, Default> {
  using type = ErrorSink;  // NOLINT(readability-identifier-naming): as above
  static type get(const ResultHandler<Concrete, T...>& handler,
                  const Default& = Default()) noexcept {
    return handler.sink;
  }
};

/// What Boost 1.81's adapters ask of the token inside.
template <class Inner>
struct ReturnTypeOf {};
template <class Inner>
requires requires { typename Inner::return_type; }
struct ReturnTypeOf<Inner> {
  using return_type = typename Inner::return_type;
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
class boost::asio::async_result<ringkernel::AsResult<Token>, void(boost::system::error_code, T...)>
    : public ringkernel::detail::ReturnTypeOf<
          boost::asio::async_result<Token, void(ringkernel::detail::ResultOf<T...>)>> {
 public:
  template <class Initiation, class... Args>
  static auto initiate(Initiation&& initiation, ringkernel::AsResult<Token> token, Args&&... args) {
    return async_initiate<Token, void(ringkernel::detail::ResultOf<T...>)>(
        [initiation = std::forward<Initiation>(initiation)](auto handler, auto&&... given) mutable {
          std::move(initiation)(
              ringkernel::detail::ResultHandler<decltype(handler), T...>{
                  std::move(handler), std::make_shared<ringkernel::Error>()},
              std::forward<decltype(given)>(given)...);
        },
        token.token, std::forward<Args>(args)...);
  }
};
