/// The cases of `programs`.
///
/// Threading: one thread.
/// Ownership: names live as long as the process.
#pragma once

#include <span>

#include "cases.hpp"

namespace bench {

[[nodiscard]] std::span<const Case> program_cases();

}  // namespace bench
