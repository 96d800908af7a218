#include "runtime/kernel_state.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>
#include <utility>

#include "foundation/assert.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/scope_guard.hpp"
#include "foundation/timeout.hpp"
#include "ring/geometry.hpp"

namespace ringkernel {

namespace detail {
namespace {

static_assert(in_flight_max <= bridge::Pending::slots_max);

bridge::Policy to_policy(Backpressure backpressure) noexcept {
  switch (backpressure) {
    case Backpressure::block: return bridge::Policy::block;
    case Backpressure::reject: return bridge::Policy::reject;
    case Backpressure::drop_oldest: return bridge::Policy::drop_oldest;
    case Backpressure::drop_newest: break;
  }
  return bridge::Policy::drop_newest;
}

bridge::Timeout receive_timeout(std::chrono::nanoseconds timeout) noexcept {
  return bridge::Timeout(bounded_ns(timeout));
}

Result<void> check_ring(const char* which, std::uint32_t bytes) {
  if (std::has_single_bit(bytes) && bytes >= ring_bytes_min && bytes <= ring_bytes_max) return {};
  return Error(Errc::invalid_argument, std::string(which) + " is " + std::to_string(bytes) +
                                           "; it must be a power of two from " +
                                           std::to_string(ring_bytes_min) + " to " +
                                           std::to_string(ring_bytes_max));
}

}  // namespace

Result<void> KernelState::check(const KernelOptions& options) {
  RK_TRY_VOID(check_ring("input_bytes", options.input_bytes));
  RK_TRY_VOID(check_ring("output_bytes", options.output_bytes));
  if (options.in_flight_max == 0 || options.in_flight_max > in_flight_max)
    return Error(Errc::invalid_argument,
                 "in_flight_max is " + std::to_string(options.in_flight_max) +
                     "; it must be from 1 to " + std::to_string(in_flight_max));
  // A sender that waits is woken when a queued message enters the ring.
  if (options.backpressure == Backpressure::block && options.queue_max == 0)
    return Error(Errc::invalid_argument, "queue_max is 0; backpressure 'block' needs at least 1");
  return {};
}

KernelState::KernelState(std::shared_ptr<RuntimeState> runtime, std::string id,
                         const KernelOptions& options)
    : runtime_(std::move(runtime)), id_(std::move(id)), options_(options) {}

Result<void> KernelState::open(Program& program) {
  Arena& arena = runtime_->arena();
  rings_.input_capacity = options_.input_bytes;
  rings_.output_capacity = options_.output_bytes;
  RK_TRY(input, arena.take(ring_bytes(options_.input_bytes)));
  RK_TRY(output, arena.take(ring_bytes(options_.output_bytes)));
  rings_.input_offset = input.offset();
  rings_.output_offset = output.offset();
  // Zeroed positions are an empty ring; the data behind them is never read before it is written.
  std::memset(arena.data() + input.offset(), 0, sizeof(rk_ring));
  std::memset(arena.data() + output.offset(), 0, sizeof(rk_ring));
  const DefinitionPointer& definition = program.definition();
  RK_TRY(behaviour, definition->behaviour(options_.behaviour));
  RK_TRY(state, open_state(definition->state_bytes(behaviour)));
  if (behaviour != nullptr) rings_.behaviour = behaviour->id;
  rings_.state_offset = state_offset(state);
  rings_.state_bytes = definition->state_bytes(behaviour);
  ending_ = make_ending();
  RK_TRY(kernel, program.executor().attach(rings_));
  ScopeGuard detaching([&] { program.executor().detach(kernel); });
  const bridge::ChannelLimits limits{
      .in_flight_max = options_.in_flight_max,
      .queue_max = options_.queue_max,
      .policy = to_policy(options_.backpressure),
      .spin_ns = static_cast<std::uint64_t>(runtime_->options().spin_for.count()),
      .sample_every = runtime_->sample_every(),
      .trace = runtime_->trace(),
      .name = id_};
  program_ = &program;
  takes_ops_ = definition->takes_ops();
  has_methods_ = behaviour != nullptr;
  if (has_methods_)
    methods_ = behaviour->full_name + " has: " + program::names_of(behaviour->methods);
  reply_bytes_ = definition->reply_bytes();
  if (program.runs_on_caller()) call_wake_ = bridge::Executor::Wake::run_on_caller;
  runs_ops_on_caller_ = program.runs_ops_on_caller();
  kernel_ = kernel;
  channel_ = std::make_shared<bridge::Channel>(
      program.executor(), kernel_, RingView::at(arena.data(), input.offset(), options_.input_bytes),
      RingView::at(arena.data(), output.offset(), options_.output_bytes), limits, runtime_->clock(),
      runtime_->bridge());
  count_methods(behaviour);
  {
    const std::lock_guard lock(mutex_);
    begin_counting();
  }
  runtime_->bridge().add(channel_);  // nothing throws behind it
  detaching.dismiss();
  input_ = std::move(input);
  output_ = std::move(output);
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
  definition_ = definition;
  version_ = program.version();
  behaviour_ = behaviour;
  set_status(KernelStatus::launched);
  return {};
}

Result<std::shared_ptr<const Arena::Region>> KernelState::share_region(
    std::uint64_t bytes, const std::function<void(std::byte*, std::uint64_t)>& fill) {
  // With the lock: a termination cannot give the memory back meanwhile.
  const std::lock_guard lock(mutex_);
  if (status_ != KernelStatus::launched || shared_ != nullptr)
    return wrong_state("launched").error();
  RK_TRY(region, runtime_->arena().take(bytes));
  shared_ = std::make_shared<const Arena::Region>(std::move(region));
  fill(runtime_->arena().data() + shared_->offset(), shared_->offset());
  RK_TRY_VOID(runtime_->memory().to_device(shared_->offset(), bytes,
                                           runtime_->options().termination_timeout));
  return shared_;
}

Result<std::uint64_t> KernelState::add_region(std::uint64_t bytes,
                                              std::shared_ptr<const Arena::Region> shared) {
  const std::lock_guard lock(mutex_);  // likewise
  if (status_ != KernelStatus::launched || region_.bytes() != 0)
    return wrong_state("launched").error();
  shared_ = std::move(shared);
  if (bytes == 0) return std::uint64_t{0};
  RK_TRY(region, runtime_->arena().take(bytes));
  region_ = std::move(region);
  std::memset(runtime_->arena().data() + region_.offset(), 0, bytes);
  RK_TRY_VOID(runtime_->memory().to_device(region_.offset(), bytes,
                                           runtime_->options().termination_timeout));
  return region_.offset();
}

KernelStatus KernelState::status() const {
  const std::lock_guard lock(mutex_);
  return has_failed() ? KernelStatus::failed : status_;
}

bool KernelState::has_failed() const {
  const bool lives = status_ == KernelStatus::launched || status_ == KernelStatus::active ||
                     status_ == KernelStatus::deactivated;
  return lives && (is_unmigrated_ || program_->executor().failed() ||
                   program_->executor().fault(kernel_) != 0);
}

Error KernelState::terminated_reason() const noexcept {
  Error reason(make_error_code(Errc::kernel_terminated));
  (void)with_memory([&] { reason.detail = "'" + id_ + "'"; });
  return reason;
}

Error KernelState::noted(Error error) const noexcept {
  return runtime_->noted(id_, std::move(error));
}

// --- messages ---------------------------------------------------------------------------------

void KernelState::Prepared::write(std::byte* payload) noexcept {
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

Result<void> KernelState::check_time(const SendOptions& options) {
  if (options.timeout.count() >= 0) return {};
  return Error(Errc::deadline_exceeded, "the deadline had passed before the message was sent");
}

Error KernelState::takes_no_ops() const {
  return {Errc::unsupported_operation,
          "program '" + options_.program + "' takes plain bytes, not ops"};
}

Result<void> KernelState::prepare(ContentView content, const SendOptions& options,
                                  Prepared& prepared, bool wait) const {
  RK_TRY_VOID(check_time(options));
  prepared.request = content.request();
  if (takes_ops_ && prepared.request == nullptr) {
    if (content.message() != nullptr) return has_no_methods();
    RK_TRY(request, Request::from_bytes(content.bytes()));
    prepared.parsed = std::make_unique<const Request>(request);
    prepared.request = prepared.parsed.get();
  }
  if (!takes_ops_ && prepared.request != nullptr) return takes_no_ops();
  if (prepared.request != nullptr) {
    RK_TRY(plan, codec::plan(*prepared.request));
    lay_out(plan, prepared);
    RK_TRY_VOID(hold(prepared, wait));
  } else {
    RK_TRY_VOID(prepare_bytes(content, prepared));
  }
  prepared.envelope.priority = options.priority;
  return {};
}

Result<void> KernelState::prepare_bytes(ContentView content, Prepared& prepared) const {
  const Message* const message = content.message();
  if (message == nullptr && has_methods_)
    return Error(Errc::unsupported_operation,
                 "program '" + options_.program + "' takes messages of methods, which " + methods_);
  if (message != nullptr && !has_methods_) return has_no_methods();
  prepared.bytes = message != nullptr ? message->request : content.bytes();
  if (prepared.bytes.size() > ring_bytes_max)
    return Error(Errc::message_too_large, std::to_string(prepared.bytes.size()) + " bytes");
  bridge::Envelope& envelope = prepared.envelope;
  envelope.payload_bytes = static_cast<std::uint32_t>(prepared.bytes.size());
  envelope.reply_bytes = reply_bytes_ != 0 ? reply_bytes_ : envelope.payload_bytes;
  if (message != nullptr) {
    Method method = message->method;
    if (message->is_named) [[unlikely]] {
      RK_TRY(found, find_method(message->name));
      method = found;
    }
    envelope.selector = method.id;
    envelope.reply_bytes = method.reply_bytes;
  }
  return {};
}

Result<void> KernelState::hold(Prepared& prepared, bool wait) const {
  prepared.held.reset();
  if (prepared.plan.residents != 0) [[unlikely]] {
    RK_TRY(held,
           runtime_->tensors().hold(*prepared.request, codec::result_of(prepared.plan), wait));
    if (held == nullptr) return Error(make_error_code(Errc::busy));
    prepared.held.reset(held);
  }
  prepared.envelope.hold = prepared.held.get();
  return {};
}

void KernelState::lay_out(const codec::Plan& plan, Prepared& prepared) noexcept {
  prepared.plan = plan;
  bridge::Envelope& envelope = prepared.envelope;
  envelope.payload_bytes = plan.payload_bytes;
  envelope.selector = plan.command_offset;
  envelope.prefix_offset = plan.prefix_offset;
  envelope.prefix_bytes = plan.prefix_bytes;
  envelope.reply_bytes = plan.reply_bytes;
}

void KernelState::prepare(const codec::Plan& plan, const Request& kind,
                          std::span<const codec::Piece> pieces, Prepared& prepared) noexcept {
  prepared.request = &kind;
  prepared.pieces = pieces;
  prepared.in_pieces = true;
  lay_out(plan, prepared);
}

std::uint64_t KernelState::timeout_ns(const SendOptions& options,
                                      std::chrono::nanoseconds default_timeout) noexcept {
  const auto timeout = options.timeout.count() != 0 ? options.timeout : default_timeout;
  if (timeout.count() == 0) return bridge::no_deadline;
  return bounded_ns(timeout);
}

bridge::Timeout KernelState::patience(const SendOptions& options) const noexcept {
  // Its own deadline, if it has one, bounds its wait.
  if (options.timeout.count() != 0) return bridge::Timeout(bridge::no_deadline);
  return bridge::Timeout(timeout_ns({}, runtime_->options().send_timeout));
}

std::uint64_t KernelState::deadline_ns(const SendOptions& options,
                                       std::chrono::nanoseconds default_timeout) const noexcept {
  const std::uint64_t timeout = timeout_ns(options, default_timeout);
  if (timeout == bridge::no_deadline) return timeout;
  return bridge::Timeout(timeout).deadline_ns(runtime_->clock().now_ns());
}

Error KernelState::to_error(bridge::Outcome&& outcome, const Request* request) const {
  Error error(outcome.error, std::move(outcome.detail));
  if (outcome.fault_code != 0)
    error = fault_of_handler(outcome);
  else if (outcome.error == Errc::program_overran && outcome.fault_detail != 0)
    error = overrun_of_handler(outcome);
  else if (outcome.fault_detail != 0)
    error =
        codec::fault_error(static_cast<Errc>(outcome.error.value()), outcome.fault_detail, request);
  error = explained(std::move(error));
  error.message = outcome.id;
  return outcome.id != 0 ? noted(std::move(error)) : error;  // nobody's: a receiver gave up
}

Result<Reply> KernelState::to_reply(bridge::Outcome&& outcome, const Prepared* asked) const {
  const MessageId id = outcome.id;
  try {
    return read_reply(std::move(outcome), asked);
  } catch (const std::bad_alloc&) {  // the message has ended all the same
    Error error = no_memory();
    error.message = id;
    return error;
  }
}

Result<Reply> KernelState::read_reply(bridge::Outcome&& outcome, const Prepared* asked) const {
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
    return noted(std::move(error));
  }
  return Made(Made::in_place_value, outcome.id, std::move(outcome.payload), *read);
}

Result<Reply> KernelState::call(ContentView content, const SendOptions& options) {
  Prepared prepared;
  if (Result<void> ready = prepare(content, options, prepared); !ready)
    return noted(std::move(ready).error());
  return exchange(prepared, options);
}

template <class Read>
auto KernelState::exchange_with(Prepared& prepared, const SendOptions& options, Read&& read)
    -> decltype(read(bridge::Outcome())) {
  if (Result<void> in_time = check_time(options); !in_time)
    return noted(std::move(in_time).error());
  if (Result<void> replies = check_replies(); !replies) [[unlikely]]
    return noted(std::move(replies).error());
  // The message needs no deadline of its own: this thread ends it, wherever it is by then.
  // The device gives up what takes longer than it was asked to; what this thread runs itself by the
  // runtime's call_timeout has no such limit.
  const std::uint64_t wait_ns = timeout_ns(options, runtime_->options().call_timeout);
  prepared.envelope.timeout_ns = options.timeout.count() != 0 ? wait_ns : bridge::no_deadline;
  bridge::Timeout timeout(wait_ns);
  Result<MessageId> id = channel_->submit_when_room(
      prepared.envelope, bridge::Receiver::waiter, call_wake_,
      [&](std::byte* payload) { prepared.write(payload); }, timeout,
      bridge::Timeout(bridge::no_deadline));
  if (!id) return noted(explained(std::move(id).error()));
  return read(channel_->wait(*id, timeout));
}

Result<Reply> KernelState::exchange(Prepared& prepared, const SendOptions& options) {
  return exchange_with(prepared, options, [&](bridge::Outcome&& outcome) {
    return to_reply(std::move(outcome), &prepared);
  });
}

Result<void> KernelState::exchange(Prepared& prepared, bridge::ReplyPlace& place,
                                   const SendOptions& options) {
  Result<void> held = check_time(options);
  if (held) held = hold(prepared, true);
  if (!held) return noted(std::move(held).error());
  const ScopeGuard releasing([&]() noexcept { prepared.held.reset(); });  // what was not sent
  prepared.envelope.reply_place = &place;
  prepared.envelope.priority = options.priority;
  prepared.envelope.waits_since_ns = 0;
  place.is_taken = false;
  return exchange_with(prepared, options, [&](bridge::Outcome&& outcome) -> Result<void> {
    if (place.is_taken) [[likely]]
      return {};
    const MessageId id = outcome.id;
    RK_TRY(reply, to_reply(std::move(outcome), &prepared));
    Error error(Errc::malformed_message, "the reply is " + reply.tensor().desc.text() +
                                             ", expected " + codec::reply_of(prepared.plan).text());
    error.message = id;
    return noted(std::move(error));
  });
}

Result<MessageId> KernelState::send(ContentView content, const SendOptions& options) {
  Result<MessageId> sent = try_send(content, options);
  if (!sent) return noted(explained(std::move(sent).error()));
  return sent;
}

Result<MessageId> KernelState::try_send(ContentView content, const SendOptions& options) {
  Prepared prepared;
  RK_TRY_VOID(prepare(content, options, prepared));
  prepared.envelope.deadline_ns = deadline_ns(options, {});
  bridge::Timeout unlimited(bridge::no_deadline);  // but for the message's deadline
  return channel_->submit_when_room(
      prepared.envelope, bridge::Receiver::mailbox, bridge::Executor::Wake::launch,
      [&](std::byte* payload) { prepared.write(payload); }, unlimited, patience(options));
}

Result<Reply> KernelState::receive(std::chrono::nanoseconds timeout) {
  return to_reply(channel_->receive(receive_timeout(timeout)));
}

Result<std::size_t> KernelState::receive_some(std::span<Result<Reply>> outcomes,
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

}  // namespace detail
}  // namespace ringkernel
