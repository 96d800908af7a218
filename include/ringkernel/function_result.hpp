/// What a compiled function takes and gives, and what one execution of it gave.
///
/// Threading: distinct objects safe.
/// Ownership: a result has its reply, and shares the signature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringkernel/message.hpp"

namespace ringkernel {

/// Most inputs and outputs of a graph.
inline constexpr std::size_t graph_inputs_max = 32;
inline constexpr std::size_t graph_outputs_max = 32;

/// What a function takes and gives, and what it occupies.
struct FunctionSignature {
  std::string name;
  std::vector<TensorDesc> inputs;
  std::vector<TensorDesc> outputs;
  std::vector<TensorDesc> states;             ///< what each instance keeps, in the graph's order
  std::vector<std::string> input_names;       ///< as many as inputs; empty: it has no name
  std::vector<std::string> output_names;      ///< likewise
  std::vector<std::string> state_names;       ///< likewise
  std::vector<std::uint64_t> output_offsets;  ///< bytes from the beginning of the reply's data
  std::size_t commands = 0;                   ///< that one execution runs
  std::uint64_t arena_bytes = 0;              ///< commands and constants, and states and workspace
  std::uint64_t state_bytes = 0;              ///< of these, what each instance keeps
  std::uint64_t workspace_bytes = 0;          ///< and what its intermediate values share
};

/// The outputs of one execution. Views are valid while the object lives.
class FunctionResult {
 public:
  /// In the signature that it is made of: the output is not in the reply.
  static constexpr std::uint64_t no_offset = ~std::uint64_t{0};

  FunctionResult() noexcept = default;
  FunctionResult(Reply reply, std::shared_ptr<const FunctionSignature> signature) noexcept
      : reply_(std::move(reply)), signature_(std::move(signature)) {}

  [[nodiscard]] std::size_t size() const noexcept {
    return signature_ ? signature_->outputs.size() : 0;
  }
  /// Element type none if it went into a resident tensor. Precondition: `output < size()`.
  [[nodiscard]] TensorView output(std::size_t output) const noexcept {
    const std::uint64_t offset = signature_->output_offsets[output];
    TensorView view;
    view.desc = {DType::none, {}};
    if (offset == no_offset) return view;
    const auto* const data = static_cast<const std::byte*>(reply_.tensor().data);
    return {signature_->outputs[output], data + offset};
  }
  /// Empty if T is not the output's element type.
  template <Element T>
  [[nodiscard]] std::span<const T> elements(std::size_t output = 0) const noexcept {
    return this->output(output).template elements<T>();
  }

 private:
  Reply reply_;
  std::shared_ptr<const FunctionSignature> signature_;
};

}  // namespace ringkernel
