/// The state of a ring kernel, for which its service is asked.
///
/// Threading: a plain function.
#pragma once

#include <string>

#include "outcome.hpp"

namespace rkstat {

/// Prints the state of the kernel with this id, a line for each runtime that has one. The exit
/// code.
[[nodiscard]] int show_state(const Scope& scope, const std::string& id);

}  // namespace rkstat
