/// The cases and the table of `choose`.
///
/// Threading: one thread, at first.
/// Ownership: names live as long as the process.
#pragma once

#include <span>
#include <string>

#include "cases.hpp"
#include "figures.hpp"

namespace bench {

/// `WORK_TOOL`, in us for a request.
[[nodiscard]] std::span<const Case> choose_cases();

/// The table for README: works by tools, medians.
[[nodiscard]] std::string render_choice(const Rounds& rounds);

}  // namespace bench
