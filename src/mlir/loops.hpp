/// A nest of loops, as linalg.generic has it: which element of an operand a turn of them reads.
///
/// Threading: any thread; pure but for the builder's graph.
/// Errors: E6003 for maps that no op of ours has; limit_exceeded; those of Builder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mlir/ir.hpp"
#include "mlir/value.hpp"

namespace ringkernel::mlir {

/// Loops by their numbers.
using Loops = std::vector<std::size_t>;

/// A value over some of the loops: dim d belongs to loop `loops[d]`.
struct Term {
  Value value;
  Loops loops;
};

/// A dim of an operand that two loops walk: outer * stride + inner * dilation.
struct Window {
  std::size_t outer = 0;
  std::int64_t stride = 1;
  std::size_t inner = 0;
  std::int64_t dilation = 1;
};

/// What an operand's map says of one of its dims: a loop, a window, or the one element there is.
struct DimMap {
  std::optional<std::size_t> loop{};
  std::optional<Window> window{};
  bool is_backwards = false;  ///< the loop's first turn has the last element; the value is turned
};

/// The map of one operand, a dim after the other.
struct OperandMap {
  std::vector<DimMap> dims;

  [[nodiscard]] bool has_windows() const noexcept;
};

/// `map` for a value of these dims, and that value, cut to what the loops reach: every second
/// element of a dim is a dim of its own. `extents` of loops; those not yet known are 0.
struct Walked {
  OperandMap map;
  Value value;
};
[[nodiscard]] Result<Walked> walked(const Api& api, Builder& builder, MlirAffineMap map,
                                    const Value& value, const Integers& extents);

/// Extents of all loops, by the dims that they walk alone. E6003 where one has none.
[[nodiscard]] Result<Integers> loop_extents(const Api& api, const std::vector<MlirAffineMap>& maps,
                                            const std::vector<Integers>& dims);

/// The operand over its loops, in the order of its dims. It has no windows. E6003: a loop walks two
/// dims.
[[nodiscard]] Result<Term> term_of(Builder& builder, const Walked& operand);

/// A dim for each of these loops, which are the term's and others.
[[nodiscard]] Result<Value> over(Builder& builder, const Term& term, const Loops& loops,
                                 const Integers& extents);
/// Without the loops along which all is alike.
[[nodiscard]] Result<Term> essence(Builder& builder, const Term& term);
/// As the one dim after the other of `order`, each the product of some loops' extents; all of the
/// elements are there. `order` names every loop of the term, and may name others.
[[nodiscard]] Result<Value> grouped(Builder& builder, const Term& term,
                                    const std::vector<Loops>& order, const Integers& extents);
/// The reverse of `grouped`: a term over the loops of `order`.
[[nodiscard]] Result<Term> ungrouped(Builder& builder, const Value& value,
                                     const std::vector<Loops>& order, const Integers& extents);

[[nodiscard]] bool has(const Loops& loops, std::size_t loop);
[[nodiscard]] Loops both(const Loops& a, const Loops& b);      ///< in a and in b
[[nodiscard]] Loops but(const Loops& a, const Loops& b);       ///< in a, and not in b
[[nodiscard]] Loops together(const Loops& a, const Loops& b);  ///< in a or in b, ascending
[[nodiscard]] std::int64_t turns(const Loops& loops, const Integers& extents);

}  // namespace ringkernel::mlir
