/// Builds a graph from a model: node after node, by the rule of its op (ops.def). What depends on
/// known values alone (initialisers, shapes) is computed here and now, so that the arithmetic with
/// which exporters make shapes leaves nothing behind.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Ownership: borrows the model and the options.
/// Errors: as of onnx.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/model.hpp"
#include "ringkernel/onnx.hpp"

namespace ringkernel::onnx {

using Integers = std::vector<std::int64_t>;

/// What a name stands for: elements that are known, or a value of the graph. ONNX has the channels
/// of images in front, [N, C, H, W], and our convolutions behind. So that neighbours need not turn
/// back what the other has turned, a value may be there in either order, or in both.
struct Value {
  Value() = default;
  Value(const Graph::Value& value) : made(value) {}  // NOLINT: a value of the graph is one

  std::optional<Tensor> known;
  std::optional<Graph::Value> made;  ///< also of a known one that an op has needed
  /// The same as [N, H, W, C]; of [N, C, W] with H = 1.
  std::optional<Graph::Value> channels_last;
  bool is_line = false;  ///< of `channels_last`: ONNX has 3 dims

  [[nodiscard]] static Value with_channels_last(const Graph::Value& value, bool is_line);

  /// Not of an output that its node does not give.
  [[nodiscard]] bool is_there() const noexcept { return known || made || channels_last; }
  [[nodiscard]] bool is_known() const noexcept { return known.has_value(); }
  [[nodiscard]] bool is_channels_last() const noexcept { return channels_last && !made; }
  /// Extents in the order of ONNX; of a known one perhaps 0.
  [[nodiscard]] Integers dims() const;
};

/// Bytes of constants that may still be made of what a file has: a short file may ask for many.
struct Room {
  std::uint64_t bytes = 0;

  /// limit_exceeded.
  [[nodiscard]] Result<void> take(std::uint64_t wanted);
};

/// A node with its operands, for its rule.
class Operation {
 public:
  Operation(Graph& graph, Room& room, const Node& node, std::vector<Value*> inputs,
            std::int64_t version)
      : graph_(graph), room_(room), node_(node), inputs_(std::move(inputs)), version_(version) {}

  [[nodiscard]] const Node& node() const noexcept { return node_; }
  /// Of ONNX's operator set.
  [[nodiscard]] std::int64_t version() const noexcept { return version_; }
  [[nodiscard]] bool has(std::size_t position) const noexcept {
    return position < inputs_.size() && inputs_[position] != nullptr;
  }
  [[nodiscard]] std::size_t input_count() const noexcept { return inputs_.size(); }
  /// Of one that is there, as for `dims` and `rank`.
  [[nodiscard]] Value& value(std::size_t position) const noexcept { return *inputs_[position]; }
  [[nodiscard]] Integers dims(std::size_t position) const { return value(position).dims(); }
  [[nodiscard]] std::int64_t rank(std::size_t position) const {
    return static_cast<std::int64_t>(dims(position).size());
  }

  /// The operand as one of the graph's ops: a known one becomes a constant. E2005, E3006, E3002.
  [[nodiscard]] Result<Graph::Value> operand(std::size_t position) const;
  /// The same as [N, H, W, C]. `rank`: 4, or 3 for [N, C, W]; a known operand may have fewer dims.
  [[nodiscard]] Result<Graph::Value> channels_last(std::size_t position, std::int64_t rank) const;
  /// The integers that an operand is known to have. E6003.
  [[nodiscard]] Result<Integers> integers(std::size_t position) const;
  /// A list that newer versions take as an operand and older ones as an attribute; empty: neither.
  [[nodiscard]] Result<Integers> list(std::size_t position, std::string_view attribute) const;
  /// A constant of the graph, which copies the elements.
  [[nodiscard]] Result<Graph::Value> constant(const TensorView& elements) const;
  /// The elements of a tensor of the file. E6003 (in another file), E2005, E3006.
  [[nodiscard]] Result<Graph::Value> constant(const Tensor& tensor) const;
  /// Adds an op to the graph.
  [[nodiscard]] Result<Graph::Value> add(const Request& request) const;
  /// Dim d of the result is dim `permutation[d]`; where only extents of 1 change place, a reshape,
  /// for which nothing runs.
  [[nodiscard]] Result<Graph::Value> transpose(const Graph::Value& x,
                                               const Integers& permutation) const;
  /// Why this node is none for us: E6003.
  [[nodiscard]] Error refusal(std::string why) const;

 private:
  Graph& graph_;
  Room& room_;
  const Node& node_;
  std::vector<Value*> inputs_;
  std::int64_t version_;
};

/// What an operation gives: its outputs in their order. Those at the end, and values that are not
/// there, are for nobody to want.
using Results = std::vector<Value>;

/// What an op of ONNX is here.
struct Rule {
  std::string_view domain;
  std::string_view op;
  std::int64_t since;  ///< versions of the operator set in which the op means what is done here
  std::int64_t until;
  std::size_t operands;  ///< that are there always, the first ones
  Result<Results> (*lower)(const Operation& operation);
  /// Nothing: not of these.
  std::optional<Tensor> (*fold)(const Operation& operation);
};

/// nullptr: there is none, whatever the version.
[[nodiscard]] const Rule* find_rule(std::string_view domain, std::string_view op);

/// An axis counted from the front; nothing if there is no such axis.
[[nodiscard]] std::optional<std::int64_t> axis_of(std::int64_t axis, std::int64_t rank);

class Importer {
 public:
  Importer(const Model& model, const Options& options);

  [[nodiscard]] Result<Graph> import();

 private:
  [[nodiscard]] Result<void> find_outputs();
  /// The nodes that these depend on.
  void find_needed();
  [[nodiscard]] Result<void> take_inputs();
  [[nodiscard]] Result<Integers> extents_of(const ValueInfo& info) const;
  /// E6003: those without a rule, all of them.
  [[nodiscard]] Result<void> check_rules() const;
  [[nodiscard]] Result<void> lower(const Node& node);
  [[nodiscard]] Result<Graph::Value> result(const std::string& name);
  /// invalid_argument: the model has none of that name.
  [[nodiscard]] Result<void> check_output(std::string_view name) const;
  [[nodiscard]] Result<void> check_input(std::string_view name) const;

  const Model& model_;
  const Options& options_;
  Graph graph_;
  Room room_;
  std::map<std::string, Value, std::less<>> values_;
  std::vector<std::string> outputs_;
  std::set<std::string_view> wanted_;  // names that the outputs depend on
  std::vector<const Node*> needed_;    // in the order of the file
};

}  // namespace ringkernel::onnx
