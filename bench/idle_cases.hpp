/// The cases and figures of `idle`.
///
/// Threading: one thread, at first.
/// Ownership: names live as long as the process.
#pragma once

#include <span>

#include "cases.hpp"

namespace bench {

/// For each park_after: `wake_P` and `paced_P` in us, `paced_cpu_P` in percent of one core. For
/// each spin_for, in us: `busy8_turns_spin_S`, `busy8_callers_spin_S` and, with fewer of PoCL's
/// threads than programs, `busy8_shared_spin_S`.
[[nodiscard]] std::span<const Case> idle_cases();

}  // namespace bench
