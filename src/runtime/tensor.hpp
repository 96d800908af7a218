/// What the copies of one `Tensor` handle share.
///
/// Threading: any thread.
/// Ownership: shares the runtime's state; the last copy gives the tensor back.
#pragma once

#include <memory>
#include <utility>

#include "ringkernel/tensor_handle.hpp"
#include "runtime/runtime_state.hpp"

namespace ringkernel::detail {

class TensorState {
 public:
  TensorState(std::shared_ptr<RuntimeState> runtime, TensorId id, const TensorDesc& desc) noexcept
      : runtime_(std::move(runtime)), id_(id), desc_(desc) {}
  TensorState(const TensorState&) = delete;
  TensorState& operator=(const TensorState&) = delete;
  ~TensorState() {
    if (!runtime_->is_foreign()) runtime_->tensors().give_up(id_);
  }

  [[nodiscard]] RuntimeState& runtime() const noexcept { return *runtime_; }
  [[nodiscard]] TensorId id() const noexcept { return id_; }
  [[nodiscard]] const TensorDesc& desc() const noexcept { return desc_; }

 private:
  const std::shared_ptr<RuntimeState> runtime_;
  const TensorId id_;
  const TensorDesc desc_;
};

}  // namespace ringkernel::detail
