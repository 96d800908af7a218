#include "ringkernel/kernel.hpp"

#include <utility>
#include <vector>

#include "runtime/calls/prepared_call.hpp"
#include "runtime/edge.hpp"
#include "runtime/kernel_state.hpp"

namespace ringkernel {

Error detail::refusal(const std::shared_ptr<KernelState>& kernel) {
  return kernel == nullptr ? Error(Errc::kernel_not_found, {}) : made_before_fork();
}

using detail::at_edge;
using detail::refusal;
using detail::usable;

std::string Kernel::id() const { return state_ ? state_->id() : std::string(); }

KernelStatus Kernel::status() const {
  if (state_ && state_->is_foreign()) return KernelStatus::failed;
  return state_ ? state_->status() : KernelStatus::terminated;
}

KernelMetrics Kernel::metrics() const {
  return usable(state_) ? state_->metrics() : KernelMetrics();
}

std::vector<CallInFlight> Kernel::calls(std::size_t count) const {
  return usable(state_) ? state_->calls(count) : std::vector<CallInFlight>();
}

Result<void> Kernel::activate() {
  return at_edge(state_, [this] { return state_->lifecycle().activate(); });
}

Result<void> Kernel::deactivate() {
  return at_edge(state_, [this] { return state_->lifecycle().deactivate(); });
}

Result<void> Kernel::terminate(const TerminateOptions& options) {
  if (!usable(state_)) return refusal(state_);
  detail::Lifecycle& lifecycle = state_->lifecycle();
  return lifecycle.terminate(options, lifecycle.terminated_reason());
}

Result<Reply> Kernel::call(const Request& request, const SendOptions& options) {
  return at_edge(state_, [&] { return state_->exchange().call(request, options); });
}

Result<Reply> Kernel::call(Bytes message, const SendOptions& options) {
  return at_edge(state_, [&] { return state_->exchange().call(message, options); });
}

Result<Reply> Kernel::call(const Message& message, const SendOptions& options) {
  return at_edge(state_, [&] { return state_->exchange().call(message, options); });
}

Result<Reply> Kernel::call(std::string_view name, Bytes request, const SendOptions& options) {
  return call(Message(name, request), options);
}

Result<Method> Kernel::method(std::string_view name) const {
  return method(name, nullptr, nullptr);
}

Result<Method> Kernel::method(std::string_view name, const char* request, const char* reply) const {
  return at_edge(state_, [&] { return state_->program().find_method(name, request, reply); });
}

Result<KernelInterface> Kernel::interface() const {
  return at_edge(state_, [&] { return state_->program().interface(); });
}

Result<void> Kernel::read_state(std::span<std::byte> bytes) const {
  return at_edge(state_, [&] { return state_->read_state(bytes); });
}

Result<void> Kernel::write_state(Bytes bytes) {
  return at_edge(state_, [&] { return state_->write_state(bytes); });
}

Result<std::string> Kernel::state_json() const {
  return at_edge(state_, [this] {
    return state_->state_json(state_->runtime().options().termination_timeout);
  });
}

Result<PreparedCall> Kernel::prepare(const Request& request) {
  return at_edge(state_, [&]() -> Result<PreparedCall> {
    RK_TRY(state, detail::PreparedState::of(state_, request));
    return PreparedCall(std::move(state));
  });
}

Result<MessageId> Kernel::send(const Request& request, const SendOptions& options) {
  return at_edge(state_, [&] { return state_->exchange().send(request, options); });
}

Result<MessageId> Kernel::send(Bytes message, const SendOptions& options) {
  return at_edge(state_, [&] { return state_->exchange().send(message, options); });
}

Result<MessageId> Kernel::send(const Message& message, const SendOptions& options) {
  return at_edge(state_, [&] { return state_->exchange().send(message, options); });
}

Result<std::size_t> Kernel::send_all(std::span<const Request> requests,
                                     const SendOptions& options) {
  return at_edge(state_, [&] {
    return state_->exchange().send_all(
        requests.size(), [&](std::size_t i) { return detail::ContentView(requests[i]); }, options);
  });
}

Result<std::size_t> Kernel::send_all(std::span<const Bytes> messages, const SendOptions& options) {
  return at_edge(state_, [&] {
    return state_->exchange().send_all(
        messages.size(), [&](std::size_t i) { return detail::ContentView(messages[i]); }, options);
  });
}

Result<std::size_t> Kernel::send_all(std::span<const Message> messages,
                                     const SendOptions& options) {
  return at_edge(state_, [&] {
    return state_->exchange().send_all(
        messages.size(), [&](std::size_t i) { return detail::ContentView(messages[i]); }, options);
  });
}

Result<Reply> Kernel::receive(std::chrono::nanoseconds timeout) {
  if (!usable(state_)) return refusal(state_);
  auto reply = or_no_memory([&] { return state_->exchange().receive(timeout); });
  if (!reply && detail::is_of_message(reply.error())) state_->note(reply.error());
  return reply;
}

Result<std::size_t> Kernel::receive_some(std::span<Result<Reply>> outcomes,
                                         std::chrono::nanoseconds timeout) {
  if (!usable(state_)) return refusal(state_);
  auto count = or_no_memory([&] { return state_->exchange().receive_some(outcomes, timeout); });
  if (!count) return count;
  for (const Result<Reply>& outcome : outcomes.first(*count))
    if (!outcome) [[unlikely]]
      state_->note(outcome.error());
  return count;
}

}  // namespace ringkernel
