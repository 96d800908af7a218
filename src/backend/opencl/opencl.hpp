/// Entry point of the OpenCL backend, shaped as rk_backend_query_function.
#pragma once

#include "ringkernel/backend_abi.h"

const rk_backend* rk_backend_opencl(uint32_t host_abi_version);
