/// `Kernel`: the handle of one ring kernel, by which services talk to it.
///
/// Threading: distinct and shared objects safe; a handle is cheap to copy.
/// Ownership: handles share the kernel's state; the runtime ends the kernel, not the last handle.
/// After the runtime is gone every operation answers runtime_closed.
/// Errors: `Result` for synchronous functions, `error_code` in completion signatures, where the
/// token `as_result` gives the same `Result`, with its text. An op's own errors (E-codes) come
/// before anything reaches a ring.
///
/// Every `async_*` function calls its handler exactly once, on the handler's associated executor,
/// never from within the initiating function, and supports total, partial and terminal cancellation
/// where it waits for a message: the handler gets `operation_aborted`; a message that the device
/// has already is executed all the same, and its late reply is counted and thrown away. A handler
/// whose execution context (an io_context) goes before is destroyed with it, uncalled, as those of
/// Asio's own operations are; what it waited for is cancelled.
#pragma once

#include <boost/asio/async_result.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ringkernel/detail/operation.hpp"
#include "ringkernel/message.hpp"
#include "ringkernel/options.hpp"
#include "ringkernel/prepared_call.hpp"
#include "ringkernel/program.hpp"
#include "ringkernel/result.hpp"
#include "ringkernel/telemetry.hpp"

namespace ringkernel {

/// Borrowed for the call.
using Bytes = std::span<const std::byte>;

template <class Table>
class TypedReply;  // typed.hpp, as are the next three
template <class Table>
struct TypedRequest;
template <class ReplyTable>
struct TypedMessage;
template <class RequestTable, class ReplyTable>
struct TypedMethod;

/// The handle of one ring kernel.
class Kernel {
 public:
  /// An empty handle: every operation answers kernel_not_found.
  Kernel() noexcept = default;
  explicit Kernel(std::shared_ptr<detail::KernelState> state) noexcept : state_(std::move(state)) {}

  [[nodiscard]] std::string id() const;
  [[nodiscard]] KernelStatus status() const;
  /// Takes microseconds, beside the traffic; with `dma` and `sliced` also a copy from the device.
  [[nodiscard]] KernelMetrics metrics() const;
  /// Messages that await their outcome, longest first, at most `count`; looks at all of them.
  [[nodiscard]] std::vector<CallInFlight> calls(std::size_t count) const;

  // --- lifecycle ------------------------------------------------------------------------------

  /// launched, deactivated -> active. Errors: invalid_state, runtime_closed, E6008.
  Result<void> activate();

  /// active -> deactivated. Returns when the device has let go of the kernel: the record in hand is
  /// finished, the others stay queued. Errors: invalid_state, E6007 after `termination_timeout`.
  Result<void> deactivate();

  /// Any state -> terminated. Messages without a reply end with kernel_terminated. Idempotent: a
  /// second call waits for the first. Errors: E6007 if the device did not let go in time.
  Result<void> terminate(const TerminateOptions& options = {});

  /// The same with a token. Signature: void(error_code).
  template <class Token>
  auto async_activate(Token&& token) {
    return initiate<>(
        [](auto handler, auto state) {
          detail::start_activate(std::move(state), std::move(handler));
        },
        std::forward<Token>(token));
  }
  /// As `deactivate`. Signature: void(error_code).
  template <class Token>
  auto async_deactivate(Token&& token) {
    return initiate<>(
        [](auto handler, auto state) {
          detail::start_deactivate(std::move(state), std::move(handler));
        },
        std::forward<Token>(token));
  }
  /// As `terminate`. Signature: void(error_code).
  template <class Token>
  auto async_terminate(const TerminateOptions& options, Token&& token) {
    return initiate<>(
        [options](auto handler, auto state) {
          detail::start_terminate(std::move(state), options, std::move(handler));
        },
        std::forward<Token>(token));
  }
  /// The same with the default options.
  template <class Token>
  auto async_terminate(Token&& token) {
    return async_terminate(TerminateOptions{}, std::forward<Token>(token));
  }

  // --- request and reply ----------------------------------------------------------------------

