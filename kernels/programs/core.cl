/// The program `core`: one op of the Core op set for each message (protocol/ops.def).
#if defined(__OPENCL_C_VERSION__)
// Its kernels have none, and on a GPU each byte of a message is private memory of a work-item.
#define RK_STATELESS
#endif
// On a GPU the notes of a turn would take more private memory than a work-item may have.
#if !defined(RK_RESUMES) && !defined(RK_GPU)
#define RK_RESUMES
#endif
#include "rk_device.h"
#include "rk_dispatch.h"

RK_INLINE rk_u32 rk_handle(rk_message* message) { return rk_dispatch(message, 0, 1); }

#include "ring_kernel.cl"
