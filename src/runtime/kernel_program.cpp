// What a ring kernel has of its program's schema: methods, faults, and a state.
#include <cstring>
#include <utility>

#include "runtime/kernel_state.hpp"

namespace ringkernel::detail {

Result<Arena::Region> KernelState::open_state(std::uint32_t bytes) const {
  if (bytes == 0) return Arena::Region();
  RK_TRY(region, runtime_->arena().take(bytes));
  std::memset(runtime_->arena().data() + region.offset(), 0, region.bytes());
  RK_TRY_VOID(runtime_->memory().to_device(region.offset(), region.bytes()));
  return region;
}

Result<Method> KernelState::method(std::string_view name, const char* request,
                                   const char* reply) const {
  if (!has_methods_) return noted(has_no_methods());
  const std::lock_guard lock(mutex_);
  const program::Method* const found = behaviour_->find_method(name);
  if (found == nullptr)
    return noted(
        Error(Errc::unknown_method, behaviour_->full_name + " has no method '" + std::string(name) +
                                        "'; it has: " + program::names_of(behaviour_->methods)));
  const auto differs = [](const char* given, const std::string& wanted) {
    return given != nullptr && given != wanted;
  };
  if (differs(request, found->request) || differs(reply, found->reply))
    return noted(Error(Errc::invalid_argument,
                       found->full_name + " takes " + found->request + " and answers with " +
                           found->reply + "; the call gives " +
                           (request != nullptr ? request : found->request) + " and wants " +
                           (reply != nullptr ? reply : found->reply)));
  return Method{.id = found->id, .reply_bytes = found->reply_bytes};
}

Result<void> KernelState::check_state(std::size_t bytes) const {
  if (status_ != KernelStatus::launched && status_ != KernelStatus::deactivated)
    return Error(Errc::invalid_state, "kernel '" + id_ + "' is " + name(status_) +
                                          ": its state can be read and written while it is "
                                          "launched or deactivated");
  if (migrating_ || is_unmigrated_) return is_migrating();
  if (bytes == rings_.state_bytes) return {};
  return Error(Errc::invalid_argument, "the state of kernel '" + id_ + "' has " +
                                           std::to_string(rings_.state_bytes) + " bytes, not " +
                                           std::to_string(bytes));
}

Error KernelState::is_migrating() const {
  if (!is_unmigrated_) return {Errc::busy, "the state of kernel '" + id_ + "' is being migrated"};
  return {Errc::state_mismatch,
          "kernel '" + id_ + "' was not migrated in time, and can only be terminated"};
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
  RK_TRY_VOID(runtime_->memory().to_host(state_.offset(), bytes.size()));
  std::memcpy(bytes.data(), runtime_->arena().data() + state_.offset(), bytes.size());
  return {};
}

Result<void> KernelState::write_state(Bytes bytes) {
  const std::lock_guard lock(mutex_);
  if (Result<void> checked = check_state(bytes.size()); !checked)
    return noted(std::move(checked).error());
  std::memcpy(runtime_->arena().data() + state_.offset(), bytes.data(), bytes.size());
  return runtime_->memory().to_device(state_.offset(), bytes.size());
}

Error KernelState::has_no_methods() const {
  return {Errc::unsupported_operation,
          "program '" + options_.program + "' has no schema, and so no methods"};
}

Error KernelState::fault_of_handler(const bridge::Outcome& outcome) const {
  std::string text = "kernel '" + id_ + "'";
  const std::lock_guard lock(mutex_);
  if (behaviour_ != nullptr)
    for (const program::Method& method : behaviour_->methods)
      if (method.id == outcome.selector) text += ", " + method.full_name;
  Error error(Errc::handler_fault, text + ": code " + std::to_string(outcome.fault_code) +
                                       ", detail " + std::to_string(outcome.fault_detail));
  error.fault_code = outcome.fault_code;
  error.fault_detail = outcome.fault_detail;
  return error;
}

}  // namespace ringkernel::detail
