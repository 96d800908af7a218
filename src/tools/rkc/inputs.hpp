/// What rkc is given: files, as a program's parts.
///
/// Threading: one thread.
/// Errors: of files that cannot be read or written, and in `describe` of what their content is
/// refused for.
#pragma once

#include <string>
#include <vector>

#include "program/definition.hpp"
#include "ringkernel/result.hpp"

namespace rkc {

/// Paths; what is not given is empty.
struct Inputs {
  std::string source;
  std::vector<std::string> headers;
  std::string schema;  ///< binary, or text: "book.fbs"
  std::string text;    ///< what a binary schema was made of
};

/// What the files hold.
using Contents = Inputs;

[[nodiscard]] ringkernel::Result<Contents> read(const Inputs& inputs);
[[nodiscard]] ringkernel::Result<void> write_file(const std::string& path,
                                                  const std::string& content);

/// The program, with the names for its parts that a library of ringkernel_add_program gives them.
/// Without a `name` it is called as its source.
[[nodiscard]] ringkernel::Result<ringkernel::ProgramDesc> describe(const std::string& name,
                                                                   const Inputs& inputs,
                                                                   const Contents& contents);

}  // namespace rkc
