/// Runs one case in a child process of this very program.
#pragma once

#include "cases.hpp"

namespace bench {

/// `roundtrip_bench --child NAME` with the case's environment; its standard output is the
/// measurement as JSON. Throws std::runtime_error if the child fails; its reason is on standard
/// error.
[[nodiscard]] Measurement run_in_child(const Case& what);

}  // namespace bench
