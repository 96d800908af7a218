/// A module of MLIR in a context of its own, as its text says it, and then as simple as its passes
/// make it.
///
/// Threading: one thread at a time; MLIR starts none of its own.
/// Ownership: owns context and module; borrows the list of what is told.
/// Errors: invalid_argument, with MLIR's own words and their place.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "mlir/ir.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::mlir {

class Module {
 public:
  /// `file` is what the text is called in errors; `told` gets all that MLIR says. The text and
  /// `told` outlive the module.
  [[nodiscard]] static Result<std::unique_ptr<Module>> parse(const Library& library,
                                                             std::string_view text,
                                                             std::string file, Diagnostics& told);

  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  /// Calls put in, TOSA as linalg, named ops of linalg as generic ones. E6003 where a pass gives
  /// up.
  [[nodiscard]] Result<void> simplify();

  [[nodiscard]] const Ir& ir() const noexcept { return ir_; }
  [[nodiscard]] MlirBlock body() const { return api_.mlirModuleGetBody(module_); }

 private:
  Module(const Library& library, std::string file, Diagnostics& told);

  /// The first error that MLIR told, as `code`.
  [[nodiscard]] Error complaint(Errc code, const std::string& otherwise) const;
  [[nodiscard]] Diagnostic diagnostic_of(MlirDiagnostic told) const;

  const Api& api_;
  Ir ir_;
  std::string version_;
  MlirContext context_{};
  MlirModule module_{};
  Diagnostics& told_;
};

}  // namespace ringkernel::mlir
