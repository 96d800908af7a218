#include "runtime/tensor.hpp"

#include <string>

#include "bridge/channel/interruption.hpp"
#include "bridge/idle.hpp"
#include "foundation/memory_error.hpp"

namespace ringkernel {
namespace {

Error no_handle() { return {Errc::tensor_not_found, "an empty handle"}; }

Result<void> check(const detail::TensorState& tensor, DType dtype, std::size_t bytes) {
  const TensorDesc& desc = tensor.desc();
  const std::string what = "tensor " + std::to_string(tensor.id()) + ", " + desc.text();
  if (dtype != DType::none && dtype != desc.dtype)
    return Error(Errc::dtype_mismatch, what + ", against elements of " + name(dtype));
  if (bytes != desc.bytes())
    return Error(Errc::element_count_mismatch, what + ", has " + std::to_string(desc.bytes()) +
                                                   " bytes, not " + std::to_string(bytes));
  return {};
}

/// Tries a copy until no message is in its way. Answers lie in the output rings until somebody
/// takes them, so this thread looks for them like any that waits for a message.
template <class Copy>
Result<void> copy_when_unused(const detail::TensorState& tensor, std::chrono::nanoseconds timeout,
                              const Copy& try_copy) {
  detail::RuntimeState& runtime = tensor.runtime();
  const std::uint64_t deadline_ns =
      runtime.deadline_ns(timeout.count() != 0 ? timeout : runtime.options().call_timeout);
  bridge::IdleStrategy idle;
  bridge::PolledInterruption interruption(runtime.clock().now_ns());
  for (;;) {
    RK_TRY(copied, try_copy(runtime.tensors()));
    if (copied) return {};
    const std::uint64_t now_ns = runtime.clock().now_ns();
    if (now_ns >= deadline_ns)
      return Error(Errc::deadline_exceeded,
                   "while messages in flight used tensor " + std::to_string(tensor.id()));
    if (interruption.came(now_ns)) return bridge::Interruption::error();
    if (runtime.bridge().serve_channels(bridge::Bridge::Drain::all) != 0) idle.reset();
    idle.rest();
  }
}

}  // namespace

TensorId Tensor::id() const noexcept { return state_ ? state_->id() : no_tensor; }

TensorDesc Tensor::desc() const noexcept {
  return state_ ? state_->desc() : TensorDesc{DType::none, {}};
}

Tensor::operator TensorView() const noexcept {
  TensorView view(desc(), nullptr);
  view.tensor = id();
  return view;
}

Result<void> Tensor::copy_in(DType dtype, std::span<const std::byte> elements,
                             std::chrono::nanoseconds timeout) {
  if (!state_) return no_handle();
  if (state_->runtime().is_foreign()) return made_before_fork();
  return or_no_memory([&]() -> Result<void> {
    RK_TRY_VOID(check(*state_, dtype, elements.size()));
    return copy_when_unused(*state_, timeout, [&](TensorTable& tensors) {
      return tensors.try_write(state_->id(), elements);
    });
  });
}

Result<void> Tensor::copy_out(DType dtype, std::span<std::byte> elements,
                              std::chrono::nanoseconds timeout) const {
  if (!state_) return no_handle();
  if (state_->runtime().is_foreign()) return made_before_fork();
  return or_no_memory([&]() -> Result<void> {
    RK_TRY_VOID(check(*state_, dtype, elements.size()));
    return copy_when_unused(*state_, timeout, [&](TensorTable& tensors) {
      return tensors.try_read(state_->id(), elements);
    });
  });
}

Result<void> Tensor::deallocate() {
  if (!state_) return no_handle();
  if (state_->runtime().is_foreign()) return made_before_fork();
  return or_no_memory([this] { return state_->runtime().tensors().deallocate(state_->id()); });
}

}  // namespace ringkernel
