/// Runs one case in a child process of this very program.
#pragma once

#include <optional>

#include "cases.hpp"

namespace bench {

/// The exit code of a child whose case cannot run on this device.
constexpr int exit_absent = 77;

/// `roundtrip_bench --child NAME` with the case's environment; its standard output is the
/// measurement as JSON. None: this device cannot run it. Throws std::runtime_error if the child
/// fails. The reason of either is on standard error.
[[nodiscard]] std::optional<Measurement> run_in_child(const Case& what);

}  // namespace bench
