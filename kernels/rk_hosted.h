/// Ends a program that is compiled natively at run time: where OpenCL has ring_kernel.cl, the
/// executor, this gives the host the program's rk_handle, and the host's own executor calls it
/// (rk_message.h has the contract). Compiling the executor as well would take ten times as long.
///
/// Where several builds of programs are linked into one executable (ringkernel_add_program), each
/// is compiled with a name of its own as RK_HOSTED_QUERY.
#ifndef RINGKERNEL_RK_HOSTED_H
#define RINGKERNEL_RK_HOSTED_H

#include "rk_hosted_abi.h"

#if defined(RK_HOSTED_QUERY)
#define RK_HOSTED_VISIBILITY __attribute__((visibility("hidden")))
#else
#define RK_HOSTED_QUERY rk_program_query
#define RK_HOSTED_VISIBILITY __attribute__((visibility("default")))
#endif

#if defined(__cplusplus)
#define RK_HOSTED_EXPORT extern "C" RK_HOSTED_VISIBILITY
#else
#define RK_HOSTED_EXPORT RK_HOSTED_VISIBILITY
#endif

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RK_HOSTED_SANITIZER RK_HOSTED_THREAD
#elif __has_feature(address_sanitizer)
#define RK_HOSTED_SANITIZER RK_HOSTED_ADDRESS
#endif
#endif
#if !defined(RK_HOSTED_SANITIZER)
#if defined(__SANITIZE_THREAD__)
#define RK_HOSTED_SANITIZER RK_HOSTED_THREAD
#elif defined(__SANITIZE_ADDRESS__)
#define RK_HOSTED_SANITIZER RK_HOSTED_ADDRESS
#else
#define RK_HOSTED_SANITIZER RK_HOSTED_PLAIN
#endif
#endif

RK_HOSTED_EXPORT const rk_hosted_program* RK_HOSTED_QUERY(rk_u32 abi);

RK_HOSTED_EXPORT const rk_hosted_program* RK_HOSTED_QUERY(rk_u32 abi) {
#if defined(RK_MIGRATES)
  rk_u32 (*const migrate)(rk_message*) = rk_migrate;
#else
  rk_u32 (*const migrate)(rk_message*) = 0;
#endif
  static const rk_hosted_program program = {RK_HOSTED_ABI,      sizeof(rk_hosted_program),
                                            sizeof(rk_message), RK_HOSTED_SANITIZER,
                                            rk_handle,          migrate};
  return abi == RK_HOSTED_ABI ? &program : (const rk_hosted_program*)0;
}

#endif
