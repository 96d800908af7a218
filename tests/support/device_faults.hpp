/// What a child tells fault_layer.cpp.
#pragma once

#include <cstdlib>

namespace ringkernel::test {

/// The plan from here on; none: "none:0". Once before the driver has threads, which read variables
/// as they work: the table of variables moves when a name is new, or goes.
inline void plan_faults(const char* plan) { setenv("RK_FAULT", plan, 1); }

}  // namespace ringkernel::test
