/// The type-erased seam between the completion-token templates and the library: each `start_*`
/// initiates one operation and takes the handler.
///
/// Not for users. Every handler is called exactly once, on its associated executor (the system
/// executor if it has none), never from within `start_*`; but see `called_at_once` (handler.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "ringkernel/detail/handler.hpp"
#include "ringkernel/message.hpp"
#include "ringkernel/options.hpp"

namespace ringkernel {
class Kernel;
}

namespace ringkernel::detail {

class KernelState;
class RuntimeState;

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
