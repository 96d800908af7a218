#include "ringkernel/kernel.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "foundation/memory_error.hpp"
#include "runtime/calls/prepared_call.hpp"
#include "runtime/kernel_state.hpp"

namespace ringkernel {

Error detail::refusal(const std::shared_ptr<KernelState>& kernel) {
  return kernel == nullptr ? Error(Errc::kernel_not_found, {}) : made_before_fork();
}

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
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([this] { return state_->activate(); });
}

Result<void> Kernel::deactivate() {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([this] { return state_->deactivate(); });
}

Result<void> Kernel::terminate(const TerminateOptions& options) {
  if (!usable(state_)) return refusal(state_);
  return state_->terminate(options, state_->terminated_reason());
}

Result<Reply> Kernel::call(const Request& request, const SendOptions& options) {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&] { return state_->call(request, options); });
}

Result<Reply> Kernel::call(Bytes message, const SendOptions& options) {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&] { return state_->call(message, options); });
}

Result<Reply> Kernel::call(const Message& message, const SendOptions& options) {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&] { return state_->call(message, options); });
}

Result<Reply> Kernel::call(std::string_view name, Bytes request, const SendOptions& options) {
  return call(Message(name, request), options);
}

Result<Method> Kernel::method(std::string_view name) const {
  return method(name, nullptr, nullptr);
}

Result<Method> Kernel::method(std::string_view name, const char* request, const char* reply) const {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&] { return state_->method(name, request, reply); });
}

Result<KernelInterface> Kernel::interface() const {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&] { return state_->interface(); });
}

Result<void> Kernel::read_state(std::span<std::byte> bytes) const {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&] { return state_->read_state(bytes); });
}

Result<void> Kernel::write_state(Bytes bytes) {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&] { return state_->write_state(bytes); });
}

Result<std::string> Kernel::state_json() const {
  if (!usable(state_)) return refusal(state_);
  auto json = or_no_memory(
      [this] { return state_->state_json(state_->runtime().options().termination_timeout); });
  if (!json) return state_->noted(std::move(json).error());
  return json;
}

Result<PreparedCall> Kernel::prepare(const Request& request) {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&]() -> Result<PreparedCall> {
    RK_TRY(state, detail::PreparedState::of(state_, request));
    return PreparedCall(std::move(state));
  });
}

Result<MessageId> Kernel::send(const Request& request, const SendOptions& options) {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&] { return state_->send(request, options); });
}

Result<MessageId> Kernel::send(Bytes message, const SendOptions& options) {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&] { return state_->send(message, options); });
}

Result<MessageId> Kernel::send(const Message& message, const SendOptions& options) {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&] { return state_->send(message, options); });
}

Result<std::size_t> Kernel::send_all(std::span<const Request> requests,
                                     const SendOptions& options) {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&] {
    return state_->send_all(
        requests.size(), [&](std::size_t i) { return detail::ContentView(requests[i]); }, options);
  });
}

Result<std::size_t> Kernel::send_all(std::span<const Bytes> messages, const SendOptions& options) {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&] {
    return state_->send_all(
        messages.size(), [&](std::size_t i) { return detail::ContentView(messages[i]); }, options);
  });
}

Result<std::size_t> Kernel::send_all(std::span<const Message> messages,
                                     const SendOptions& options) {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&]() -> Result<std::size_t> {
    std::vector<Message> found;
    std::span<const Message> all = messages;
    if (std::ranges::any_of(messages, &Message::is_named)) {
      RK_TRY(methods, state_->find_methods(messages));
      found = std::move(methods);
      all = found;
    }
    return state_->send_all(
        all.size(), [&](std::size_t i) { return detail::ContentView(all[i]); }, options);
  });
}

Result<Reply> Kernel::receive(std::chrono::nanoseconds timeout) {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&] { return state_->receive(timeout); });
}

Result<std::size_t> Kernel::receive_some(std::span<Result<Reply>> outcomes,
                                         std::chrono::nanoseconds timeout) {
  if (!usable(state_)) return refusal(state_);
  return or_no_memory([&] { return state_->receive_some(outcomes, timeout); });
}

}  // namespace ringkernel
