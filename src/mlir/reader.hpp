/// A function of a module as a graph, operation after operation.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Ownership: borrows the module.
/// Errors: as of mlir.hpp.
#pragma once

#include <string>
#include <vector>

#include "mlir/generic.hpp"
#include "mlir/module.hpp"
#include "ringkernel/mlir.hpp"

namespace ringkernel::mlir {

/// An operation with what its rule needs.
struct Operation {
  const Ir& ir;
  Builder& builder;
  MlirOperation handle;
  const Values& values;  ///< has all of its operands
  MlirBlock module;      ///< where globals are

  [[nodiscard]] const Value& operand(std::size_t position) const;
  /// Of the first result.
  [[nodiscard]] ValueType type() const;
};

/// What the results are, or, of one that has none, the memrefs that it writes: those operands that
/// come last.
using Results = std::vector<Value>;

/// nullptr: we have none for the operation.
using Rule = Result<Results> (*)(const Operation& operation);
[[nodiscard]] Rule find_rule(std::string_view name);

class Reader {
 public:
  Reader(const Module& module, const Options& options);

  /// `told` gets what is not read.
  /// `recording` gets what made the graph; may be null.
  [[nodiscard]] Result<Graph> read(Diagnostics& told, std::string* recording);

 private:
  /// The operation func.func.
  [[nodiscard]] Result<MlirOperation> find_function() const;
  [[nodiscard]] Result<void> check_state(MlirOperation function) const;
  [[nodiscard]] Result<void> take_arguments(Builder& builder, MlirOperation function);
  /// E2005; invalid_argument (open extents); E3002, E3006, E6004.
  [[nodiscard]] Result<void> check_type(MlirValue value) const;
  [[nodiscard]] Result<void> read_operation(Builder& builder, MlirOperation operation);
  [[nodiscard]] Result<void> give(Builder& builder, MlirOperation last);
  /// Keeps one that is not read, and goes on.
  void refuse(MlirOperation operation, const Error& why);
  [[nodiscard]] Error refusals() const;

  const Module& module_;
  const Ir& ir_;
  const Options& options_;
  MlirBlock body_{};
  Values values_;
  std::vector<MlirValue> written_;              // arguments, as soon as they are
  std::map<std::size_t, Graph::Value> states_;  // by the results that they become
  std::vector<std::pair<Error, Diagnostic>> refused_;
};

}  // namespace ringkernel::mlir
