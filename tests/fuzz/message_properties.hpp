/// What holds for any bytes whatever that somebody calls a message.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>

#include "message/codec.hpp"

namespace ringkernel::test {

/// The errors that `Request::from_bytes` documents.
inline constexpr std::array request_errors = {
    Errc::truncated_message,  Errc::malformed_message,   Errc::unknown_field,
    Errc::message_too_large,  Errc::unsupported,         Errc::unsupported_operation,
    Errc::dtype_mismatch,     Errc::invalid_dtype,       Errc::arity_mismatch,
    Errc::broadcast_failure,  Errc::rank_mismatch,       Errc::dimension_mismatch,
    Errc::invalid_axis,       Errc::invalid_dimension,   Errc::element_count_mismatch,
    Errc::allocation_failure, Errc::invalid_permutation, Errc::not_squeezable,
    Errc::invalid_slice_step, Errc::invalid_index_dtype, Errc::out_of_bounds};

/// Those of `codec::read_reply`.
inline constexpr std::array reply_errors = {Errc::truncated_message, Errc::malformed_message,
                                            Errc::message_too_large};

/// What became of some bytes.
struct Verdict {
  Errc as_request = Errc::ok;
  Errc as_reply = Errc::ok;
  std::string violation;  ///< empty if every property holds
};

inline MessageBuffer encode(const codec::Plan& plan, const Request& request) {
  MessageBuffer message(plan.payload_bytes);
  codec::encode(plan, request, message.data());
  return message;
}

/// Bytes are refused with a documented error, or accepted; and what is accepted has one encoding,
/// which is accepted again and encodes to itself. `bytes` start at a multiple of 8.
inline Verdict check_message(std::span<const std::byte> bytes) {
  Verdict verdict;
  const auto code_of = [](const Error& error) { return static_cast<Errc>(error.code.value()); };
  if (const auto reply = codec::read_reply(bytes); !reply) {
    verdict.as_reply = code_of(reply.error());
    if (std::ranges::find(reply_errors, verdict.as_reply) == reply_errors.end())
      verdict.violation = "as a reply: " + reply.error().text();
  }
  const auto request = Request::from_bytes(bytes);
  if (!request) {
    verdict.as_request = code_of(request.error());
    if (std::ranges::find(request_errors, verdict.as_request) == request_errors.end())
      verdict.violation = "as a request: " + request.error().text();
    return verdict;
  }
  const auto plan = codec::plan(*request);
  if (!plan) {
    if (plan.error() != Errc::message_too_large) verdict.violation = "plan: " + plan.error().text();
    return verdict;
  }
  const MessageBuffer message = encode(*plan, *request);
  const auto again = Request::from_bytes(message.span());
  if (!again) {
    verdict.violation = "its own encoding: " + again.error().text();
    return verdict;
  }
  const MessageBuffer copy = encode(codec::plan(*again).value(), *again);
  if (!std::ranges::equal(message.span(), copy.span())) verdict.violation = "two encodings";
  return verdict;
}

}  // namespace ringkernel::test
