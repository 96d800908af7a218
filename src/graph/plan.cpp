#include "graph/plan.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "foundation/align.hpp"
#include "graph/chains.hpp"
#include "message/codec.hpp"
#include "ops/rules.hpp"
#include "ringkernel/function_result.hpp"

namespace ringkernel {
namespace {

constexpr std::uint64_t align = RK_RECORD_ALIGN;
constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

std::uint64_t padded(std::uint64_t bytes) noexcept { return align_up(bytes, align); }

/// Blocks of the workspace that hold something, by offset. First fit.
class Workspace {
 public:
  std::uint64_t allocate(std::uint64_t bytes) {
    std::uint64_t offset = 0;
    for (const auto& [start, size] : used_) {
      if (start - offset >= bytes) break;
      offset = start + size;
    }
    used_.emplace(offset, bytes);
    end_ = std::max(end_, offset + bytes);
    return offset;
  }
  void free(std::uint64_t offset) { used_.erase(offset); }
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }

 private:
  std::map<std::uint64_t, std::uint64_t> used_;
  std::uint64_t end_ = 0;
};

/// Where a value lies while the graph runs.
struct Place {
  rk_u8 place = RK_PLACE_NONE;
  std::uint64_t offset = 0;
  rk_u8 binding = 0;  // of an input or output
};

/// A state, and the value that it becomes.
struct Update {
  std::uint32_t state;
  std::uint32_t next;
};

class Planner {
 public:
  explicit Planner(const Graph& graph)
      : graph_(graph),
        nodes_(graph.nodes()),
        roots_(nodes_.size()),
        is_kept_(nodes_.size(), false),
        places_(nodes_.size()),
        last_use_(nodes_.size(), never),
        needed_(nodes_.size(), false) {}

  Result<GraphPlan> plan() {
    RK_TRY_VOID(check());
    input_count_ = graph_.inputs().size();
    find_roots();
    find_uses();
    place_outputs();
    place_states();
    const std::size_t commands =
        steps_ + copies_.size() + updates_.size() +
        static_cast<std::size_t>(std::ranges::count_if(
            updates_, [this](const Update& update) { return goes_aside(update); }));
    if (commands > RK_GRAPH_COMMANDS_MAX)
      return Error(Errc::limit_exceeded, "a graph runs at most " +
                                             std::to_string(RK_GRAPH_COMMANDS_MAX) +
                                             " commands, this one " + std::to_string(commands));
    place_inputs_and_constants(padded(commands * sizeof(rk_command)));
    for (std::uint32_t node = 0; node < nodes_.size(); ++node)
      if (is_needed_step(node) && !is_view(node) && chains_->end_of(node) == node)
        run(chains_->ending_with(node));
    for (const std::size_t output : copies_) copy_out(output);
    update_states();
    plan_.workspace_bytes = workspace_.end();
    find_overwrites();
    return std::move(plan_);
  }

 private:
  [[nodiscard]] bool is_step(std::uint32_t node) const {
    return std::holds_alternative<Graph::Step>(nodes_[node].what);
  }
  [[nodiscard]] const Graph::Step& step_at(std::uint32_t node) const {
    return std::get<Graph::Step>(nodes_[node].what);
  }
  [[nodiscard]] bool is_needed_step(std::uint32_t node) const {
    return needed_[node] && is_step(node);
  }
  /// Whether it is what another value is, by another shape: nothing runs for it.
  [[nodiscard]] bool is_view(std::uint32_t node) const { return roots_[node] != node; }

  Result<void> check() const {
    if (!graph_.status()) return graph_.status();
    const std::size_t inputs = graph_.inputs().size();
    const std::size_t outputs = graph_.outputs().size();
    if (inputs == 0 || outputs == 0)
      return Error(Errc::invalid_argument, "a graph has at least one input and one output");
    if (inputs > graph_inputs_max || outputs > graph_outputs_max)
      return Error(Errc::limit_exceeded, "a graph has at most " + std::to_string(graph_inputs_max) +
                                             " inputs and " + std::to_string(graph_outputs_max) +
                                             " outputs, this one " + std::to_string(inputs) +
                                             " and " + std::to_string(outputs));
    return {};
  }

