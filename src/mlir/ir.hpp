/// What MLIR holds in memory, read by its C API: names, attributes, types and places.
///
/// Threading: as a context of MLIR, for one thread at a time.
/// Ownership: borrows the functions, and what the handles name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mlir/library.hpp"
#include "mlir/value.hpp"
#include "ringkernel/diagnostic.hpp"

namespace ringkernel::mlir {

/// An element type, and extents; those that are open are -1.
struct ValueType {
  DType dtype = DType::none;  ///< none: we have none for it
  bool is_truth = false;
  bool is_memory = false;  ///< a memref
  Integers dims{};
};

class Ir {
 public:
  /// `file` stands for the name that MLIR gives to a text: "-".
  Ir(const Api& api, std::string file) : api_(api), file_(std::move(file)) {}

  [[nodiscard]] const Api& api() const noexcept { return api_; }
  /// What the elements of resources are read from.
  void set_module(MlirOperation module) noexcept { module_ = module; }

  [[nodiscard]] std::string_view name(MlirOperation operation) const;
  [[nodiscard]] SourcePosition position(MlirLocation location) const;
  [[nodiscard]] SourcePosition position(MlirOperation operation) const;
  /// "'linalg.generic' at f.mlir:3:5".
  [[nodiscard]] std::string place(MlirOperation operation) const;
  /// As MLIR prints it.
  [[nodiscard]] std::string text(MlirType type) const;
  [[nodiscard]] std::string text(MlirAttribute attribute) const;

  [[nodiscard]] std::vector<MlirValue> operands(MlirOperation operation) const;
  [[nodiscard]] std::vector<MlirValue> results(MlirOperation operation) const;
  [[nodiscard]] std::vector<MlirValue> arguments(MlirBlock block) const;
  /// In their order, the last one too.
  [[nodiscard]] std::vector<MlirOperation> operations(MlirBlock block) const;
  /// The first block of a region of the operation; null: it has none.
  [[nodiscard]] MlirBlock block(MlirOperation operation, std::intptr_t region = 0) const;
  [[nodiscard]] bool is_used(MlirValue value) const;
  /// What gives the value; null: it is an argument.
  [[nodiscard]] MlirOperation maker(MlirValue value) const;
  [[nodiscard]] bool is_used_once(MlirValue value) const;

  /// Of a tensor, a memref or a number. Nothing for other types.
  [[nodiscard]] std::optional<ValueType> type(MlirType type) const;
  [[nodiscard]] std::optional<ValueType> type(MlirValue value) const;

  /// Null: the operation has no such attribute.
  [[nodiscard]] MlirAttribute attribute(MlirOperation operation, std::string_view name) const;
  [[nodiscard]] std::optional<std::string> string(MlirOperation operation,
                                                  std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> integer(MlirOperation operation,
                                                    std::string_view name) const;
  /// An array of integers; nothing if there is none, or if one of them is only known when it runs.
  [[nodiscard]] std::optional<Integers> integers(MlirOperation operation,
                                                 std::string_view name) const;
  /// The elements of a number, a dense or a resource attribute. Nothing for others, and for element
  /// types that we do not have.
  [[nodiscard]] std::optional<Value> elements(MlirAttribute attribute) const;

 private:
  /// Has MLIR print the module, once, where resources stand in one form.
  void print_resources() const;
  /// The elements of a resource: as many as there is room for. `printed`: the attribute.
  [[nodiscard]] bool resource(std::string_view printed, std::vector<std::byte>& bytes) const;

  const Api& api_;
  std::string file_;
  MlirOperation module_{};
  mutable bool has_printed_ = false;
  mutable std::string printed_;
  mutable std::map<std::string_view, std::string_view> resources_;  // digits by keys, in `printed_`
};

}  // namespace ringkernel::mlir
