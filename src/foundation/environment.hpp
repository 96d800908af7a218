/// Variables of the environment, as far as they may be believed: a program that has more rights
/// than whoever starts it (set-user-ID, set-group-ID, file capabilities) sees none, since they say
/// what code is loaded and where files lie.
///
/// Threading: while no other thread changes the environment.
/// Errors: invalid_argument, with the variable, its value and the values that there are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringkernel/result.hpp"

namespace ringkernel {

/// Empty if it is not there, or not to be believed.
std::string_view environment(const char* name);

/// Files or folders with colons between them; what is empty is left out.
std::vector<std::string> paths_of_environment(const char* name);

/// A variable that is "1" or "0"; nothing if it is empty.
Result<std::optional<bool>> switch_of_environment(const char* name);

/// Whether this program has more rights than whoever started it.
bool has_foreign_environment() noexcept;

}  // namespace ringkernel