  /// Nothing if it is no state, or one that does not change.
  [[nodiscard]] std::optional<std::uint32_t> next_of(std::uint32_t node) const {
    const auto* const state = std::get_if<Graph::State>(&nodes_[node].what);
    return state != nullptr ? state->next : std::nullopt;
  }

  void find_roots() {
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
      const bool is_view = is_step(node) && ops::is_view(step_at(node).op);
      roots_[node] = is_view ? roots_[step_at(node).inputs[0]] : node;
    }
    for (const std::uint32_t output : graph_.outputs()) is_kept_[roots_[output]] = true;
    for (std::uint32_t node = 0; node < nodes_.size(); ++node)
      if (const std::optional<std::uint32_t> next = next_of(node); next && roots_[*next] != node)
        updates_.push_back({node, *next});
    for (const Update& update : updates_) is_kept_[roots_[update.next]] = true;
  }

  /// Which values an output or a state depends on, what runs as a chain, and which step reads each
  /// value last; for that a chain runs where it ends.
  void find_uses() {
    for (const std::uint32_t output : graph_.outputs()) needed_[output] = true;
    for (const Update& update : updates_) needed_[update.next] = true;
    for (auto node = static_cast<std::uint32_t>(nodes_.size()); node-- > 0;) {
      if (!is_needed_step(node)) continue;
      const Graph::Step& step = step_at(node);
      if (!is_view(node)) ++steps_;
      for (std::size_t i = 0; i < step.input_count; ++i) needed_[step.inputs[i]] = true;
    }
    chains_.emplace(graph_, needed_);
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
      if (!is_needed_step(node) || is_view(node)) continue;
      const Graph::Step& step = step_at(node);
      const std::uint32_t runs_at = chains_->end_of(node);
      for (std::size_t i = 0; i < step.input_count; ++i) {
        std::uint32_t& last = last_use_[roots_[step.inputs[i]]];
        last = last == never ? runs_at : std::max(last, runs_at);
      }
    }
  }

  /// A step whose result is one output and nothing else writes it into the reply. Other outputs are
  /// copied there at the end, before the states change.
  void place_outputs() {
    const std::span<const std::uint32_t> outputs = graph_.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::uint32_t value = outputs[i];
      const std::uint32_t root = roots_[value];
      const auto is_the_same = [&](std::uint32_t other) { return roots_[other] == root; };
      if (is_step(root) && last_use_[root] == never &&
          std::ranges::count_if(outputs, is_the_same) == 1 &&
          std::ranges::none_of(updates_, is_the_same, &Update::next))
        places_[root] = {RK_PLACE_MESSAGE, plan_.output_bytes, output_binding(i)};
      else
        copies_.push_back(i);
      plan_.output_offsets.push_back(plan_.output_bytes);
      plan_.output_bytes += padded(nodes_[value].desc.bytes());
    }
  }

  void place_states() {
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
      if (!std::holds_alternative<Graph::State>(nodes_[node].what)) continue;
      places_[node] = {RK_PLACE_OWN, plan_.state_bytes};
      plan_.state_offsets.push_back(plan_.state_bytes);
      plan_.state_bytes += padded(nodes_[node].desc.bytes());
    }
  }

  void place_inputs_and_constants(std::uint64_t constants_start) {
    plan_.shared_bytes = constants_start;
    plan_.constant_offsets.assign(nodes_.size(), 0);
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const std::uint64_t bytes = padded(nodes_[node].desc.bytes());
      if (std::holds_alternative<Graph::Input>(nodes_[node].what)) {
        plan_.input_offsets.push_back(plan_.input_bytes);
        places_[node] = {RK_PLACE_MESSAGE, plan_.input_bytes,
                         static_cast<rk_u8>(plan_.input_offsets.size())};
        plan_.input_bytes += bytes;
      } else if (needed_[node] && std::holds_alternative<Graph::Constant>(nodes_[node].what)) {
        places_[node] = {RK_PLACE_ARENA, plan_.shared_bytes};
        plan_.constant_offsets[node] = plan_.shared_bytes;
        plan_.shared_bytes += bytes;
      }
    }
  }

  /// Whether the value's block is free again behind this step: what is copied at the end keeps its.
  [[nodiscard]] bool dies_at(std::uint32_t root, std::uint32_t node) const {
    return last_use_[root] == node && is_step(root) && places_[root].place == RK_PLACE_OWN &&
           !is_kept_[root];
  }

  /// The operand that the chain, or an elementwise op, may write over, or `never`.
  [[nodiscard]] std::uint32_t reusable(std::span<const std::uint32_t> chain) const {
    const std::uint32_t end = chain.back();
    for (const std::uint32_t node : chain) {
      const Graph::Step& step = step_at(node);
      if (!ops::is_elementwise(step.op)) return never;
      for (std::size_t i = 0; i < step.input_count; ++i) {
        const std::uint32_t root = roots_[step.inputs[i]];
        if (dies_at(root, end) && is_read_as(nodes_[end].desc, root, chain)) return root;
      }
    }
    return never;
  }

  /// Whether the chain reads the value by this shape alone: for the device an operand of another
  /// one overlaps the result.
  [[nodiscard]] bool is_read_as(const TensorDesc& desc, std::uint32_t root,
                                std::span<const std::uint32_t> chain) const {
    return std::ranges::all_of(chain, [&](std::uint32_t node) {
      const Graph::Step& step = step_at(node);
      return std::ranges::all_of(std::span(step.inputs).first(step.input_count),
                                 [&](std::uint32_t operand) {
                                   return roots_[operand] != root || nodes_[operand].desc == desc;
                                 });
    });
  }

  /// The steps of a chain; most have one.
  void run(std::span<const std::uint32_t> chain) {
    const std::uint32_t end = chain.back();
    for (const std::uint32_t node : chain.first(chain.size() - 1))
      places_[node] = {RK_PLACE_CHAIN, 0};
    if (places_[end].place == RK_PLACE_NONE) {
      const std::uint32_t operand = reusable(chain);
      if (operand != never) {
        places_[end] = places_[operand];
        last_use_[operand] = never;  // its block lives on
      } else {
        places_[end] = allocate(nodes_[end].desc);
      }
    }
    for (const std::uint32_t node : chain) {
      const Graph::Step& step = step_at(node);
      push(step.op, step.attrs, node, places_[node],
           std::span(step.inputs).first(step.input_count));
    }
    for (const std::uint32_t node : chain) free_operands(step_at(node), end);
  }

  /// Of what dies where the chain ends.
  void free_operands(const Graph::Step& step, std::uint32_t end) {
    for (std::size_t i = 0; i < step.input_count; ++i) {
      const std::uint32_t operand = roots_[step.inputs[i]];
      if (!dies_at(operand, end)) continue;
      workspace_.free(places_[operand].offset - plan_.state_bytes);
      last_use_[operand] = never;  // it may be two operands
    }
  }

  Place allocate(const TensorDesc& desc) {
    return {RK_PLACE_OWN, plan_.state_bytes + workspace_.allocate(padded(desc.bytes()))};
  }

  [[nodiscard]] bool goes_aside(const Update& update) const {
    return std::holds_alternative<Graph::State>(nodes_[roots_[update.next]].what);
  }

  /// What becomes of one state may be what another one was: such elements go aside first.
  void update_states() {
    std::vector<Place> from;
    for (const Update& update : updates_) {
      const std::uint32_t root = roots_[update.next];
      from.push_back(places_[root]);
      if (!goes_aside(update)) continue;
      from.back() = allocate(nodes_[root].desc);
      push_copy(update.next, places_[root], from.back());
    }
    for (std::size_t i = 0; i < updates_.size(); ++i)
      push_copy(updates_[i].next, from[i], places_[updates_[i].state]);
  }

  void push_copy(std::uint32_t value, const Place& from, const Place& to) {
    rk_command command{};
    command.op = static_cast<rk_u16>(Op::copy);
    command.input_count = command.output_count = 1;
    command.output = operand_at(nodes_[value].desc, to);
    command.inputs[0] = operand_at(nodes_[value].desc, from);
    plan_.commands.push_back(command);
  }

  void copy_out(std::size_t output) {
    const std::uint32_t value = graph_.outputs()[output];
    push_copy(value, places_[roots_[value]],
              {RK_PLACE_MESSAGE, plan_.output_offsets[output], output_binding(output)});
  }

  [[nodiscard]] rk_u8 output_binding(std::size_t output) const {
    return static_cast<rk_u8>(input_count_ + output + 1);
  }

  /// A chain reads and writes as one command, behind which `overwrites` and `index_inputs` are what
  /// they are as far as the commands up to it are concerned.
  void find_overwrites() {
    plan_.overwrites.assign(graph_.outputs().size(), ~std::uint32_t{0});
    plan_.index_inputs = ~std::uint32_t{0};
    std::vector<bool> written(graph_.outputs().size(), false);
    const std::span<const rk_command> commands = plan_.commands;
    for (std::size_t begin = 0, end = 0; begin < commands.size(); begin = end) {
      for (end = begin; commands[end].output.place == RK_PLACE_CHAIN; ++end) continue;
      const rk_operand& result = commands[end++].output;
      if (result.binding != 0) written[result.binding - input_count_ - 1] = true;
      const bool is_elementwise = std::all_of(
          commands.begin() + static_cast<std::ptrdiff_t>(begin),
          commands.begin() + static_cast<std::ptrdiff_t>(end),
          [](const rk_command& command) { return ops::is_elementwise(Op{command.op}); });
      for (const rk_command& command : commands.subspan(begin, end - begin))
        for (std::size_t i = 0; i < command.input_count; ++i)
          note_reading(command, i, is_elementwise ? &result : nullptr, written);
    }
  }

  /// `result`: what may be written over an operand like it; null: nothing. `written`: outputs, this
  /// one among them.
  void note_reading(const rk_command& command, std::size_t operand, const rk_operand* result,
                    const std::vector<bool>& written) {
    const rk_operand& input = command.inputs[operand];
    if (input.binding == 0) return;
    const std::uint32_t bit = std::uint32_t{1} << (input.binding - 1);
    if (Op{command.op} != Op::gather || operand != 1) plan_.index_inputs &= ~bit;
    for (std::size_t output = 0; output < written.size(); ++output) {
      const bool is_like_it =
          result != nullptr && result->binding == output_binding(output) && is_same(input, *result);
      if (written[output] && !is_like_it) plan_.overwrites[output] &= ~bit;
    }
  }

  static bool is_same(const rk_operand& a, const rk_operand& b) {
    return a.dtype == b.dtype && a.rank == b.rank && std::ranges::equal(a.dims, b.dims);
  }

  void push(Op op, const rk_op_attrs& attrs, std::uint32_t result, const Place& to,
            std::span<const std::uint32_t> operands) {
    rk_command command{};
    command.op = static_cast<rk_u16>(op);
    command.input_count = static_cast<rk_u8>(operands.size());
    command.output_count = 1;
    command.output = operand_at(nodes_[result].desc, to);
    for (std::size_t i = 0; i < operands.size(); ++i)
      command.inputs[i] = operand_at(nodes_[operands[i]].desc, places_[roots_[operands[i]]]);
    command.attrs = attrs;
    plan_.commands.push_back(command);
  }

  static rk_operand operand_at(const TensorDesc& desc, const Place& place) {
    rk_operand operand = codec::make_operand(desc, place.place);
    operand.offset = place.offset;
    operand.binding = place.binding;
    return operand;
  }

  const Graph& graph_;
  const std::span<const Graph::Node> nodes_;
  std::vector<std::uint32_t> roots_;     // the value whose elements a view has; itself: no view
  std::vector<bool> is_kept_;            // to the end: an output, or a state's next elements
  std::vector<Place> places_;            // of roots, once they have one
  std::vector<std::uint32_t> last_use_;  // the step that reads a root last; never: none, or done
  std::vector<bool> needed_;
  std::optional<GraphChains> chains_;  // once it is known what is needed
  std::vector<std::size_t> copies_;    // outputs that are copied at the end
  std::vector<Update> updates_;        // and states that change
  std::size_t steps_ = 0;
  std::size_t input_count_ = 0;
  Workspace workspace_;
  GraphPlan plan_;
};

}  // namespace

Result<GraphPlan> plan_graph(const Graph& graph) { return Planner(graph).plan(); }

}  // namespace ringkernel
