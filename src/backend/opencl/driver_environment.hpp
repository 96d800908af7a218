/// What drivers find in the environment: set before they are loaded, since they read it once.
///
/// Threading: once, before the OpenCL library is loaded.
#pragma once

#include <string>

namespace ringkernel::opencl {

/// Removes what whoever started a program with more rights says to the loader and to PoCL. Tells
/// PoCL how many workers it needs and, where its own choice would not do, where to keep what it
/// compiles. A user's own value stays. Returns what was wrong with that choice.
std::string prepare_driver_environment();

}  // namespace ringkernel::opencl
