/// Schemas as text, for `add_program`: what `flatc -b --schema` does, in the process. Of the
/// library `ringkernel::schema`, which brings the parser of FlatBuffers along.
///
///     RK_TRY(schema, ringkernel::schema_from_text("trading.fbs", text));
///     RK_TRY(info, runtime.add_program({.name = "trading", .source = ..., .schema = schema}));
///
/// Threading: any thread.
/// Errors: invalid_argument, "trading.fbs:7:12: reason".
#pragma once

#include <string>
#include <vector>

#include "ringkernel/program.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel {

/// `name` is what errors call it. An `include` of it is looked for beside `name`, then in the
/// `folders`. What the language only warns of is an error.
[[nodiscard]] Result<Schema> schema_from_text(std::string name, std::string text,
                                              std::vector<std::string> folders = {});

}  // namespace ringkernel
