#include "graph/function_code.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "ops/ir_text.hpp"

namespace ringkernel::detail {
namespace {

FunctionSignature sign(const Graph& graph, const GraphPlan& plan) {
  FunctionSignature signature;
  signature.name = graph.name();
  signature.inputs = graph.inputs();
  for (const std::uint32_t output : graph.outputs())
    signature.outputs.push_back(graph.nodes()[output].desc);
  signature.input_names = graph.input_names();
  signature.output_names = graph.output_names();
  signature.states = graph.states();
  signature.state_names = graph.state_names();
  signature.output_offsets = plan.output_offsets;
  signature.commands = plan.commands.size();
  signature.arena_bytes = plan.shared_bytes + plan.state_bytes + plan.workspace_bytes;
  signature.state_bytes = plan.state_bytes;
  signature.workspace_bytes = plan.workspace_bytes;
  return signature;
}

/// Of the constants that the function needs; they are counted in the order in which they were made.
Result<void> check_constants(const Graph& graph, const GraphPlan& plan) {
  std::size_t number = 0;
  for (std::size_t node = 0; node < graph.nodes().size(); ++node) {
    const auto* const constant = std::get_if<Graph::Constant>(&graph.nodes()[node].what);
    if (constant == nullptr) continue;
    if (plan.constant_offsets[node] != 0)
      RK_TRY_VOID(check_numbers(graph.name(), "constant", number, {},
                                TensorView(graph.nodes()[node].desc, constant->bytes.data())));
    ++number;
  }
  return {};
}

}  // namespace

Result<void> check_numbers(const std::string& function, const char* what, std::size_t number,
                           const std::string& name, const TensorView& view) {
  const std::span<const float> elements = view.elements<float>();
  bool found = false;  // without a way out: the loop becomes vectors
  for (const float element : elements) found |= element != element;
  if (!found) return {};
  const auto first = std::ranges::find_if(elements, [](float x) { return x != x; });
  return Error(Errc::not_a_number, "compiled function '" + function +
                                       "': " + ops::place_text(what, number, name) + ", " +
                                       view.desc.text() + ", at element " +
                                       std::to_string(first - elements.begin()));
}

void write_shared(const Graph& graph, GraphPlan& plan, std::byte* to, std::uint64_t place) {
  const auto move = [place](rk_operand& operand) {
    if (operand.place == RK_PLACE_ARENA) operand.offset += place;
  };
  for (rk_command& command : plan.commands) {
    move(command.output);
    for (std::size_t i = 0; i < command.input_count; ++i) move(command.inputs[i]);
  }
  std::memcpy(to, plan.commands.data(), plan.commands.size() * sizeof(rk_command));
  for (std::size_t node = 0; node < graph.nodes().size(); ++node)
    if (plan.constant_offsets[node] != 0) {
      const auto& bytes = std::get<Graph::Constant>(graph.nodes()[node].what).bytes;
      std::memcpy(to + plan.constant_offsets[node], bytes.data(), bytes.size());
    }
}

FunctionCode::FunctionCode(const Graph& graph, const GraphPlan& plan)
    : signature_(std::make_shared<const FunctionSignature>(sign(graph, plan))),
      state_offsets_(plan.state_offsets),
      overwrites_(plan.overwrites),
      index_inputs_(plan.index_inputs),
      input_bytes_(plan.input_bytes),
      output_bytes_(plan.output_bytes),
      own_bytes_(plan.state_bytes + plan.workspace_bytes),
      constants_(check_constants(graph, plan)) {}

}  // namespace ringkernel::detail
