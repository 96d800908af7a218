/// What all instances of a compiled function share: its commands and constants in the arena, and
/// what its messages look like.
///
/// Threading: any thread; nothing changes once it is written.
/// Ownership: the ring kernels of the instances own the region of the arena together, until the
/// device has let go of the last one, or the runtime is shut down.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ringkernel/compiled_function.hpp"
#include "ringkernel/graph.hpp"
#include "runtime/graph/graph_plan.hpp"
#include "runtime/kernel_state.hpp"
#include "runtime/memory/arena.hpp"
#include "runtime/runtime_state.hpp"

namespace ringkernel::detail {

class FunctionCode {
 public:
  FunctionCode(std::shared_ptr<RuntimeState> runtime, const Graph& graph, const GraphPlan& plan);

  /// Once, with the first ring kernel. Errors: those of KernelState::share_region.
  [[nodiscard]] Result<void> write(KernelState& kernel, const Graph& graph, GraphPlan& plan);

  [[nodiscard]] const std::shared_ptr<RuntimeState>& runtime() const noexcept { return runtime_; }
  [[nodiscard]] const std::shared_ptr<const FunctionSignature>& signature() const noexcept {
    return signature_;
  }
  /// Within the own region of each instance.
  [[nodiscard]] const std::vector<std::uint64_t>& state_offsets() const noexcept {
    return state_offsets_;
  }
  /// For each output, the inputs in whose tensors it may lie; and the inputs that are indices of
  /// gather and nothing else. As in GraphPlan.
  [[nodiscard]] const std::vector<std::uint32_t>& overwrites() const noexcept {
    return overwrites_;
  }
  [[nodiscard]] std::uint32_t index_inputs() const noexcept { return index_inputs_; }
  [[nodiscard]] std::uint64_t input_bytes() const noexcept { return input_bytes_; }
  [[nodiscard]] std::uint64_t output_bytes() const noexcept { return output_bytes_; }
  /// Of each instance: states and workspace.
  [[nodiscard]] std::uint64_t own_bytes() const noexcept { return own_bytes_; }
  /// In the arena, where the commands begin; null: no ring kernel has it any more.
  [[nodiscard]] std::shared_ptr<const Arena::Region> region() const noexcept {
    return region_.lock();
  }
  /// not_a_number: the first one of the constants.
  [[nodiscard]] const Result<void>& constants() const noexcept { return constants_; }

 private:
  const std::shared_ptr<RuntimeState> runtime_;
  std::weak_ptr<const Arena::Region> region_;
  const std::shared_ptr<const FunctionSignature> signature_;
  const std::vector<std::uint64_t> state_offsets_;
  const std::vector<std::uint32_t> overwrites_;
  const std::uint32_t index_inputs_;
  const std::uint64_t input_bytes_;
  const std::uint64_t output_bytes_;
  const std::uint64_t own_bytes_;
  const Result<void> constants_;
};

/// not_a_number with the place of the first one: `what`, the number of the view, its name.
[[nodiscard]] Result<void> check_numbers(const std::string& function, const char* what,
                                         std::size_t number, const std::string& name,
                                         const TensorView& view);

}  // namespace ringkernel::detail
