/// A graph while it is made, and all that made it as bytes, by which a later process makes it anew
/// without the text that it came from.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Ownership: borrows the graph and the bytes.
/// Errors: those of Graph; malformed_message for bytes that no recording has.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "ringkernel/graph.hpp"

namespace ringkernel::mlir {

/// Calls a graph's functions of these names, and writes each call down.
class Recording {
 public:
  /// `bytes` are for the same version of this library on the same kind of machine; null: nothing is
  /// written.
  Recording(Graph& graph, std::string* bytes);

  [[nodiscard]] const Result<void>& status() const noexcept { return graph_.status(); }
  Graph::Value input(const TensorDesc& desc);
  Graph::Value state(const TensorDesc& desc);
  Graph::Value constant(const TensorView& elements);
  /// All operands are values of the graph.
  Graph::Value add(const Request& request);
  void update(const Graph::Value& state, const Graph::Value& next);
  void output(const Graph::Value& value);

 private:
  Graph::Value numbered(const Graph::Value& value);
  void write_value(const TensorView& value);
  template <class... Parts>
  void write_down(const Parts&... parts);

  Graph& graph_;
  std::string* bytes_;
  std::map<TensorId, std::uint32_t> numbers_;  // of values, in the order in which they came
};

/// The graph again; every call is checked as the first time.
[[nodiscard]] Result<Graph> replayed(std::string_view bytes);

}  // namespace ringkernel::mlir
