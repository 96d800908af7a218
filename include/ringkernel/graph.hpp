/// `Graph`: a network of ops, written down once and then run by one message
/// (compiled_function.hpp).
///
///     Graph graph("scores");
///     const Graph::Value image = graph.input({DType::f32, {1, 64}});
///     const Graph::Value hidden = graph.add(ops::relu(graph.add(ops::matmul(image, weights))));
///     graph.output(hidden);
///     auto function = runtime->compile(graph);
///
/// The functions of ops.hpp describe the ops; wherever they take a TensorView they take a value of
/// the graph. Elements that are given directly become constants of the graph, which copies them.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Ownership: a graph owns its constants. A value belongs to the graph that gave it.
/// Errors: the first one is kept, and answered by everything that uses the graph afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ringkernel/message.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel {

/// A network of ops under construction: each call adds a node.
class Graph {
 public:
  /// What an input, a constant or an op stands for.
  class Value {
   public:
    [[nodiscard]] const TensorDesc& desc() const noexcept { return desc_; }
    operator TensorView() const noexcept {  // NOLINT: conversion is the purpose
      TensorView view(desc_, nullptr);
      view.tensor = tag_;
      return view;
    }

   private:
    friend class Graph;
    Value(const TensorDesc& desc, TensorId tag) noexcept : desc_(desc), tag_(tag) {}

    TensorDesc desc_;
    TensorId tag_;
  };

  /// `name` appears in errors and in the id of the ring kernel that runs the graph.
  explicit Graph(std::string name);

  /// The graph that a module in the text of the public Core IR grammar describes (docs/GRAPHS.md,
  /// "As text"). Takes time in proportion to the text, of which errors quote little. Errors, each
  /// with its line and column: limit_exceeded (ops, inputs or outputs that no compiler takes,
  /// whether an output depends on them or not); invalid_argument (syntax), E4001 to E4003
  /// (names), E3010 and E4005 (constants), E2004 and E3003 (a declared type that the op does not
  /// have), E2005 (f64), E6003 (opcode), and those of the functions below.
  [[nodiscard]] static Result<Graph> parse(std::string name, std::string_view text);

  /// What each execution brings, in the order of these calls. `name`, if there is one, stands in
  /// the function's signature and in errors. E2005, E3002, E3006, E6004; invalid_argument (another
  /// input has that name).
  Value input(const TensorDesc& desc, std::string_view name = {});
  /// What the function keeps from one execution to the next, each instance its own: zeros at first,
  /// then what `update` says. No input, and no output. Errors as of `input`; names of states are
  /// apart from those of inputs and outputs.
  Value state(const TensorDesc& desc, std::string_view name = {});
  /// The state's elements for the next execution. They change at the very end: an execution that
  /// fails changes none, but where its deadline comes between those last copies, or where
  /// `check_nan` finds a NaN in an output. invalid_argument: no state, one that has its update
  /// already, another type or shape.
  void update(const Value& state, const Value& next);
  /// Elements that stay on the device. invalid_argument (no elements, or another count).
  Value constant(const TensorView& elements);
  /// What the op gives. Errors: as for a call of this request; invalid_argument for a value of
  /// another graph, unsupported for a resident tensor.
  Value add(const Request& request);
  /// What each execution answers, in the order of these calls. invalid_argument: a value of another
  /// graph; another output has that name.
  void output(const Value& value, std::string_view name = {});

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// What an execution has to bring.
  [[nodiscard]] std::vector<TensorDesc> inputs() const;
  /// What it keeps, in the order of the calls of `state`.
  [[nodiscard]] std::vector<TensorDesc> states() const;
  /// One for each input, state and output, in their order; empty: it has none.
  [[nodiscard]] std::vector<std::string> input_names() const;
  [[nodiscard]] std::vector<std::string> state_names() const;
  [[nodiscard]] const std::vector<std::string>& output_names() const noexcept {
    return output_names_;
  }
  /// Ops added so far.
  [[nodiscard]] std::size_t op_count() const noexcept { return op_count_; }
  /// The first error, or success.
  [[nodiscard]] const Result<void>& status() const noexcept { return status_; }

  // --- for the compiler -----------------------------------------------------------------------

  /// What an execution brings.
  struct Input {
    std::string name;
  };
  /// What is kept from execution to execution.
  struct State {
    std::string name;
    std::optional<std::uint32_t> next{};  // the node whose elements it gets
  };
  /// Elements that are the same in every execution.
  struct Constant {
    std::vector<std::byte> bytes;
  };
  /// An op on nodes before it.
  struct Step {
    Op op = Op::noop;
    std::uint32_t input_count = 0;
    std::array<std::uint32_t, inputs_max> inputs{};  // indices of nodes before this one
    rk_op_attrs attrs{};
  };
  /// One value of the network, and where it comes from.
  struct Node {
    TensorDesc desc;
    std::variant<Input, State, Constant, Step> what;
  };
  [[nodiscard]] std::span<const Node> nodes() const noexcept { return nodes_; }
  [[nodiscard]] std::span<const std::uint32_t> outputs() const noexcept { return outputs_; }

 private:
  Value push(Node node);
  /// Keeps the error, and gives a value that stands for nothing.
  Value fail(Error error);
  /// Whether nothing else of that kind has the name; notes the error if so.
  bool take_name(const char* kind, std::string_view name);
  /// The node that an operand names; inline elements become a constant.
  Result<std::uint32_t> operand(const TensorView& view);

  std::string name_;
  TensorId tag_;  // of the values: marks them, and tells graphs apart
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> outputs_;
  std::vector<std::string> output_names_;
  std::set<std::pair<std::string_view, std::string>> names_;  // of each kind, those taken
  std::size_t op_count_ = 0;
  Result<void> status_;
};

}  // namespace ringkernel
