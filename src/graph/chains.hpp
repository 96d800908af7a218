/// Which elementwise steps of a graph run as one chain, in vectors instead of by memory
/// (kernels/rk_chain.h): a value that one later step reads, and nobody else, goes straight to it.
///
/// A chain runs where its last step stands. What its steps read is still there: it dies where the
/// last one has read it.
///
/// Threading: pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ringkernel/graph.hpp"

namespace ringkernel {

class GraphChains {
 public:
  /// `needed`: the steps that run, by node.
  GraphChains(const Graph& graph, const std::vector<bool>& needed);

  /// The last step of the chain that the step belongs to; itself if it runs alone.
  [[nodiscard]] std::uint32_t end_of(std::uint32_t step) const;
  /// The steps of the chain with this last step, in the order in which they run.
  [[nodiscard]] std::vector<std::uint32_t> ending_with(std::uint32_t step) const;

 private:
  struct Link {
    std::uint32_t before;  // the step whose value it takes in vectors; `none`
    std::uint32_t after;   // the step that takes its value in vectors; `none`
    std::uint32_t length;  // of the chain up to here; 0: cannot be in one
    std::uint64_t row;     // elements of the operands that repeat; 0: there are none yet
  };

  [[nodiscard]] const Graph::Step& step_at(std::uint32_t node) const;
  /// Whether the step can begin a chain, and its row.
  [[nodiscard]] Link alone(std::uint32_t node) const;
  /// Whether the operand can be read beside a value of the shape of `node`; changes `row`.
  [[nodiscard]] bool fits(std::uint32_t node, std::uint32_t operand, std::uint64_t& row) const;
  /// Joins the step to the chain of one of its operands, if it can.
  void join(std::uint32_t node);

  std::span<const Graph::Node> nodes_;
  std::vector<std::uint32_t> readers_;  // steps, outputs and states that read the value
  std::vector<Link> links_;             // by node
};

}  // namespace ringkernel
