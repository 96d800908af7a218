/// Typed messages for programs with a schema, on top of what flatc generates of it:
///
///     RK_TRY(submit, book.method<trading::Order, trading::Ack>("Submit"));  // once
///
///     flatbuffers::FlatBufferBuilder builder;
///     builder.Finish(trading::CreateOrder(builder, 77, 12.5f, 9));
///     RK_TRY(ack, book.call(submit(builder)));
///     total += ack->orders();
///
/// or, with a look-up each time,
/// `book.call<trading::Ack>("Submit", ringkernel::typed<trading::Order>(builder))`.
/// With `flatc --gen-name-strings` the types are compared with the method's by name.
///
/// Threading: distinct objects safe; a `TypedMethod` is only read.
/// Ownership: requests and messages borrow their builder's bytes; a `TypedReply` owns the reply.
/// Errors: malformed_message: the reply is no such table.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <boost/asio/async_result.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "ringkernel/kernel.hpp"

namespace ringkernel {

/// A finished FlatBuffer whose root is a `Table`.
template <class Table>
struct TypedRequest {
  Bytes bytes;
};

/// Of a finished builder whose root is a `Table`; borrows its bytes.
template <class Table>
[[nodiscard]] TypedRequest<Table> typed(const flatbuffers::FlatBufferBuilder& builder) {
  return {std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()))};
}

/// A message whose reply is a `ReplyTable`: for `Kernel::call`, `async_call`, `send`, `send_all`.
template <class ReplyTable>
struct TypedMessage : Message {
  using Message::Message;
};

/// A method with the types of its request and its reply. `Kernel::method` gives it; it is good for
/// all kernels of that behaviour.
template <class RequestTable, class ReplyTable>
struct TypedMethod {
  Method method;

  /// The message of a finished request.
  [[nodiscard]] TypedMessage<ReplyTable> operator()(
      const TypedRequest<RequestTable>& request) const noexcept {
    return {method, request.bytes};
  }
  /// Of a builder whose root is a `RequestTable`.
  [[nodiscard]] TypedMessage<ReplyTable> operator()(
      const flatbuffers::FlatBufferBuilder& builder) const {
    return (*this)(typed<RequestTable>(builder));
  }
};

/// A reply that was found to be a `Table`; an empty one has none.
template <class Table>
class TypedReply {
 public:
  TypedReply() noexcept = default;
  /// Of a reply that was checked.
  explicit TypedReply(Reply reply) noexcept : reply_(std::move(reply)) {}

  /// Precondition, as of the next: it is not empty.
  [[nodiscard]] const Table& operator*() const noexcept {
    return *flatbuffers::GetRoot<Table>(reply_.bytes().data());
  }
  const Table* operator->() const noexcept { return &**this; }
  [[nodiscard]] MessageId id() const noexcept { return reply_.id(); }
  /// Which version of the program answered, as `Reply::version`.
  [[nodiscard]] std::uint16_t version() const noexcept { return reply_.version(); }
  [[nodiscard]] const Reply& reply() const noexcept { return reply_; }

 private:
  Reply reply_;
};

namespace detail {

/// The full name that flatc was asked for; null otherwise.
template <class Table>
[[nodiscard]] constexpr const char* name_of() noexcept {
  if constexpr (requires { Table::GetFullyQualifiedName(); })
    return Table::GetFullyQualifiedName();
  else
    return nullptr;
}

}  // namespace detail

/// A reply of `async_receive`, or of a call without types, as the table that it is.
template <class Table>
[[nodiscard]] Result<TypedReply<Table>> read(Reply reply) {
  const std::span<const std::byte> bytes = reply.bytes();
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (!verifier.VerifyBuffer<Table>(nullptr)) {
    const char* const name = detail::name_of<Table>();
    Error error(Errc::malformed_message,
                std::string("the reply is no ") + (name != nullptr ? name : "table of that type"));
    error.message = reply.id();
    return error;
  }
  return TypedReply<Table>(std::move(reply));
}

/// The same of what `call` or `receive` gave: `read<trading::Ack>(book.receive(1s))`.
template <class Table>
[[nodiscard]] Result<TypedReply<Table>> read(Result<Reply> reply) {
  if (!reply) return std::move(reply).error();
  return read<Table>(*std::move(reply));
}

namespace detail {

/// Calls `handler` with the table that the reply is found to be.
template <class Concrete, class Table>
struct TypedHandler {
  Concrete handler;

  void operator()(error_code code, Reply reply) {
    if (code.failed()) return std::move(handler)(code, TypedReply<Table>());
    Result<TypedReply<Table>> read_reply = read<Table>(std::move(reply));
    if (read_reply) return std::move(handler)(error_code(), *std::move(read_reply));
    Error error = std::move(read_reply).error();
    const error_code why = error.code;
    if (const ErrorSink sink = ErrorSinkOf<Concrete>::get(handler)) *sink = std::move(error);
    std::move(handler)(why, TypedReply<Table>());
  }
};

}  // namespace detail

template <class ReplyTable, class RequestTable>
Result<TypedReply<ReplyTable>> Kernel::call(std::string_view name,
                                            const TypedRequest<RequestTable>& request,
                                            const SendOptions& options) {
  Result<TypedMethod<RequestTable, ReplyTable>> found = method<RequestTable, ReplyTable>(name);
  if (!found) return std::move(found).error();
  return call((*found)(request), options);
}

template <class ReplyTable>
Result<TypedReply<ReplyTable>> Kernel::call(const TypedMessage<ReplyTable>& message,
                                            const SendOptions& options) {
  return read<ReplyTable>(call(static_cast<const Message&>(message), options));
}

template <class ReplyTable, class Token>
auto Kernel::async_call(const TypedMessage<ReplyTable>& message, const SendOptions& options,
                        Token&& token) {
  return boost::asio::async_initiate<Token, void(error_code, TypedReply<ReplyTable>)>(
      [](auto handler, std::shared_ptr<detail::KernelState> state, const Message& content,
         const SendOptions& send_options) {
        using Typed = detail::TypedHandler<decltype(handler), ReplyTable>;
        detail::start_call(std::move(state), content, send_options,
                           detail::Handler<Reply>(Typed{std::move(handler)}));
      },
      token, state_, static_cast<const Message&>(message), options);
}

template <class RequestTable, class ReplyTable>
Result<TypedMethod<RequestTable, ReplyTable>> Kernel::method(std::string_view name) const {
  Result<Method> found =
      method(name, detail::name_of<RequestTable>(), detail::name_of<ReplyTable>());
  if (!found) return std::move(found).error();
  return TypedMethod<RequestTable, ReplyTable>{*found};
}

}  // namespace ringkernel

template <template <class, class> class Associator, class Concrete, class Table, class Default>
struct boost::asio::associator<Associator, ringkernel::detail::TypedHandler<Concrete, Table>,
                               Default> : Associator<Concrete, Default> {
  static auto get(const ringkernel::detail::TypedHandler<Concrete, Table>& handler) noexcept {
    return Associator<Concrete, Default>::get(handler.handler);
  }
  static auto get(const ringkernel::detail::TypedHandler<Concrete, Table>& handler,
                  const Default& fallback) noexcept {
    return Associator<Concrete, Default>::get(handler.handler, fallback);
  }
};
