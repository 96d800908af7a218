/// Schemas as text: what `flatc -b --schema` does, in the process.
///
/// Threading: any thread.
/// Errors: `invalid_argument`, "trading.fbs:7:12: reason".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "program/schema.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::program {

struct SchemaText {
  std::string text;
  std::string file;                  ///< what messages call it, and `include` starts from
  std::vector<std::string> folders;  ///< where else an `include` is looked for
};

/// The binary form, documentation and all attributes included. What the language only warns of is
/// an error.
Result<std::vector<std::byte>> to_binary(const SchemaText& schema);

Result<Schema> from_text(const SchemaText& schema);

}  // namespace ringkernel::program
