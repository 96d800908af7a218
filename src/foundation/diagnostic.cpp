#include "ringkernel/diagnostic.hpp"

namespace ringkernel {

std::string Diagnostic::text() const {
  std::string text = at.file;
  for (const std::uint32_t number : {at.line, at.column}) {
    if (number == 0) break;  // a column is of a line
    if (!text.empty()) text += ':';
    text += std::to_string(number);
  }
  if (!text.empty()) text += ": ";
  if (!at.node.empty()) text += "node '" + at.node + "': ";
  return text + message;
}

}  // namespace ringkernel
