// The states of an instance, read and written between two executions.
#include <string>
#include <utility>

#include "ops/ir_text.hpp"
#include "runtime/edge.hpp"
#include "runtime/functions/function_state.hpp"

namespace ringkernel {
namespace detail {

Result<std::size_t> FunctionState::find_state(std::string_view name) const {
  std::string names;
  for (std::size_t i = 0; i < signature_->state_names.size(); ++i) {
    const std::string& one = signature_->state_names[i];
    if (!one.empty() && one == name) return i;
    if (!one.empty()) names += (names.empty() ? "'" : ", '") + one + "'";
  }
  return Error(Errc::invalid_argument, "compiled function '" + signature_->name +
                                           "' has no state '" + ops::excerpt(name) + "'; it has " +
                                           (names.empty() ? "none that has a name" : names));
}

Result<void> FunctionState::check_state(std::size_t state, DType dtype, std::size_t bytes) const {
  const std::vector<TensorDesc>& states = signature_->states;
  if (state >= states.size())
    return Error(Errc::invalid_argument, "compiled function '" + signature_->name + "' has " +
                                             std::to_string(states.size()) +
                                             " states, none of number " + std::to_string(state));
  const TensorDesc& desc = states[state];
  const auto what = [&] { return ops::place_text("state", state, signature_->state_names[state]); };
  if (dtype != DType::none && dtype != desc.dtype)
    return mismatch(Errc::dtype_mismatch, what(), desc.text(),
                    std::string("elements of ") + name(dtype));
  if (bytes != desc.bytes())
    return mismatch(Errc::element_count_mismatch, what(), std::to_string(desc.bytes()) + " bytes",
                    std::to_string(bytes));
  return {};
}

Result<void> FunctionState::copy(const KernelState::RegionCopy& copy,
                                 std::chrono::nanoseconds timeout) const {
  if (timeout.count() == 0) timeout = kernel_->runtime().options().call_timeout;
  Result<void> copied = kernel_->copy_region(timeout, copy);
  if (copied) return copied;
  Error error = std::move(copied).error();
  error.detail = "states of compiled function '" + signature_->name + "': " + error.detail;
  return error;
}

Result<void> FunctionState::read_state(std::size_t state, DType dtype,
                                       std::span<std::byte> elements,
                                       std::chrono::nanoseconds timeout) const {
  RK_TRY_VOID(check_state(state, dtype, elements.size()));
  return copy({code_.state_offsets()[state], elements.size(), elements.data(), nullptr}, timeout);
}

Result<void> FunctionState::write_state(std::size_t state, DType dtype,
                                        std::span<const std::byte> elements,
                                        std::chrono::nanoseconds timeout) const {
  RK_TRY_VOID(check_state(state, dtype, elements.size()));
  return copy({code_.state_offsets()[state], elements.size(), nullptr, elements.data()}, timeout);
}

Result<void> FunctionState::reset_states(std::chrono::nanoseconds timeout) const {
  if (signature_->state_bytes == 0) return {};
  return copy({0, signature_->state_bytes, nullptr, nullptr}, timeout);
}

}  // namespace detail

namespace {

/// What `use` gives of the function, if the handle can be used.
template <class Use>
auto use_state(const std::shared_ptr<detail::FunctionState>& function, const Use& use)
    -> decltype(use()) {
  if (function == nullptr) return Error(Errc::kernel_not_found, "an empty function");
  return at_edge(function->kernel(), use);
}

}  // namespace

Result<std::size_t> CompiledFunction::find_state(std::string_view name) const {
  return use_state(state_, [&] { return state_->find_state(name); });
}

Result<void> CompiledFunction::copy_out(std::size_t state, DType dtype,
                                        std::span<std::byte> elements,
                                        std::chrono::nanoseconds timeout) const {
  return use_state(state_, [&] { return state_->read_state(state, dtype, elements, timeout); });
}

Result<void> CompiledFunction::copy_in(std::size_t state, DType dtype,
                                       std::span<const std::byte> elements,
                                       std::chrono::nanoseconds timeout) const {
  return use_state(state_, [&] { return state_->write_state(state, dtype, elements, timeout); });
}

Result<void> CompiledFunction::reset_states(std::chrono::nanoseconds timeout) const {
  return use_state(state_, [&] { return state_->reset_states(timeout); });
}

}  // namespace ringkernel
