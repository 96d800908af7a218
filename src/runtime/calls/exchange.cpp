#include "runtime/calls/exchange.hpp"

#include <algorithm>
#include <utility>

#include "foundation/scope_guard.hpp"
#include "foundation/timeout.hpp"
#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/fault.h"

namespace ringkernel::detail {
namespace {

bridge::Timeout receive_timeout(std::chrono::nanoseconds timeout) noexcept {
  return bridge::Timeout(bounded_ns(timeout));
}

/// How long a message may take; bridge::no_deadline: for ever.
std::uint64_t timeout_ns(const SendOptions& options,
                         std::chrono::nanoseconds default_timeout) noexcept {
  const auto timeout = options.timeout.count() != 0 ? options.timeout : default_timeout;
  if (timeout.count() == 0) return bridge::no_deadline;
  return bounded_ns(timeout);
}

}  // namespace

// --- laying out -------------------------------------------------------------------------------

void PreparedMessage::write(std::byte* payload) noexcept {
  if (request == nullptr) {
    std::copy_n(bytes.data(), bytes.size(), payload);  // an empty message has no data
    return;
  }
  if (in_pieces)
    codec::encode(plan, pieces, payload);
  else
    codec::encode(plan, *request, payload);
  if (held != nullptr) [[unlikely]]
    codec::place(plan, held.release()->offsets(), payload);
}

void PreparedMessage::lay_out(const codec::Plan& laid_out) noexcept {
  plan = laid_out;
  envelope.payload_bytes = plan.payload_bytes;
  envelope.selector = plan.command_offset;
  envelope.prefix_offset = plan.prefix_offset;
  envelope.prefix_bytes = plan.prefix_bytes;
  envelope.reply_bytes = plan.reply_bytes;
}

void PreparedMessage::lay_out(const codec::Plan& laid_out, const Request& kind,
                              std::span<const codec::Piece> operands) noexcept {
  request = &kind;
  pieces = operands;
  in_pieces = true;
  lay_out(laid_out);
}

Exchange::Exchange(Parts parts)
    : id_(parts.id),
      channel_(std::move(parts.channel)),
      program_(parts.program),
      lifecycle_(parts.lifecycle),
      tensors_(parts.tensors),
      clock_(parts.clock),
      call_timeout_(parts.call_timeout),
      send_timeout_(parts.send_timeout),
      call_wake_(parts.runs_on_caller ? bridge::Executor::Wake::run_on_caller
                                      : bridge::Executor::Wake::launch),
      runs_ops_on_caller_(parts.runs_ops_on_caller),
      takes_ops_(parts.program.takes_ops()) {}

Error Exchange::too_late() {
  return {Errc::deadline_exceeded, "the deadline had passed before the message was sent"};
}

Result<void> Exchange::prepare(ContentView content, const SendOptions& options,
                               PreparedMessage& prepared, bool wait) const {
  if (is_too_late(options)) return too_late();
  prepared.request = content.request();
  if (takes_ops_ && prepared.request == nullptr) {
    if (content.message() != nullptr) return program_.has_no_methods();
    RK_TRY(request, Request::from_bytes(content.bytes()));
    prepared.parsed = std::make_unique<const Request>(request);
    prepared.request = prepared.parsed.get();
  }
  if (!takes_ops_ && prepared.request != nullptr) return program_.takes_no_ops();
  if (prepared.request != nullptr) {
    RK_TRY(plan, codec::plan(*prepared.request));
    prepared.lay_out(plan);
    RK_TRY_VOID(hold(prepared, wait));
  } else {
    RK_TRY_VOID(prepare_bytes(content, prepared));
  }
  prepared.envelope.priority = options.priority;
  return {};
}

Result<void> Exchange::prepare_bytes(ContentView content, PreparedMessage& prepared) const {
  const Message* const message = content.message();
  if (message == nullptr && program_.has_methods()) return program_.takes_methods_only();
  if (message != nullptr && !program_.has_methods()) return program_.has_no_methods();
  prepared.bytes = message != nullptr ? message->request : content.bytes();
  if (prepared.bytes.size() > ring_bytes_max)
    return Error(Errc::message_too_large, std::to_string(prepared.bytes.size()) + " bytes");
  bridge::Envelope& envelope = prepared.envelope;
  envelope.payload_bytes = static_cast<std::uint32_t>(prepared.bytes.size());
  envelope.reply_bytes =
      program_.reply_bytes() != 0 ? program_.reply_bytes() : envelope.payload_bytes;
  if (message != nullptr) {
    Method method = message->method;
    if (message->is_named) [[unlikely]] {
      RK_TRY(found, program_.find_method(message->name));
      method = found;
    }
    envelope.selector = method.id;
    envelope.reply_bytes = method.reply_bytes;
  }
  return {};
}

Result<void> Exchange::hold_residents(PreparedMessage& prepared, bool wait) const {
  RK_TRY(held, tensors_.hold(*prepared.request, codec::result_of(prepared.plan), wait));
  if (held == nullptr) return Error(make_error_code(Errc::busy));
  prepared.held.reset(held);
  prepared.envelope.lease = held;
  return {};
}

bridge::Timeout Exchange::patience(const SendOptions& options) const noexcept {
  // Its own deadline, if it has one, bounds its wait.
  if (options.timeout.count() != 0) return bridge::Timeout(bridge::no_deadline);
  return bridge::Timeout(timeout_ns({}, send_timeout_));
}

std::uint64_t Exchange::deadline_ns(const SendOptions& options,
                                    std::chrono::nanoseconds default_timeout) const noexcept {
  const std::uint64_t timeout = timeout_ns(options, default_timeout);
  if (timeout == bridge::no_deadline) return timeout;
  return bridge::Timeout(timeout).deadline_ns(clock_.now_ns());
}

// --- outcomes ---------------------------------------------------------------------------------

Error Exchange::to_error(bridge::Outcome&& outcome, const Request* request) const {
  Error error(outcome.error, std::move(outcome.detail));
  if (outcome.fault_code != 0)
    error = fault_of_handler(outcome);
  else if (outcome.error == Errc::program_overran && outcome.fault_detail != 0)
    error = overrun_of_handler(outcome);
  else if (outcome.error == Errc::bad_outcome)
    error = bad_outcome_of_handler(outcome);
  else if (outcome.fault_detail != 0)
    error =
        codec::fault_error(static_cast<Errc>(outcome.error.value()), outcome.fault_detail, request);
  error = lifecycle_.explained(std::move(error));
  error.message = outcome.id;
  return error;
}

Result<Reply> Exchange::to_reply(bridge::Outcome&& outcome, const PreparedMessage* asked) const {
  const MessageId id = outcome.id;
  try {
    return read_reply(std::move(outcome), asked);
  } catch (const std::bad_alloc&) {  // the message has ended all the same
    Error error = no_memory();
    error.message = id;
    return error;
  }
}

Result<Reply> Exchange::read_reply(bridge::Outcome&& outcome, const PreparedMessage* asked) const {
  const Request* const request = asked != nullptr ? asked->request : nullptr;
  if (outcome.error) return to_error(std::move(outcome), request);
  using Made = Result<Reply>;  // in place: a reply is ten words that nobody needs twice
  if (!takes_ops_)
    return Made(Made::in_place_value, outcome.id, std::move(outcome.payload), outcome.version);
  if (request != nullptr && codec::is_reply_to(asked->plan, outcome.payload.span())) {
    const std::byte* const data = outcome.payload.data() + asked->plan.prefix_bytes;
    return Made(Made::in_place_value, outcome.id, std::move(outcome.payload),
                TensorView(codec::reply_of(asked->plan), data));
  }
  Result<TensorView> read = codec::read_reply(outcome.payload.span());
  if (!read) {
    Error error = std::move(read).error();
    error.message = outcome.id;
    return error;
  }
  return Made(Made::in_place_value, outcome.id, std::move(outcome.payload), *read);
}

Error Exchange::fault_of_handler(const bridge::Outcome& outcome) const {
  const std::string text = program_.fault_text(outcome.fault_code, outcome.version);
  Error error(Errc::handler_fault,
              handler_of(outcome) + ": code " + std::to_string(outcome.fault_code) + ", detail " +
                  std::to_string(outcome.fault_detail) + (text.empty() ? "" : ": ") + text);
  error.fault_code = outcome.fault_code;
  error.fault_detail = outcome.fault_detail;
  return error;
}

Error Exchange::bad_outcome_of_handler(const bridge::Outcome& outcome) const {
  const std::uint64_t returned = outcome.fault_detail;
  const bool is_fault = returned >= RK_FAULT_HANDLER_BASE;
  return {Errc::bad_outcome,
          handler_of(outcome) + (is_fault ? ": code " : ": ") +
              std::to_string(is_fault ? returned - RK_FAULT_HANDLER_BASE : returned)};
}

Error Exchange::overrun_of_handler(const bridge::Outcome& outcome) const {
  const bool reply = (outcome.fault_detail & RK_OVERRAN_REPLY) != 0;
  const bool state = (outcome.fault_detail & RK_OVERRAN_STATE) != 0;
  return {Errc::program_overran, handler_of(outcome) + ": beyond its " +
                                     (reply && state ? "reply and its state"
                                      : reply        ? "reply"
                                                     : "state") +
                                     "; the kernel was stopped, and can only be terminated"};
}

std::string Exchange::handler_of(const bridge::Outcome& outcome) const {
  const std::string method = program_.method_name(outcome.selector);
  return "kernel '" + id_ + "'" + (method.empty() ? "" : ", ") + method;
}

// --- calls, and messages that are received ----------------------------------------------------

Result<Reply> Exchange::call(ContentView content, const SendOptions& options) {
  PreparedMessage prepared;
  if (Result<void> ready = prepare(content, options, prepared); !ready)
    return std::move(ready).error();
  return round_trip(prepared, options);
}

template <class Read>
auto Exchange::round_trip_with(PreparedMessage& prepared, const SendOptions& options, Read&& read)
    -> decltype(read(bridge::Outcome())) {
  if (is_too_late(options)) return too_late();
  if (Result<void> replies = check_replies(); !replies) [[unlikely]]
    return std::move(replies).error();
  // The message needs no deadline of its own: this thread ends it, wherever it is by then.
  // The device gives up what takes longer than it was asked to; what this thread runs itself by the
  // runtime's call_timeout has no such limit.
  const std::uint64_t wait_ns = timeout_ns(options, call_timeout_);
  prepared.envelope.timeout_ns = options.timeout.count() != 0 ? wait_ns : bridge::no_deadline;
  bridge::Timeout timeout(wait_ns);
  Result<MessageId> id = channel_->submit_when_room(
      prepared.envelope, bridge::Receiver::waiter, call_wake_,
      [&](std::byte* payload) { prepared.write(payload); }, timeout,
      bridge::Timeout(bridge::no_deadline));
  if (!id) return lifecycle_.explained(std::move(id).error());
  return read(channel_->wait(*id, timeout));
}

Result<Reply> Exchange::round_trip(PreparedMessage& prepared, const SendOptions& options) {
  return round_trip_with(prepared, options, [&](bridge::Outcome&& outcome) {
    return to_reply(std::move(outcome), &prepared);
  });
}

Result<void> Exchange::round_trip(PreparedMessage& prepared, bridge::ReplyPlace& place,
                                  const SendOptions& options) {
  if (is_too_late(options)) return too_late();  // before it may wait
  RK_TRY_VOID(hold(prepared, true));
  const ScopeGuard releasing([&]() noexcept { prepared.held.reset(); });  // what was not sent
  prepared.envelope.reply_place = &place;
  prepared.envelope.priority = options.priority;
  prepared.envelope.waits_since_ns = 0;
  place.is_taken = false;
  return round_trip_with(prepared, options, [&](bridge::Outcome&& outcome) -> Result<void> {
    if (place.is_taken) [[likely]]
      return {};
    const MessageId id = outcome.id;
    RK_TRY(reply, to_reply(std::move(outcome), &prepared));
    Error error(Errc::malformed_message, "the reply is " + reply.tensor().desc.text() +
                                             ", expected " + codec::reply_of(prepared.plan).text());
    error.message = id;
    return error;
  });
}

Result<MessageId> Exchange::send(ContentView content, const SendOptions& options) {
  PreparedMessage prepared;
  if (Result<void> ready = prepare(content, options, prepared); !ready)
    return lifecycle_.explained(std::move(ready).error());
  prepared.envelope.deadline_ns = deadline_ns(options, {});
  bridge::Timeout unlimited(bridge::no_deadline);  // but for the message's deadline
  Result<MessageId> id = channel_->submit_when_room(
      prepared.envelope, bridge::Receiver::mailbox, bridge::Executor::Wake::launch,
      [&](std::byte* payload) { prepared.write(payload); }, unlimited, patience(options));
  if (!id) return lifecycle_.explained(std::move(id).error());
  return id;
}

Result<Reply> Exchange::receive(std::chrono::nanoseconds timeout) {
  return to_reply(channel_->receive(receive_timeout(timeout)));
}

Result<std::size_t> Exchange::receive_some(std::span<Result<Reply>> outcomes,
                                           std::chrono::nanoseconds timeout) {
  if (outcomes.empty()) return std::size_t{0};
  // What they held goes first: its memory, still in the cache, serves the new replies.
  for (Result<Reply>& outcome : outcomes)
    if (outcome) *outcome = Reply();
  std::size_t next = 0;
  return channel_->receive_some(
      outcomes.size(), receive_timeout(timeout),
      [&](bridge::Outcome&& outcome) { outcomes[next++] = to_reply(std::move(outcome)); });
}

}  // namespace ringkernel::detail
