/// Whether a program can take the place of one that runs, with the kernels that it has.
///
/// Threading: plain values.
/// Ownership: borrows both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/definition.hpp"

namespace ringkernel::program {

/// A way back is to what `running` has replaced: what that one did not know yet may be gone.
enum class Way : std::uint8_t { on, back };

/// Why `next` cannot go on with the kernels of `running`, a sentence each; empty: it can.
/// `used`: their behaviours, of `running`; what is not used may be gone.
std::vector<std::string> find_obstacles(const Definition& running, const Definition& next,
                                        const std::vector<const Behaviour*>& used, Way way);

/// What becomes of a kernel's state: it stays; the device makes it anew of the old one; or there
/// was none, or will be none, so that a new one begins as zeros.
enum class StateChange : std::uint8_t { none, migration, fresh };
/// `was` and `is`: the kernel's behaviour in either one; nullptr: it has no schema.
[[nodiscard]] StateChange state_change(const Definition& running, const Behaviour* was,
                                       const Definition& next, const Behaviour* is);

}  // namespace ringkernel::program