  /// Sends and waits for the reply to this very message. The calling thread drives the rings itself
  /// if nobody else does. A kernel that was never active answers invalid_state at once; on one that
  /// was deactivated the message waits, as all others, until it is activated again or the time is
  /// up. Errors: those of the op; invalid_state, queue_full, message_dropped, message_too_large;
  /// deadline_exceeded, kernel_terminated, runtime_closed, E6008; device faults.
  [[nodiscard]] Result<Reply> call(const Request& request, const SendOptions& options = {});
  [[nodiscard]] Result<Reply> call(Bytes message, const SendOptions& options = {});
  [[nodiscard]] Result<Reply> call(const Message& message, const SendOptions& options = {});
  /// A method by its name, `Submit` or `trading.Book.Submit`, as `Message(name, request)`. What is
  /// called often asks for the `method` once.
  [[nodiscard]] Result<Reply> call(std::string_view method, Bytes request,
                                   const SendOptions& options = {});
  /// The same with types that flatc has made of the schema; needs ringkernel/typed.hpp. The reply
  /// is verified, and read in place. Errors besides: malformed_message, invalid_argument where the
  /// types are not the method's.
  template <class ReplyTable, class RequestTable>
  [[nodiscard]] Result<TypedReply<ReplyTable>> call(std::string_view method,
                                                    const TypedRequest<RequestTable>& request,
                                                    const SendOptions& options = {});
  /// The same with a method whose types were compared once: `call(submit(builder))`.
  template <class ReplyTable>
  [[nodiscard]] Result<TypedReply<ReplyTable>> call(const TypedMessage<ReplyTable>& message,
                                                    const SendOptions& options = {});
  /// Each of these with a timeout, of any unit, in the place of options.
  template <class Rep, class Period>
  [[nodiscard]] Result<Reply> call(const Request& request,
                                   std::chrono::duration<Rep, Period> timeout) {
    return call(request, SendOptions{.timeout = timeout});
  }
  template <class Rep, class Period>
  [[nodiscard]] Result<Reply> call(Bytes message, std::chrono::duration<Rep, Period> timeout) {
    return call(message, SendOptions{.timeout = timeout});
  }
  template <class Rep, class Period>
  [[nodiscard]] Result<Reply> call(const Message& message,
                                   std::chrono::duration<Rep, Period> timeout) {
    return call(message, SendOptions{.timeout = timeout});
  }
  template <class Rep, class Period>
  [[nodiscard]] Result<Reply> call(std::string_view method, Bytes request,
                                   std::chrono::duration<Rep, Period> timeout) {
    return call(method, request, SendOptions{.timeout = timeout});
  }
  template <class ReplyTable, class RequestTable, class Rep, class Period>
  [[nodiscard]] Result<TypedReply<ReplyTable>> call(std::string_view method,
                                                    const TypedRequest<RequestTable>& request,
                                                    std::chrono::duration<Rep, Period> timeout) {
    return call<ReplyTable>(method, request, SendOptions{.timeout = timeout});
  }
  template <class ReplyTable, class Rep, class Period>
  [[nodiscard]] Result<TypedReply<ReplyTable>> call(const TypedMessage<ReplyTable>& message,
                                                    std::chrono::duration<Rep, Period> timeout) {
    return call(message, SendOptions{.timeout = timeout});
  }

  /// The same with a token. Completes when the reply is there or the message has ended otherwise.
  /// Signature: void(error_code, Reply). `content` is a Request, Bytes or a Message, borrowed until
  /// initiated. On the native backend the initiating thread runs the op if it can, and if the
  /// message has no timeout of its own; otherwise it may poll for up to 5 us. While ops take over
  /// 100 us most of them are left to other threads.
  template <class Content, class Token>
  auto async_call(const Content& content, const SendOptions& options, Token&& token) {
    return initiate<Reply>(
        [content = detail::Content(content), options](auto handler, auto state) {
          detail::start_call(std::move(state), content, options, std::move(handler));
        },
        std::forward<Token>(token));
  }
  template <class Content, class Token>
  auto async_call(const Content& content, Token&& token) {
    return async_call(content, SendOptions{}, std::forward<Token>(token));
  }
  /// Of a typed message. The reply is verified by the handler's thread.
  /// Signature: void(error_code, TypedReply<ReplyTable>), whose reply is empty with an error.
  template <class ReplyTable, class Token>
  auto async_call(const TypedMessage<ReplyTable>& message, const SendOptions& options,
                  Token&& token);
  template <class ReplyTable, class Token>
  auto async_call(const TypedMessage<ReplyTable>& message, Token&& token) {
    return async_call(message, SendOptions{}, std::forward<Token>(token));
  }

  /// Checks, plans and lays out a request that will be made again and again, with the same shapes,
  /// attributes and resident tensors; its operands' elements must be there, and are not read.
  /// Errors: unsupported_operation, and those of the op; whether its resident tensors are there is
  /// found by each call.
  [[nodiscard]] Result<PreparedCall> prepare(const Request& request);

  // --- programs of your own (program.hpp, docs/PROGRAMS.md) -----------------------------------

