/// Typed messages for programs with a schema, on top of what flatc generates of it:
///
///     flatbuffers::FlatBufferBuilder builder;
///     builder.Finish(trading::CreateOrder(builder, 77, 12.5f, 9));
///     auto ack = book.call<trading::Ack>("Submit", ringkernel::typed<trading::Order>(builder));
///     total += (*ack)->orders();
///
/// With `flatc --gen-name-strings` the types are compared with the method's by name.
///
/// Threading: distinct objects safe.
/// Ownership: a `TypedRequest` borrows its builder's bytes; a `TypedReply` owns the reply.
/// Errors: malformed_message: the reply is no such table.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
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

template <class Table>
[[nodiscard]] TypedRequest<Table> typed(const flatbuffers::FlatBufferBuilder& builder) {
  return {std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()))};
}

/// A reply that was found to be a `Table`.
template <class Table>
class TypedReply {
 public:
  /// Of a reply that was checked.
  explicit TypedReply(Reply reply) noexcept : reply_(std::move(reply)) {}

  [[nodiscard]] const Table& operator*() const noexcept {
    return *flatbuffers::GetRoot<Table>(reply_.bytes().data());
  }
  const Table* operator->() const noexcept { return &**this; }
  [[nodiscard]] MessageId id() const noexcept { return reply_.id(); }
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

/// A reply of `call` or `receive` as the table that it is.
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

template <class ReplyTable, class RequestTable>
Result<TypedReply<ReplyTable>> Kernel::call(std::string_view name,
                                            const TypedRequest<RequestTable>& request,
                                            const SendOptions& options) {
  Result<Method> found =
      method(name, detail::name_of<RequestTable>(), detail::name_of<ReplyTable>());
  if (!found) return std::move(found).error();
  Result<Reply> reply = call(Message{*found, request.bytes}, options);
  if (!reply) return std::move(reply).error();
  return read<ReplyTable>(*std::move(reply));
}

}  // namespace ringkernel
