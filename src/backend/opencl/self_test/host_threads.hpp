/// Whether a device runs work-items as threads of this very process, so that an idle slice can give
/// its core away by a system call, which OpenCL C has no word for (kernels/rk_idle.h).
///
/// Threading: any thread.
/// Errors: none; a device of which it cannot be proven does not.
#pragma once

#include "backend/opencl/query.hpp"
#include "backend/opencl/self_test/self_test.hpp"

namespace ringkernel::opencl {

/// What a program is built with in addition where `has_host_threads`.
inline constexpr const char* host_threads_option = " -DRK_ON_HOST_THREADS";

/// Asked of PoCL on x86-64 Linux only: a kernel with the system call is built and run, and has to
/// name this process.
bool has_host_threads(const FoundDevice& found, const Probe& probe);

}  // namespace ringkernel::opencl
