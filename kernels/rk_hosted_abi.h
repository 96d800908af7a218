/// What a program that was compiled natively at run time says of itself: data only, for the program
/// and for the host that loads it.
///
/// The object exports
///
///     const rk_hosted_program* rk_program_query(rk_u32 abi);
///
/// which answers null where it does not speak the interface of that number.
#ifndef RINGKERNEL_RK_HOSTED_ABI_H
#define RINGKERNEL_RK_HOSTED_ABI_H

#include "ringkernel/protocol/abi.h"

/// Counts up with every change of rk_hosted_program.
#define RK_HOSTED_ABI 2u

/// How the object is instrumented: not at all, by ThreadSanitizer, by AddressSanitizer.
#define RK_HOSTED_PLAIN 0u
#define RK_HOSTED_THREAD 1u
#define RK_HOSTED_ADDRESS 2u

struct rk_message;

typedef struct rk_hosted_program {
  rk_u32 abi;           /* RK_HOSTED_ABI as the program has it */
  rk_u32 struct_bytes;  /* of this struct */
  rk_u32 message_bytes; /* of rk_message */
  rk_u32 sanitizer;     /* RK_HOSTED_PLAIN, or another one of them */
  rk_u32 (*handler)(struct rk_message* message);
  rk_u32 (*migrate)(struct rk_message* message); /* null: it migrates no state */
} rk_hosted_program;

/// What a slice on the host runs for its messages. Where the program is ours, the executor has its
/// own handler.
typedef struct rk_slice_code {
  rk_u32 version; /* of the program: how often it was replaced, plus 1 */
  rk_u32 (*handler)(struct rk_message* message);
  rk_u32 (*migrate)(struct rk_message* message);
} rk_slice_code;

#endif
