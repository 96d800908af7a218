/// Requests and replies as values. The bytes on the rings are FlatBuffers (schemas/message.fbs);
/// no generated code is visible here.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Ownership: a `Request` borrows its operands' elements until the function that takes it returns
/// (`async_*`: until the operation has been initiated); resident tensors are held until the device
/// is done with them. A `Reply` owns its bytes.
/// Errors: a `Request` is checked where it is used; see `ops.hpp` and `docs/OPS.md` for the codes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "ringkernel/message_buffer.hpp"
#include "ringkernel/op.hpp"
#include "ringkernel/result.hpp"
#include "ringkernel/tensor.hpp"

namespace ringkernel {

/// One op with its operands and attributes, not yet checked. As it is made it is a `noop`, which is
/// executed like any op and answers without a tensor.
struct Request {
  Op op = Op::noop;
  std::uint32_t input_count = 0;
  std::array<TensorView, inputs_max> inputs{};
  OpAttributes attributes{};
  /// Not 0: the resident tensor that takes the result; the reply then has no tensor.
  TensorId output = 0;

  /// The same with its result in a resident tensor that has the result's element type and shape; on
  /// a gpu any f32 tensor takes a scalar, in element 0. It may also be an operand of that shape if
  /// the op is elementwise. docs/TENSORS.md
  [[nodiscard]] Request into(const TensorView& tensor) const noexcept {
    Request request = *this;
    request.output = tensor.tensor != 0 ? tensor.tensor : no_tensor;
    return request;
  }

  /// Reads a foreign FlatBuffers `Request`: verified (depth 16, 1000 tables), then checked field by
  /// field. The result borrows operands from `bytes`, which start at a multiple of 8.
  /// Errors: truncated_message, malformed_message, unknown_field, message_too_large, unsupported
  /// (an operand that is not in the message), E6003 (op), and those of `infer`.
  [[nodiscard]] static Result<Request> from_bytes(std::span<const std::byte> bytes);
};

/// A method of a ring kernel's behaviour. `Kernel::method` gives it; it is good for all kernels of
/// that behaviour.
struct Method {
  std::uint32_t id = 0;
  std::uint32_t reply_bytes = 0;
};

/// A message for a program with a schema: its method and the request, a finished FlatBuffer.
/// Request and name are borrowed as operands are.
struct Message {
  /// No message yet.
  Message() noexcept = default;
  /// Of a method that was looked up.
  Message(const Method& of, std::span<const std::byte> bytes) noexcept
      : method(of), request(bytes) {}
  /// The method by its name, `Submit` or `trading.Book.Submit`, which is looked up each time.
  Message(std::string_view of, std::span<const std::byte> bytes) noexcept
      : request(bytes), name(of), is_named(true) {}

  Method method;
  std::span<const std::byte> request;
  std::string_view name;
  bool is_named = false;  ///< `name` says which method, and not `method`
};

/// The answer to one message: a tensor (programs of ops) or plain bytes (programs such as `echo`).
class Reply {
 public:
  Reply() noexcept = default;
  explicit Reply(MessageId id, MessageBuffer bytes = {}, std::uint16_t version = 0) noexcept
      : id_(id), version_(version), bytes_(std::move(bytes)) {}
  Reply(MessageId id, MessageBuffer bytes, const TensorView& tensor) noexcept
      : id_(id), bytes_(std::move(bytes)), tensor_(tensor) {}

  [[nodiscard]] MessageId id() const noexcept { return id_; }
  /// The payload as the device wrote it.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_.span(); }
  /// The result; dtype `none` if the reply holds plain bytes, or the result went into a resident
  /// tensor. Valid while the reply lives.
  [[nodiscard]] const TensorView& tensor() const noexcept { return tensor_; }
  /// The result's elements; empty if T is not their type.
  template <Element T>
  [[nodiscard]] std::span<const T> elements() const noexcept {
    return tensor_.elements<T>();
  }
  [[nodiscard]] std::span<const float> floats() const noexcept { return tensor_.floats(); }
  /// Which version of the program answered (SwapInfo), modulo 65536; of ops 0.
  [[nodiscard]] std::uint16_t version() const noexcept { return version_; }

 private:
  MessageId id_ = 0;
  std::uint16_t version_ = 0;
  MessageBuffer bytes_;
  TensorView tensor_{{DType::none, {}}, nullptr};
};

}  // namespace ringkernel
