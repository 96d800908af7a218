#include "ringkernel/graph.hpp"

#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "message/codec.hpp"
#include "ops/ir_text.hpp"
#include "ops/rules.hpp"

namespace ringkernel {
namespace {

/// The tag of a value: the highest bit, the number of its graph, the index of its node. Resident
/// tensors count from 1, so none of theirs has that bit.
constexpr TensorId value_bit = TensorId{1} << 63;
constexpr unsigned node_bits = 24;
constexpr std::size_t nodes_max = std::size_t{1} << node_bits;
constexpr TensorId node_mask = nodes_max - 1;

TensorId next_tag() noexcept {
  static std::atomic<TensorId> last{0};
  return value_bit | (last.fetch_add(1, std::memory_order_relaxed) + 1) << node_bits;  // distinct
}

}  // namespace

Graph::Graph(std::string name) : name_(std::move(name)), tag_(next_tag()) {}

Graph::Value Graph::push(Node node) {
  if (!status_) return {{DType::none, {}}, tag_};
  if (nodes_.size() == nodes_max)
    return fail(Error(Errc::limit_exceeded,
                      "a graph has at most " + std::to_string(nodes_max) + " values"));
  nodes_.push_back(std::move(node));
  return {nodes_.back().desc, tag_ | (nodes_.size() - 1)};
}

Graph::Value Graph::fail(Error error) {
  if (status_) {
    error.detail = "graph '" + name_ + "', op " + std::to_string(op_count_) + ": " + error.detail;
    status_ = std::move(error);
  }
  return {{DType::none, {}}, tag_};
}

bool Graph::take_name(const char* kind, std::string_view name) {
  if (name.empty() || names_.emplace(kind, name).second) return true;
  (void)fail(Error(Errc::invalid_argument,
                   "two " + std::string(kind) + "s are named '" + ops::excerpt(name) + "'"));
  return false;
}

Graph::Value Graph::input(const TensorDesc& desc, std::string_view name) {
  if (Result<void> sound = ops::check_desc(desc); !sound) return fail(sound.error());
  if (!take_name("input", name)) return {{DType::none, {}}, tag_};
  return push({desc, Input{std::string(name)}});
}

Graph::Value Graph::constant(const TensorView& elements) {
  if (Result<void> sound = ops::check_desc(elements.desc); !sound) return fail(sound.error());
  if (elements.data == nullptr || elements.element_count != elements.desc.element_count())
    return fail(Error(Errc::invalid_argument,
                      "a constant " + elements.desc.text() + " with " +
                          std::to_string(elements.data == nullptr ? 0 : elements.element_count) +
                          " elements"));
  Constant constant{std::vector<std::byte>(elements.desc.bytes())};
  std::memcpy(constant.bytes.data(), elements.data, constant.bytes.size());
  return push({elements.desc, std::move(constant)});
}

Graph::Value Graph::state(const TensorDesc& desc, std::string_view name) {
  if (Result<void> sound = ops::check_desc(desc); !sound) return fail(sound.error());
  if (!take_name("state", name)) return {{DType::none, {}}, tag_};
  return push({desc, State{std::string(name)}});
}

void Graph::update(const Value& state, const Value& next) {
  if (!status_) return;
  const Result<std::uint32_t> node = operand(state);
  const Result<std::uint32_t> from = operand(next);
  if (!node || !from) return (void)fail(node ? from.error() : node.error());
  auto* const kept = std::get_if<State>(&nodes_[*node].what);
  const auto refuse = [this](const std::string& what) {
    (void)fail(Error(Errc::invalid_argument, what));
  };
  if (kept == nullptr) return refuse("an update of a value that is no state");
  if (kept->next) return refuse("a state is updated twice");
  if (nodes_[*from].desc != nodes_[*node].desc)
    return refuse("a state " + nodes_[*node].desc.text() + " gets " + nodes_[*from].desc.text());
  kept->next = *from;
}

Result<std::uint32_t> Graph::operand(const TensorView& view) {
  if (view.tensor == 0) {
    (void)constant(view);
    if (!status_) return status_.error();
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  if ((view.tensor & value_bit) == 0)
    return Error(Errc::unsupported, "an operand is a resident tensor; a graph has constants");
  const TensorId node = view.tensor & node_mask;
  if ((view.tensor & ~node_mask) != tag_ || node >= nodes_.size())
    return Error(Errc::invalid_argument, "an operand is a value of another graph");
  return static_cast<std::uint32_t>(node);
}

Graph::Value Graph::add(const Request& request) {
  if (!status_) return {{DType::none, {}}, tag_};
  if (request.output != 0)
    return fail(Error(Errc::unsupported, "a graph plans itself where results lie"));
  Step step{.op = request.op, .input_count = request.input_count};
  std::array<TensorDesc, inputs_max> descs;
  if (request.input_count > inputs_max)
    return fail(Error(Errc::arity_mismatch, std::to_string(request.input_count) + " operands"));
  for (std::size_t i = 0; i < request.input_count; ++i) {
    const Result<std::uint32_t> node = operand(request.inputs[i]);
    if (!node) return fail(node.error());
    step.inputs[i] = *node;
    descs[i] = nodes_[*node].desc;
  }
  const Result<Inference> inference =
      infer(request.op, std::span(descs).first(request.input_count), request.attributes);
  if (!inference) return fail(inference.error());
  if (inference->output.dtype == DType::none)
    return fail(Error(Errc::invalid_argument, "an op without a result"));
  step.attrs = inference->attrs;
  ++op_count_;
  return push({inference->output, step});
}

std::vector<TensorDesc> Graph::inputs() const {
  std::vector<TensorDesc> descs;
  for (const Node& node : nodes_)
    if (std::holds_alternative<Input>(node.what)) descs.push_back(node.desc);
  return descs;
}

std::vector<TensorDesc> Graph::states() const {
  std::vector<TensorDesc> descs;
  for (const Node& node : nodes_)
    if (std::holds_alternative<State>(node.what)) descs.push_back(node.desc);
  return descs;
}

std::vector<std::string> Graph::input_names() const {
  std::vector<std::string> names;
  for (const Node& node : nodes_)
    if (const auto* const input = std::get_if<Input>(&node.what)) names.push_back(input->name);
  return names;
}

std::vector<std::string> Graph::state_names() const {
  std::vector<std::string> names;
  for (const Node& node : nodes_)
    if (const auto* const state = std::get_if<State>(&node.what)) names.push_back(state->name);
  return names;
}

void Graph::output(const Value& value, std::string_view name) {
  const Result<std::uint32_t> node = operand(value);
  if (!node) return (void)fail(node.error());
  if (!take_name("output", name)) return;
  outputs_.push_back(*node);
  output_names_.emplace_back(name);
}

}  // namespace ringkernel
