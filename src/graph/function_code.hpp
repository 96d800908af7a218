/// What a graph becomes when it is compiled, wherever that lies then: its signature, and how much
/// there is of what.
///
/// Threading: any thread; nothing changes once it is made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/plan.hpp"
#include "ringkernel/function_result.hpp"
#include "ringkernel/graph.hpp"

namespace ringkernel::detail {

class FunctionCode {
 public:
  FunctionCode(const Graph& graph, const GraphPlan& plan);

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
  /// not_a_number: the first one of the constants.
  [[nodiscard]] const Result<void>& constants() const noexcept { return constants_; }

 private:
  const std::shared_ptr<const FunctionSignature> signature_;
  const std::vector<std::uint64_t> state_offsets_;
  const std::vector<std::uint32_t> overwrites_;
  const std::uint32_t index_inputs_;
  const std::uint64_t input_bytes_;
  const std::uint64_t output_bytes_;
  const std::uint64_t own_bytes_;
  const Result<void> constants_;
};

/// What all instances share, `plan.shared_bytes` of it: commands and constants, at that place in
/// the arena. Once for each plan: its commands name their places from then on.
void write_shared(const Graph& graph, GraphPlan& plan, std::byte* to, std::uint64_t place);

/// not_a_number with the place of the first one: `what`, the number of the view, its name.
[[nodiscard]] Result<void> check_numbers(const std::string& function, const char* what,
                                         std::size_t number, const std::string& name,
                                         const TensorView& view);

}  // namespace ringkernel::detail
