/// What compilers say of a program's text.
///
/// Threading: any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "program/schema.hpp"

namespace ringkernel::program {

/// The log of a compiler that counts the lines of the whole text and does not look at its `#line`,
/// as NVIDIA's of OpenCL: where it says "<kernel>:1399:", this says "book.rk.cl:4:". The rest stays
/// as it is.
std::string with_lines_of(std::string_view text, std::string_view log);

/// The log of a compiler that does not show the lines of which it complains, as PoCL's: behind
/// "book.rk.cl:4:9: what is this?" comes line 4 of that file. Nothing comes where the log goes on
/// with it, nor behind warnings.
std::string with_source_lines(std::span<const HandlerText> files, std::string_view log);

}  // namespace ringkernel::program
