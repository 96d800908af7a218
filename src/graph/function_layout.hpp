/// What the messages of an instance look like: one layout for each set of inputs and outputs that
/// are resident tensors. Those are bound by a table at the beginning of the packed inputs
/// (rk_attrs_graph), the others follow it.
///
/// Threading: nothing changes once it is made.
/// Ownership: of its own; the skeleton is needed until the reply has been looked at.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/function_code.hpp"
#include "message/skeleton.hpp"
#include "ringkernel/function_result.hpp"

namespace ringkernel::detail {

/// Of a `residents` word: bit i for input i, and these for outputs.
[[nodiscard]] constexpr std::uint64_t output_bit(std::size_t output) noexcept {
  return std::uint64_t{1} << (graph_inputs_max + output);
}
[[nodiscard]] constexpr std::uint64_t input_bit(std::size_t input) noexcept {
  return std::uint64_t{1} << input;
}

struct FunctionLayout {
  std::uint64_t residents = 0;
  std::unique_ptr<const codec::Skeleton> skeleton;
  std::vector<std::uint64_t> input_offsets;  ///< in the payload; of residents not used
  std::uint64_t table_offset = 0;            ///< likewise
  std::vector<std::uint64_t> table;          ///< those of residents are still to be written
  std::shared_ptr<const FunctionSignature> signature;  ///< where the reply has the outputs

  /// Where an instance is: its regions in the arena, and how much a message may carry.
  struct Place {
    std::uint64_t commands = 0;
    std::uint64_t own = 0;
    std::uint64_t bytes_max = 0;  ///< of inputs, and of outputs
  };
  /// message_too_large.
  [[nodiscard]] static Result<std::shared_ptr<const FunctionLayout>> make(const FunctionCode& code,
                                                                          const Place& place,
                                                                          std::uint64_t residents);
};

/// The most bytes of inputs, or outputs, that a message carries. `bytes_max`: as in
/// FunctionOptions.
[[nodiscard]] std::uint64_t bytes_in_message(std::uint64_t all, std::uint64_t bytes_max);

}  // namespace ringkernel::detail
