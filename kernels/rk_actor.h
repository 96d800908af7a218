/// What the source of an actor may use besides its generated header (docs/PROGRAMS.md): types, the
/// message in hand, faults, lanes, and arithmetic that gives the same bits everywhere.
///
/// Reads as OpenCL C 3.0 and 1.2, C11 and C++20. Natively it includes no header of the standard
/// library but two of types, so that a handler compiles in a tenth of a second.
#ifndef RINGKERNEL_RK_ACTOR_H
#define RINGKERNEL_RK_ACTOR_H

// First, and here: a flattened text has each file once, which must not be in a branch that is not
// taken.
#include "ringkernel/protocol/abi.h"
#include "ringkernel/protocol/fault.h"

#if defined(__OPENCL_C_VERSION__)

#include "rk_device.h"

#else

#define RK_INLINE static inline
#define RK_GLOBAL
typedef rk_u8* rk_bytes;
typedef const rk_u8* rk_const_bytes;

RK_INLINE void rk_copy_bytes(rk_bytes to, rk_const_bytes from, rk_u64 bytes) {
  __builtin_memcpy(to, from, bytes);
}
RK_INLINE rk_f32 rk_fma(rk_f32 a, rk_f32 b, rk_f32 c) { return __builtin_fmaf(a, b, c); }

#endif

#include "rk_message.h"

/// A function that may go unused.
#define RK_FN __attribute__((unused)) static inline

/// A variable of whatever type its value has: the address space of a pointer needs no spelling.
#if defined(__cplusplus)
#define RK_LET auto
#else
#define RK_LET __auto_type
#endif

/// The message in hand.
typedef rk_message rk_self;

/// `RK_ON_BYTES { ... }` is the handler of a program without a schema, for all its messages.
#define RK_ON_BYTES                                                \
  static rk_u32 rk_on_bytes(rk_self* self __attribute__((unused)), \
                            rk_bytes state __attribute__((unused)))

/// What a handler returns when all is well. Reply and state are as it left them.
#define RK_OK 0u

/// `return rk_fault(self, code, detail);` ends the message with an error that its sender sees, code
/// (1 to 65535) and detail included, and without a reply. The state stays as it is: check first,
/// then change. A code out of range is 65535.
RK_FN rk_u32 rk_fault(rk_self* self, rk_u32 code, rk_u64 detail) {
  self->fault_detail = detail;
  return RK_FAULT_HANDLER_BASE + (code - 1u < RK_FAULT_CODE_MAX ? code : RK_FAULT_CODE_MAX);
}

/// The bytes of the request and of the reply, for handlers without a schema. A reply has as much
/// room as the sender asked for; `rk_reply_length` says how much of it is used.
RK_FN rk_const_bytes rk_request_bytes(const rk_self* self) { return self->payload; }
RK_FN rk_u32 rk_request_length(const rk_self* self) { return self->payload_bytes; }
RK_FN rk_bytes rk_reply_bytes(const rk_self* self) { return self->reply; }
RK_FN rk_u32 rk_reply_room(const rk_self* self) { return self->reply_bytes; }
RK_FN void rk_reply_length(rk_self* self, rk_u32 bytes) {
  if (bytes <= self->reply_bytes) self->reply_bytes = bytes;
}

/// Lanes: the work-items that run a handler together, all of it, over the same message. A loop
/// `for (i = rk_lane(self); i < n; i += rk_lanes(self))` shares its turns among them; what is there
/// once (state, reply) is written by the lane that leads. Results must not depend on their number.
/// There is one lane today.
RK_FN rk_u32 rk_lane(const rk_self* self) {
  (void)self;
  return 0;
}
RK_FN rk_u32 rk_lanes(const rk_self* self) {
  (void)self;
  return 1;
}
RK_FN rk_u32 rk_leads(const rk_self* self) { return rk_lane(self) == 0; }
/// All lanes meet here, and see what the others have stored before.
RK_FN void rk_barrier(const rk_self* self) { (void)self; }

/// Sums TERM, an expression of INDEX, over 0 <= INDEX < COUNT, into the rk_f32 SUM, in every lane:
/// over 64 virtual lanes, then in a fixed tree, so that the bits are those of any number of lanes.
#define RK_TEAM_SUM(self, INDEX, COUNT, SUM, TERM)                                              \
  do {                                                                                          \
    rk_f32 rk_parts[64] = {0};                                                                  \
    (void)(self);                                                                               \
    for (rk_u32 INDEX = 0; INDEX < (COUNT); ++INDEX) rk_parts[INDEX & 63u] += (TERM);           \
    for (rk_u32 rk_half = 32u; rk_half != 0; rk_half >>= 1)                                     \
      for (rk_u32 rk_i = 0; rk_i < rk_half; ++rk_i) rk_parts[rk_i] += rk_parts[rk_i + rk_half]; \
    (SUM) = rk_parts[0];                                                                        \
  } while (0)

#endif
