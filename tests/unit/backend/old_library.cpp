// An OpenCL library without the functions that came after OpenCL 1.2. The others are there and
// answer every question with CL_PLATFORM_NOT_FOUND_KHR; more than the first is never asked.
#define RK_CL_FUNCTION(name) \
  extern "C" __attribute__((visibility("default"))) int name() { return -1001; }
#define RK_CL_OPTIONAL(name)
#include "backend/opencl/functions.def"
#undef RK_CL_FUNCTION
