/// From a graph to what the device runs: the commands, and where everything they name lies.
///
///     arena:    | commands | constants |  of all instances    | states | workspace |  of each
///     message:  packed inputs              reply: packed outputs
///
/// Values share the workspace: a block is free again behind the last step that reads it, and an
/// elementwise op writes over an operand that nobody reads any more. One execution at a time may
/// use it, which is how an executor works: it finishes a message before it takes the next.
///
/// States get their next elements at the very end, so that a step that fails changes none.
///
/// Threading: pure.
#pragma once

#include <cstdint>
#include <vector>

#include "ringkernel/graph.hpp"

namespace ringkernel {

struct GraphPlan {
  /// Offsets of place "arena" count from the start of what all share until that has one.
  /// Those that read an input or write an output have its binding: inputs from 1 on, then outputs.
  std::vector<rk_command> commands;
  std::vector<std::uint64_t> input_offsets, output_offsets;  ///< within the packed ones
  std::uint64_t input_bytes = 0, output_bytes = 0;
  /// For each output, bit i: it may lie where input i does. Nothing reads that input behind the
  /// command that writes the output, and that command may write over it.
  std::vector<std::uint32_t> overwrites;
  std::uint32_t index_inputs = 0;  ///< bit i: only gather reads input i, as its indices
  std::vector<std::uint64_t> constant_offsets;  ///< by node; 0: is none
  std::uint64_t shared_bytes = 0;               ///< commands and constants
  std::vector<std::uint64_t> state_offsets;     ///< of the states, in the instance's own region
  std::uint64_t state_bytes = 0;                ///< of each instance; zeros at first
  std::uint64_t workspace_bytes = 0;            ///< likewise, behind them
};

/// Errors: invalid_argument (no input, no output), limit_exceeded (more than `graph_inputs_max`
/// inputs, `graph_outputs_max` outputs or RK_GRAPH_COMMANDS_MAX steps), and the graph's own.
[[nodiscard]] Result<GraphPlan> plan_graph(const Graph& graph);

}  // namespace ringkernel
