// What a ring kernel has of its program's schema: methods, faults, and a state.
#include <cstring>
#include <utility>

#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/fault.h"
#include "runtime/kernel_state.hpp"

namespace ringkernel::detail {

Result<Arena::Region> KernelState::open_state(std::uint32_t bytes) const {
  if (bytes == 0) return Arena::Region();
  RK_TRY(region, runtime_->arena().take(state_margin_bytes + bytes + RK_GUARD_BYTES));
  std::memset(runtime_->arena().data() + region.offset(), 0, region.bytes());
  RK_TRY_VOID(runtime_->memory().to_device(region.offset(), region.bytes()));
  return region;
}

Result<Method> KernelState::method(std::string_view name, const char* request,
                                   const char* reply) const {
  Result<Method> found = find_method(name, request, reply);
  return found ? std::move(found) : noted(std::move(found).error());
}

Result<Method> KernelState::find_method(std::string_view name, const char* request,
                                        const char* reply) const {
  if (!has_methods_) return has_no_methods();
  const std::lock_guard lock(mutex_);
  const program::Method* const found = behaviour_->find_method(name);
  if (found == nullptr)
    return Error(Errc::unknown_method, behaviour_->full_name + " has no method '" +
                                           std::string(name) +
                                           "'; it has: " + program::names_of(behaviour_->methods));
  const auto differs = [](const char* given, const std::string& wanted) {
    return given != nullptr && given != wanted;
  };
  if (differs(request, found->request) || differs(reply, found->reply))
    return Error(Errc::invalid_argument,
                 found->full_name + " takes " + found->request + " and answers with " +
                     found->reply + "; the call gives " +
                     (request != nullptr ? request : found->request) + " and wants " +
                     (reply != nullptr ? reply : found->reply));
  return Method{.id = found->id, .reply_bytes = found->reply_bytes};
}

Result<std::vector<Message>> KernelState::find_methods(std::span<const Message> messages) const {
  std::vector<Message> found;
  found.reserve(messages.size());
  for (const Message& message : messages) {
    if (!message.is_named) {
      found.push_back(message);
      continue;
    }
    Result<Method> method = find_method(message.name);
    if (!method && found.empty()) return noted(std::move(method).error());
    if (!method) break;
    found.emplace_back(*method, message.request);
  }
  return found;
}

Result<KernelInterface> KernelState::interface() const {
  if (!has_methods_) return noted(has_no_methods());
  const std::lock_guard lock(mutex_);
  return KernelInterface{definition_->schema_given(), behaviour_->full_name};
}

Result<void> KernelState::check_state(std::size_t bytes) const {
  const bool rests = status_ == KernelStatus::launched || status_ == KernelStatus::deactivated;
  if (!rests) RK_TRY_VOID(check_usable());
  if (!rests)
    return Error(Errc::invalid_state, "kernel '" + id_ + "' is " + name(status_) +
                                          ": its state can be read and written while it is "
                                          "launched or deactivated");
  if (is_unmigrated_) return unmigrated();
  if (migrating_) return is_migrating();
  if (bytes == rings_.state_bytes) return {};
  return Error(Errc::invalid_argument, "the state of kernel '" + id_ + "' has " +
                                           std::to_string(rings_.state_bytes) + " bytes, not " +
                                           std::to_string(bytes));
}

Error KernelState::is_migrating() const {
  return {Errc::busy, "the state of kernel '" + id_ + "' is being migrated"};
}

Error KernelState::unmigrated() const {
  return {Errc::state_mismatch,
          "the state of kernel '" + id_ + "' was not migrated in time: it can only be terminated"};
}

Result<void> KernelState::check_usable() const {
  if (!has_failed()) return {};
  bridge::Executor& executor = program_->executor();
  if (executor.failed()) return executor.failure();
  if (is_unmigrated_) return unmigrated();
  Error error = bridge::why_unusable(executor.fault(kernel_));
  error.detail = "kernel '" + id_ + "': " + error.detail;
  return error;
}

void KernelState::adopt(const DefinitionPointer& definition, std::uint32_t version,
                        const program::Behaviour* behaviour) {
  const std::lock_guard lock(mutex_);
  if (has_methods_ && behaviour == nullptr) return;  // it has ended meanwhile
  definition_ = definition;
  version_ = version;
  behaviour_ = behaviour;
}

void KernelState::count_methods(const program::Behaviour* behaviour) {
  if (behaviour == nullptr) return;
  const std::lock_guard lock(mutex_);
  for (const program::Method& method : behaviour->methods) channel_->methods().add(method.id);
}

const program::Behaviour* KernelState::behaviour() const {
  const std::lock_guard lock(mutex_);
  return status_ == KernelStatus::terminated ? nullptr : behaviour_;
}

Result<void> KernelState::read_state(std::span<std::byte> bytes) const {
  const std::lock_guard lock(mutex_);  // it cannot become active meanwhile
  if (Result<void> checked = check_state(bytes.size()); !checked)
    return noted(std::move(checked).error());
  RK_TRY_VOID(runtime_->memory().to_host(rings_.state_offset, bytes.size(),
                                         runtime_->options().termination_timeout));
  std::memcpy(bytes.data(), runtime_->arena().data() + rings_.state_offset, bytes.size());
  return {};
}

Result<void> KernelState::write_state(Bytes bytes) {
  const std::lock_guard lock(mutex_);
  if (Result<void> checked = check_state(bytes.size()); !checked)
    return noted(std::move(checked).error());
  RK_TRY_VOID(runtime_->memory().check_no_late_copies());
  std::memcpy(runtime_->arena().data() + rings_.state_offset, bytes.data(), bytes.size());
  return runtime_->memory().to_device(rings_.state_offset, bytes.size(),
                                      runtime_->options().termination_timeout);
}

Error KernelState::has_no_methods() const {
  return {Errc::unsupported_operation,
          "program '" + options_.program + "' has no schema, and so no methods"};
}

Error KernelState::fault_of_handler(const bridge::Outcome& outcome) const {
  Error error(Errc::handler_fault, handler_of(outcome) + ": code " +
                                       std::to_string(outcome.fault_code) + ", detail " +
                                       std::to_string(outcome.fault_detail));
  error.fault_code = outcome.fault_code;
  error.fault_detail = outcome.fault_detail;
  return error;
}

Error KernelState::overrun_of_handler(const bridge::Outcome& outcome) const {
  const bool reply = (outcome.fault_detail & RK_OVERRAN_REPLY) != 0;
  const bool state = (outcome.fault_detail & RK_OVERRAN_STATE) != 0;
  return {Errc::program_overran, handler_of(outcome) + ": beyond its " +
                                     (reply && state ? "reply and its state"
                                      : reply        ? "reply"
                                                     : "state") +
                                     "; the kernel was stopped, and can only be terminated"};
}

std::string KernelState::handler_of(const bridge::Outcome& outcome) const {
  std::string text = "kernel '" + id_ + "'";
  const std::lock_guard lock(mutex_);
  if (behaviour_ != nullptr)
    for (const program::Method& method : behaviour_->methods)
      if (method.id == outcome.selector) text += ", " + method.full_name;
  return text;
}

}  // namespace ringkernel::detail
