/// The type-erased seam between the completion-token templates and the library: each `start_*`
/// initiates one operation and takes the handler.
///
/// Not for users. Every handler is called exactly once, on its associated executor (the system
/// executor if it has none), never from within `start_*`; but see `called_at_once`.
#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/system_executor.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "ringkernel/as_result.hpp"
#include "ringkernel/message.hpp"
#include "ringkernel/options.hpp"

namespace ringkernel {
class Kernel;
}

namespace ringkernel::detail {

class KernelState;
class RuntimeState;

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

/// What a message is made of: an op with operands, plain bytes, or the request of a method. All
/// borrow.
using Content = std::variant<Request, std::span<const std::byte>, Message>;

void start_call(std::shared_ptr<KernelState> kernel, const Content& content,
                const SendOptions& options, Handler<Reply> handler);
void start_send(std::shared_ptr<KernelState> kernel, const Content& content,
                const SendOptions& options, Handler<MessageId> handler);
void start_receive(std::shared_ptr<KernelState> kernel, std::chrono::nanoseconds timeout,
                   Handler<Reply> handler);
void start_activate(std::shared_ptr<KernelState> kernel, Handler<> handler);
void start_deactivate(std::shared_ptr<KernelState> kernel, Handler<> handler);
void start_terminate(std::shared_ptr<KernelState> kernel, const TerminateOptions& options,
                     Handler<> handler);
void start_launch(std::shared_ptr<RuntimeState> runtime, std::string id, KernelOptions options,
                  Handler<Kernel> handler);

}  // namespace ringkernel::detail
