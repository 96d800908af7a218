/// Graphs in Python: `Graph` and `Value`, and ONNX files as graphs.
///
/// Threading: with the interpreter's lock held.
#pragma once

#include "python/ops.hpp"
#include "ringkernel/graph.hpp"

namespace ringkernel::python {

struct ValueObject;

class GraphObject {
 public:
  explicit GraphObject(Graph graph) : graph_(std::move(graph)) {}

  [[nodiscard]] Graph& graph() noexcept { return graph_; }
  /// Adds the op of `request`, which has its attributes; operands are values of this graph, and
  /// constants.
  ValueObject run(Request& request, OperandList operands);
  /// What the graph gave, or its first error, thrown.
  [[nodiscard]] ValueObject checked(const Graph::Value& value);
  void check() const;

 private:
  Graph graph_;
};

struct ValueObject {
  nb::object graph;
  Graph::Value value;
  bool is_truth = false;  ///< of a comparison
};

void bind_graph(nb::module_& module);

}  // namespace ringkernel::python
