/// Values of MLIR as values of a graph.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Ownership: a builder borrows its recording; values share their known elements.
/// Errors: those of Graph; E6003 for elements that nothing has written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mlir/recording.hpp"
#include "ringkernel/graph.hpp"
#include "ringkernel/ops.hpp"

namespace ringkernel::mlir {

using Integers = std::vector<std::int64_t>;
using Bytes = std::shared_ptr<const std::vector<std::byte>>;

/// A tensor, or a scalar, which has no dims. It need not be there as a whole: along dims where all
/// elements are alike it is kept once, and most ops broadcast. Nor has it to lie as MLIR says: most
/// ops take elements in the order of dims that they have. Elements that the text gives stay out of
/// the graph until an op needs them, so that what only moves them is done here.
struct Value {
  DType dtype = DType::f32;
  bool is_truth = false;  ///< MLIR's i1; here i32, 0 or 1
  Integers dims{};        ///< as MLIR says
  Integers held{};        ///< of what is kept, for each dim: its extent, or 1
  Bytes known{};          ///< the elements, where they are
  std::optional<Graph::Value> made{};
  Integers order{};  ///< dim d is dim `order[d]` of what is made; empty: each is in its place

  [[nodiscard]] std::size_t rank() const noexcept { return dims.size(); }
  [[nodiscard]] bool is_written() const noexcept { return known != nullptr || made.has_value(); }
  [[nodiscard]] bool is_whole() const noexcept { return held == dims; }
  /// The number that all elements are, where that is known.
  [[nodiscard]] std::optional<double> splat() const;

  /// What an op has made.
  [[nodiscard]] static Value of(const Graph::Value& made);
  /// Memory that nothing has written yet: tensor.empty, memref.alloc.
  [[nodiscard]] static Value unwritten(DType dtype, bool is_truth, Integers dims);
  /// All elements are `number`; an integer wraps.
  [[nodiscard]] static Value number(DType dtype, double number, Integers dims = {});
  [[nodiscard]] static Value number(DType dtype, std::int64_t number, Integers dims = {});
  [[nodiscard]] static Value number(DType dtype, int number, Integers dims = {}) {
    return Value::number(dtype, std::int64_t{number}, std::move(dims));
  }
  /// The elements of integers, as i64.
  [[nodiscard]] static Value integers(const Integers& elements);
};

[[nodiscard]] std::int64_t element_count(std::span<const std::int64_t> dims);

/// Adds to a graph what becomes of values.
class Builder {
 public:
  explicit Builder(Recording& graph) : graph_(graph) {}

  [[nodiscard]] Recording& graph() noexcept { return graph_; }
  [[nodiscard]] Result<Graph::Value> add(const Request& request);

  /// What is kept of a value, in the graph, with its dims in their places.
  [[nodiscard]] Result<Graph::Value> kept(const Value& value);
  /// All of it, in the graph.
  [[nodiscard]] Result<Graph::Value> whole(const Value& value);
  /// The same, as a value again.
  [[nodiscard]] Result<Value> spread(const Value& value);

  /// Dim d of the result is dim `permutation[d]`.
  [[nodiscard]] Result<Value> permuted(const Value& value, const Integers& permutation);
  /// The same elements in their order.
  [[nodiscard]] Result<Value> reshaped(const Value& value, const Integers& dims);
  /// Without the dims that say no, which are kept once.
  [[nodiscard]] Result<Value> without(const Value& value, const std::vector<bool>& stays);
  /// With dims in between that are kept once: dim d of the value is dim `places[d]` of the result,
  /// ascending; `dims` are the result's.
  [[nodiscard]] Result<Value> with_dims(const Value& value, const std::vector<std::size_t>& places,
                                        const Integers& dims);
  [[nodiscard]] Result<Value> slice(const Value& value, const Integers& starts,
                                    const Integers& counts, const Integers& steps);
  /// Along a dim, elements in the order of `indices`, which lie inside of it.
  [[nodiscard]] Result<Value> taken(const Value& value, std::size_t dim, const Integers& indices);
  /// One behind the other along a dim.
  [[nodiscard]] Result<Value> concat(const std::vector<Value>& parts, std::size_t dim);

  /// With `number`, which has no dims, around it: before and behind in each dim.
  [[nodiscard]] Result<Value> pad(const Value& value, const Value& number, const Integers& low,
                                  const Integers& high);

  /// Element by element, of operands that have the same rank, and dims alike or 1.
  [[nodiscard]] Result<Value> unary(Op op, const Value& x);
  [[nodiscard]] Result<Value> binary(Op op, const Value& a, const Value& b);
  [[nodiscard]] Result<Value> compare(Comparison comparison, const Value& a, const Value& b);
  [[nodiscard]] Result<Value> select(const Value& condition, const Value& a, const Value& b);
  [[nodiscard]] Result<Value> cast(const Value& x, DType dtype);
  /// 0, 1, 2 and so on, as i64.
  [[nodiscard]] Value count(std::int64_t extent);
  /// sum or reduce_max over the dims named; they are gone from the result.
  [[nodiscard]] Result<Value> reduce(Op op, const Value& x, const std::vector<bool>& over);

 private:
  [[nodiscard]] Result<Value> elementwise(Request request, std::span<const Value> operands,
                                          DType dtype);

  [[nodiscard]] Result<Graph::Value> constant(const Value& value);
  /// With other extents: of what it was made of by this, if it was.
  [[nodiscard]] Result<Graph::Value> shaped(const Graph::Value& value, const Integers& dims);
  /// Dim d of the result is dim `permutation[d]`; once for each value.
  [[nodiscard]] Result<Graph::Value> turned(const Graph::Value& value, const Integers& permutation);

  Recording& graph_;
  std::map<Bytes, Graph::Value> constants_;       // each is there once
  std::map<TensorId, Graph::Value> shaped_from_;  // by what `shaped` gave
  std::map<std::pair<TensorId, Integers>, Graph::Value> turned_;
  std::map<std::int64_t, Value> counts_;  // by their extents
};

}  // namespace ringkernel::mlir
