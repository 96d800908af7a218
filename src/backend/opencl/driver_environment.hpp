/// What drivers find in the environment: set before they are loaded, since they read it once.
///
/// Threading: once, before the OpenCL library is loaded.
#pragma once

namespace ringkernel::opencl {

/// Removes what whoever started a program with more rights says to the loader and to PoCL, and
/// tells PoCL how many workers it needs. A user's own value stays.
void prepare_driver_environment();

}  // namespace ringkernel::opencl
