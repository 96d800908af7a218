/// What the library keeps of an asynchronous operation's completion handler until the operation has
/// ended. Not for users.
#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/system_executor.hpp>
#include <utility>

#include "ringkernel/as_result.hpp"

namespace ringkernel::detail {

/// Whether a handler is called by whoever ends the operation, without its executor: the library's
/// own, which take note and neither block nor call the library. They say so by a type of that name.
template <class Concrete>
inline constexpr bool called_at_once = requires {
  typename Concrete::CalledAtOnce;
};
template <class Concrete, class... T>
inline constexpr bool called_at_once<ResultHandler<Concrete, T...>> = called_at_once<Concrete>;

/// A completion handler and its executor, type-erased. The executor and the sink of errors are
/// taken from the concrete handler: an any_completion_executor could not promise to post.
template <class... Args>
struct Handler {
  using Function = boost::asio::any_completion_handler<void(error_code, Args...)>;

  template <class Concrete>
  explicit Handler(Concrete concrete)
      : executor(boost::asio::get_associated_executor(concrete, boost::asio::system_executor())),
        sink(ErrorSinkOf<Concrete>::get(concrete)),
        at_once(called_at_once<Concrete>),
        function(std::move(concrete)) {}

  boost::asio::any_io_executor executor;
  ErrorSink sink;
  bool at_once;
  Function function;
};

}  // namespace ringkernel::detail
