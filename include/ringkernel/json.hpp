/// JSON for programs with a schema: calls by name for tools, tests and gateways, which know a
/// program's messages only at run time. Of the library `ringkernel::schema`, which brings the
/// parser of FlatBuffers along.
///
///     RK_TRY(codec, ringkernel::JsonCodec::of(book));
///     RK_TRY(ack, ringkernel::call_json(book, codec, "Submit", R"({"id": 77, "price": 12.5})"));
///     log(ack);  // {"orders": 1,"exposure": 18.75}
///
/// The conversions take many times what a call with bytes does: `json_order_ns` of bench programs.
///
/// JSON from anybody is safe to parse. Fields that the schema does not have, integers that do not
/// fit, and missing required fields are errors. FlatBuffers' parser also takes strings for numbers
/// ("12"), functions (sin(90)) and floats that become infinity (1e40), and writes nan and inf,
/// which JSON does not have.
///
/// Threading: distinct objects safe, shared objects unsafe: a codec for each thread.
/// Errors: malformed_request, "Submit:2:13: unknown field: quantity"; unknown_method;
/// malformed_message: the bytes are no such table; allocation_failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ringkernel/kernel.hpp"
#include "ringkernel/program.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel {

/// Messages and state of one behaviour, from JSON to FlatBuffers and back.
class JsonCodec {
 public:
  /// `behaviour` may be left out if the schema has only one. Errors: invalid_argument.
  [[nodiscard]] static Result<JsonCodec> open(const Schema& schema,
                                              std::string_view behaviour = {});

  /// By the schema of the kernel's own program, as it is now: a version that adds methods wants a
  /// new codec. Errors: those of `Kernel::interface`.
  [[nodiscard]] static Result<JsonCodec> of(const Kernel& kernel) {
    Result<KernelInterface> known = kernel.interface();
    if (!known) return std::move(known).error();
    return open(known->schema, known->behaviour);
  }

  /// The request of a method, as a finished FlatBuffer.
  [[nodiscard]] Result<std::vector<std::byte>> to_request(std::string_view method,
                                                          std::string_view json);
  /// One line. Fields with default values are there, too. The bytes are verified.
  [[nodiscard]] Result<std::string> from_reply(std::string_view method, Bytes reply);

  /// Of the state; 0: the behaviour has none, and the next two answer state_mismatch.
  [[nodiscard]] std::uint32_t state_bytes() const noexcept;
  /// The state, as the bytes of its struct.
  [[nodiscard]] Result<std::vector<std::byte>> to_state(std::string_view json);
  /// One line, of as many bytes as the state has.
  [[nodiscard]] Result<std::string> from_state(Bytes state);

  JsonCodec(JsonCodec&&) noexcept;
  JsonCodec& operator=(JsonCodec&&) noexcept;
  ~JsonCodec();

 private:
  class Impl;
  explicit JsonCodec(std::unique_ptr<Impl> impl) noexcept;

  std::unique_ptr<Impl> impl_;
};

/// As `Kernel::call`, and its errors.
[[nodiscard]] inline Result<std::string> call_json(Kernel& kernel, JsonCodec& codec,
                                                   std::string_view method, std::string_view json,
                                                   const SendOptions& options = {}) {
  Result<std::vector<std::byte>> request = codec.to_request(method, json);
  if (!request) return std::move(request).error();
  Result<Reply> reply = kernel.call(method, *request, options);
  if (!reply) return std::move(reply).error();
  return codec.from_reply(method, reply->bytes());
}

/// As `Kernel::read_state` and `write_state`, and their errors. Kernel::state_json needs no codec,
/// and works while the kernel is active.
[[nodiscard]] inline Result<std::string> read_state_json(const Kernel& kernel, JsonCodec& codec) {
  std::vector<std::byte> state(codec.state_bytes());
  if (Result<void> read = kernel.read_state(state); !read) return std::move(read).error();
  return codec.from_state(state);
}
/// The state from JSON, as `Kernel::write_state`.
inline Result<void> write_state_json(Kernel& kernel, JsonCodec& codec, std::string_view json) {
  Result<std::vector<std::byte>> state = codec.to_state(json);
  if (!state) return std::move(state).error();
  return kernel.write_state(*state);
}

}  // namespace ringkernel
