/// What compilers say of a program's text.
///
/// Threading: any thread.
#pragma once

#include <string>
#include <string_view>

namespace ringkernel::program {

/// The log of a compiler that counts the lines of the whole text and does not look at its `#line`,
/// as NVIDIA's of OpenCL: where it says "<kernel>:1399:", this says "book.rk.cl:4:". The rest stays
/// as it is.
std::string with_lines_of(std::string_view text, std::string_view log);

}  // namespace ringkernel::program
