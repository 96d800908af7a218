/// `linalg.generic`: a nest of loops whose body says what is done with one element of each operand.
/// What all turns of the loops do with an element, an op does at once; sums and maxima over loops
/// are ops on axes, and sums of products are matmul or conv2d.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Ownership: borrows what it is given.
/// Errors: E6003, with the op of the body that has no counterpart; E2005; those of Builder.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "mlir/contract.hpp"
#include "mlir/loops.hpp"

namespace ringkernel::mlir {

/// By the handles' pointers.
using Values = std::map<const void*, Value>;

class Generic {
 public:
  /// `values` has all operands, and what the body takes from outside.
  Generic(const Ir& ir, Builder& builder, MlirOperation operation, const Values& values);

  /// One for each operand of `outs`. What nobody uses stays unwritten.
  [[nodiscard]] Result<std::vector<Value>> results();

 private:
  struct Out {
    MlirValue operand;
    MlirValue element;  ///< of the body: what is there before
    MlirValue yielded;
    Loops loops;    ///< of its dims, in their order
    Loops reduced;  ///< all others
  };

  /// linalg.map: MLIR 19 does not make it generic.
  [[nodiscard]] bool is_map() const;
  [[nodiscard]] std::vector<MlirAffineMap> maps_of(const std::vector<MlirValue>& operands) const;
  [[nodiscard]] Result<void> take_operands();
  [[nodiscard]] Result<void> run_body();
  [[nodiscard]] Result<Term> run(MlirOperation operation);
  [[nodiscard]] Result<Term> extracted(MlirOperation operation);
  /// Sums and maxima wait for the results, and with them the products that they sum up.
  [[nodiscard]] bool waits(MlirOperation operation) const;
  /// The one operand that an op has beside the element that was there before. Null: another form.
  [[nodiscard]] MlirValue added(const Out& out) const;

  [[nodiscard]] Result<Value> result(const Out& out);
  [[nodiscard]] Result<Term> reduction(const Out& out);
  [[nodiscard]] Result<Term> gathered_up(MlirValue value, Op op, const Out& out);
  /// A value of the body, or from outside.
  [[nodiscard]] Result<Term> term(MlirValue value) const;
  /// As the operand's dims are.
  [[nodiscard]] Result<Value> placed(const Term& term, const Out& out);

  const Ir& ir_;
  const Api& api_;
  Builder& builder_;
  MlirOperation operation_;
  const Values& values_;
  MlirBlock body_;
  Integers extents_;
  std::vector<Out> outs_;
  std::map<const void*, Term> terms_;            // of the body
  std::map<const void*, Walked> images_;         // elements of it that windows walk
  std::map<const void*, MlirOperation> makers_;  // of its values
  std::set<const void*> waiting_;                // values of it that have no term
};

}  // namespace ringkernel::mlir
