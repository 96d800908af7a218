/// What a `Source` holds: its text, or that of its file.
///
/// Threading: any thread.
/// Errors: invalid_argument, "'book.rk.cl' cannot be read".
#pragma once

#include <cstddef>
#include <string>

#include "ringkernel/program.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::program {

inline constexpr std::size_t source_bytes_max = std::size_t{1} << 20;

Result<std::string> content_of(const Source& source);

}  // namespace ringkernel::program
