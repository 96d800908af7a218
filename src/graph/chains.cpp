#include "graph/chains.hpp"

#include <algorithm>
#include <limits>

#include "ops/rules.hpp"

namespace ringkernel {
namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// Whether `inner` has the innermost extents of `outer`, or all of them after ones.
bool is_row_of(const Shape& inner, const Shape& outer) {
  if (inner.rank() > outer.rank()) return false;
  std::uint64_t left = inner.element_count();
  for (std::size_t dim = 1; dim <= inner.rank() && left != 1; ++dim) {
    const std::uint32_t extent = inner[inner.rank() - dim];
    if (extent != outer[outer.rank() - dim]) return false;
    left /= extent;
  }
  return true;
}

}  // namespace

GraphChains::GraphChains(const Graph& graph, const std::vector<bool>& needed)
    : nodes_(graph.nodes()), readers_(nodes_.size(), 0), links_(nodes_.size(), {none, none, 0, 0}) {
  const auto is_step = [&](std::uint32_t node) {
    return needed[node] && std::holds_alternative<Graph::Step>(nodes_[node].what);
  };
  for (const std::uint32_t output : graph.outputs()) ++readers_[output];
  for (const Graph::Node& node : nodes_)
    if (const auto* const state = std::get_if<Graph::State>(&node.what); state && state->next)
      ++readers_[*state->next];
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (!is_step(node)) continue;
    const Graph::Step& step = step_at(node);
    for (std::size_t i = 0; i < step.input_count; ++i)
      if (i == 0 || step.inputs[i] != step.inputs[0]) ++readers_[step.inputs[i]];
  }
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (!is_step(node)) continue;
    links_[node] = alone(node);
    join(node);
  }
}

std::uint32_t GraphChains::end_of(std::uint32_t step) const {
  while (links_[step].after != none) step = links_[step].after;
  return step;
}

std::vector<std::uint32_t> GraphChains::ending_with(std::uint32_t step) const {
  std::vector<std::uint32_t> steps;
  for (; step != none; step = links_[step].before) steps.push_back(step);
  std::ranges::reverse(steps);
  return steps;
}

const Graph::Step& GraphChains::step_at(std::uint32_t node) const {
  return std::get<Graph::Step>(nodes_[node].what);
}

bool GraphChains::fits(std::uint32_t node, std::uint32_t operand, std::uint64_t& row) const {
  const Shape& shape = nodes_[node].desc.shape;
  const Shape& other = nodes_[operand].desc.shape;
  if (other == shape) return true;
  if (other.rank() <= shape.rank() && other.element_count() == 1) return true;
  const std::uint64_t length = other.element_count();
  if (!is_row_of(other, shape) || (row != 0 && row != length)) return false;
  row = length;
  return true;
}

GraphChains::Link GraphChains::alone(std::uint32_t node) const {
  Link link{none, none, 0, 0};
  const Graph::Step& step = step_at(node);
  if (!ops::is_elementwise(step.op) || step.op == Op::copy || nodes_[node].desc.dtype != DType::f32)
    return link;
  bool leads = false;  // an operand goes through all elements
  for (std::size_t i = 0; i < step.input_count; ++i) {
    if (!fits(node, step.inputs[i], link.row)) return {none, none, 0, 0};
    leads |= nodes_[step.inputs[i]].desc == nodes_[node].desc;
  }
  if (leads) link.length = 1;
  return link;
}

void GraphChains::join(std::uint32_t node) {
  if (links_[node].length == 0) return;
  const Graph::Step& step = step_at(node);
  for (std::size_t i = 0; i < step.input_count; ++i) {
    const std::uint32_t operand = step.inputs[i];
    const Link& before = links_[operand];
    std::uint64_t row = before.row;
    if (before.length == 0 || before.length == RK_CHAIN_COMMANDS_MAX || readers_[operand] != 1 ||
        nodes_[operand].desc != nodes_[node].desc ||
        (row != 0 && links_[node].row != 0 && row != links_[node].row))
      continue;
    links_[node] = {operand, none, before.length + 1, row != 0 ? row : links_[node].row};
    links_[operand].after = node;
    return;
  }
}

}  // namespace ringkernel
