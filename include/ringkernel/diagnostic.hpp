/// What a reader of models has to say about one: errors, warnings, and where.
///
/// Threading: distinct objects safe, shared objects unsafe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringkernel {

/// How much a diagnostic matters; only an error refuses the model.
enum class Severity : std::uint8_t { error, warning, note, remark };

/// Where in a model something lies. Empty or 0: not known.
struct SourcePosition {
  std::string file{};
  std::uint32_t line = 0;    ///< from 1 on
  std::uint32_t column = 0;  ///< from 1 on
  std::string node{};        ///< of a model that has no lines, ONNX
};

/// One thing that is said of a model.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string message{};
  SourcePosition at{};
  std::vector<Diagnostic> notes{};

  /// "FILE:LINE:COLUMN: MESSAGE" or "FILE: node 'NODE': MESSAGE", without what is not known, and
  /// without the notes.
  [[nodiscard]] std::string text() const;
};

/// In the order in which they were found.
using Diagnostics = std::vector<Diagnostic>;

}  // namespace ringkernel
