/// The executor of programs whose handlers were compiled by themselves: it calls them through a
/// pointer. With RK_GUARD it looks at what they wrote. One of the sources of program.cpp, which is
/// C++ alone: OpenCL C has no such pointers.
#ifndef RINGKERNEL_BACKEND_NATIVE_HOSTED_EXECUTOR_H
#define RINGKERNEL_BACKEND_NATIVE_HOSTED_EXECUTOR_H

#define RK_HOSTED
#include "rk_device.h"
#include "rk_message.h"

typedef rk_u32 (*rk_handler)(rk_message*);

#include "ring_kernel.cl"

#endif