  /// The method of this kernel's behaviour with that name, short or full. Errors: unknown_method,
  /// with those that there are; unsupported_operation for a program without a schema.
  [[nodiscard]] Result<Method> method(std::string_view name) const;
  /// The same, where request and reply are tables of these full names; null: of any.
  [[nodiscard]] Result<Method> method(std::string_view name, const char* request,
                                      const char* reply) const;
  /// The same with its types, for calls that need neither look-up nor comparison (typed.hpp).
  template <class RequestTable, class ReplyTable>
  [[nodiscard]] Result<TypedMethod<RequestTable, ReplyTable>> method(std::string_view name) const;
  /// The schema that its program has now, and its behaviour in that. Errors:
  /// unsupported_operation for a program without a schema.
  [[nodiscard]] Result<KernelInterface> interface() const;
  /// The state of a kernel that the device does not work on: launched or deactivated. `bytes` are
  /// as many as the state has. Errors: invalid_state, invalid_argument.
  Result<void> read_state(std::span<std::byte> bytes) const;
  /// As `read_state`.
  Result<void> write_state(Bytes bytes);
  /// The same as the struct that flatc, or the generated header, has for it.
  template <class State>
  [[nodiscard]] Result<State> read_state() const {
    static_assert(std::is_trivially_copyable_v<State>);
    State state;
    if (Result<void> read = read_state(std::as_writable_bytes(std::span(&state, 1))); !read)
      return std::move(read).error();
    return state;
  }
  /// As `read_state`.
  template <class State>
  requires std::is_trivially_copyable_v<State> Result<void> write_state(const State& state) {
    return write_state(std::as_bytes(std::span(&state, 1)));
  }
  /// The state as JSON by the program's schema, at any time: an active kernel pauses for the copy,
  /// and its messages wait meanwhile. Without a schema: its bytes, a string of hexadecimal digits.
  /// Errors: invalid_state of one that has ended; state_mismatch, if it has no state, or one that
  /// was not migrated; busy, if the device was busy with a message for `termination_timeout`.
  [[nodiscard]] Result<std::string> state_json() const;

  // --- plain messages -------------------------------------------------------------------------

  /// Accepts a message whose outcome `receive` will give: one outcome for each accepted message, in
  /// the order in which they ended; those that end together, for instance with the kernel, in the
  /// order in which they were accepted. A kernel that is not active takes messages too, for later.
  /// Each keeps its place, one of `in_flight_max`, until its outcome has been received: whoever
  /// only sends finds no room in the end, waits for `send_timeout`, and gets queue_full. Errors: as
  /// `call`, up to the acceptance, invalid_state excepted.
  Result<MessageId> send(const Request& request, const SendOptions& options = {});
  Result<MessageId> send(Bytes message, const SendOptions& options = {});
  Result<MessageId> send(const Message& message, const SendOptions& options = {});

  /// Sends several messages, in order, with one publication for as many as fit the ring at once:
  /// for pipelines, where the cost of a single send is what limits. Returns how many were accepted,
  /// from the first on; fewer than all only if the next one was refused. Errors: as `send`, if the
  /// first one was refused.
  Result<std::size_t> send_all(std::span<const Request> requests, const SendOptions& options = {});
  Result<std::size_t> send_all(std::span<const Bytes> messages, const SendOptions& options = {});
  Result<std::size_t> send_all(std::span<const Message> messages, const SendOptions& options = {});

  /// The next outcome of a plain message: its reply, or its error with `Error::message` set.
  /// Errors besides: deadline_exceeded if none came in time; once the kernel has ended and the
  /// mailbox is empty, the reason.
  [[nodiscard]] Result<Reply> receive(std::chrono::nanoseconds timeout);

  /// The outcomes that are there, in their order, at least one and at most `outcomes.size()`; waits
  /// for the first. For pipelines, like `send_all`. Returns how many it wrote; each is a reply, or
  /// the error of its message. Whatever `outcomes` held is gone. Errors: those of `receive` that
  /// are no message's.
  [[nodiscard]] Result<std::size_t> receive_some(std::span<Result<Reply>> outcomes,
                                                 std::chrono::nanoseconds timeout);

  /// Completes when the message is accepted. Signature: void(error_code, MessageId).
  template <class Content, class Token>
  auto async_send(const Content& content, const SendOptions& options, Token&& token) {
    return initiate<MessageId>(
        [content = detail::Content(content), options](auto handler, auto state) {
          detail::start_send(std::move(state), content, options, std::move(handler));
        },
        std::forward<Token>(token));
  }
  template <class Content, class Token>
  auto async_send(const Content& content, Token&& token) {
    return async_send(content, SendOptions{}, std::forward<Token>(token));
  }

  /// Completes with the next outcome of a plain message; zero timeout: waits for ever.
  /// Signature: void(error_code, Reply); with an error, `Reply::id()` names the message, 0 if none.
  template <class Token>
  auto async_receive(std::chrono::nanoseconds timeout, Token&& token) {
    return initiate<Reply>(
        [timeout](auto handler, auto state) {
          detail::start_receive(std::move(state), timeout, std::move(handler));
        },
        std::forward<Token>(token));
  }
  template <class Token>
  auto async_receive(Token&& token) {
    return async_receive(std::chrono::nanoseconds(0), std::forward<Token>(token));
  }

 private:
  template <class... Args, class Start, class Token>
  auto initiate(Start start, Token&& token) {
    return boost::asio::async_initiate<Token, void(error_code, Args...)>(
        [](auto handler, Start start_operation, std::shared_ptr<detail::KernelState> state) {
          start_operation(detail::Handler<Args...>(std::move(handler)), std::move(state));
        },
        token, std::move(start), state_);
  }

  std::shared_ptr<detail::KernelState> state_;
};

}  // namespace ringkernel
