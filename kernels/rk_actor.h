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
#define RK_APART RK_INLINE
#define RK_GLOBAL
typedef rk_u8* rk_bytes;
typedef const rk_u8* rk_const_bytes;

RK_INLINE void rk_copy_bytes(rk_bytes to, rk_const_bytes from, rk_u64 bytes) {
  __builtin_memcpy(to, from, bytes);
}
RK_INLINE rk_f32 rk_fma(rk_f32 a, rk_f32 b, rk_f32 c) { return __builtin_fmaf(a, b, c); }

#endif

#include "rk_message.h"

// Mistakes that C lets pass with a warning are errors from here to the end of the unit: whatever
// options it is compiled with, but for -w, which makes these lines do nothing.
#if defined(__clang__)
#pragma clang diagnostic error "-Wreturn-type"
#pragma clang diagnostic error "-Wunused-result"
#pragma clang diagnostic error "-Wundefined-internal"
#pragma clang diagnostic error "-Wincompatible-pointer-types"
#pragma clang diagnostic error "-Wint-conversion"
#pragma clang diagnostic error "-Wimplicit-function-declaration"
#elif defined(__GNUC__)
#pragma GCC diagnostic error "-Wreturn-type"
#pragma GCC diagnostic error "-Wunused-result"
#if !defined(__cplusplus)
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
#pragma GCC diagnostic error "-Wint-conversion"
#pragma GCC diagnostic error "-Wimplicit-function-declaration"
#endif
#endif

/// Double precision, where there is any: RK_HAS_F64.
#if !defined(__OPENCL_C_VERSION__)
typedef double rk_f64;
#define RK_HAS_F64 1
#elif defined(cl_khr_fp64) || defined(__opencl_c_fp64)
typedef double rk_f64;
#define RK_HAS_F64 1
#else
#define RK_HAS_F64 0
#endif

/// A function that may go unused.
#define RK_FN __attribute__((unused)) static inline

/// A variable of whatever type its value has: the address space of a pointer needs no spelling.
#if defined(__cplusplus)
#define RK_LET auto
#else
#define RK_LET __extension__ __auto_type
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
/// (1 to 65535) and detail included, and without a reply; with a code out of range, with
/// bad_outcome. The state stays as it is: check first, then change. A call whose value is not used
/// does not build.
__attribute__((warn_unused_result)) RK_FN rk_u32 rk_fault(rk_self* self, rk_u32 code,
                                                          rk_u64 detail) {
  self->fault_detail = detail;
  const rk_u32 most = 0xffffffffu - RK_FAULT_HANDLER_BASE;
  return RK_FAULT_HANDLER_BASE + (code < most ? code : most);
}

/// What a message ends with whose handler has returned that. What is neither RK_OK nor of rk_fault
/// is a fault by itself: nobody takes it for one of the runtime's own.
RK_FN rk_u32 rk_outcome(rk_self* self, rk_u32 returned) {
  if (returned == RK_OK) return returned;
  if (returned - RK_FAULT_HANDLER_BASE - 1u < RK_FAULT_CODE_MAX) return returned;
  self->fault_detail = returned;
  return RK_FAULT_bad_outcome;
}

/// `RK_FAULT_TEXT(1, "there are no lines")` outside of functions, without a semicolon, says what
/// fault 1 means: its sender's error has the text. It is read from the source, so both are
/// literals; the device has nothing of it.
#define RK_FAULT_TEXT(CODE, TEXT)

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
/// once (state, reply) is written by the lane that leads. Results must not depend on their number,
/// which `rkc check` finds out. All lanes call what follows from rk_barrier on, or none does. The
/// message ends with what the lane that leads returns.
///
/// A runtime has one lane today; `rkc check` builds with RK_TEAM, the number of several.
#if defined(RK_TEAM)
RK_FN rk_u32 rk_lane(const rk_self* self) {
  (void)self;
  return (rk_u32)get_local_id(0);
}
RK_FN rk_u32 rk_lanes(const rk_self* self) {
  (void)self;
  return RK_TEAM;
}
#else
RK_FN rk_u32 rk_lane(const rk_self* self) {
  (void)self;
  return 0;
}
RK_FN rk_u32 rk_lanes(const rk_self* self) {
  (void)self;
  return 1;
}
#endif
RK_FN rk_u32 rk_leads(const rk_self* self) { return rk_lane(self) == 0; }
/// All lanes meet here, and see what the others have stored before. With a team a macro, so that
/// what is said about it names the line where it is called.
#if defined(RK_TEAM)
#define rk_barrier(self) ((void)(self), barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE))
#else
RK_FN void rk_barrier(const rk_self* self) { (void)self; }
#endif

/// `value` of the lane that leads, in every lane.
RK_FN rk_u64 rk_broadcast(const rk_self* self, rk_u64 value) {
  (void)self;
#if defined(RK_TEAM)
  if (rk_leads(self)) self->team->word = value;
  rk_barrier(self);
  value = self->team->word;
  rk_barrier(self);  // before the next one is written
#endif
  return value;
}

/// 1 in every lane if `bit` is not 0 in any of them, else 0: for a return that all take together.
RK_FN rk_u32 rk_any(const rk_self* self, rk_u32 bit) {
  (void)self;
#if defined(RK_TEAM)
  if (rk_leads(self)) self->team->bit = 0;
  rk_barrier(self);
  if (bit != 0) (void)atomic_or(&self->team->bit, 1u);
  rk_barrier(self);
  bit = self->team->bit;
  rk_barrier(self);
#endif
  return bit != 0;
}

#if defined(__OPENCL_C_VERSION__)
#define RK_INFINITY INFINITY
#else
#define RK_INFINITY __builtin_inff()
#endif

#define RK_TEAM_PLUS(A, B) ((A) + (B))
RK_FN rk_f32 rk_greater(rk_f32 a, rk_f32 b) { return b > a ? b : a; }
RK_FN rk_f32 rk_smaller(rk_f32 a, rk_f32 b) { return b < a ? b : a; }

/// Where the parts of a fold are, and what fills them. Each is made of its terms in their order,
/// whatever lane does it.
#if defined(RK_TEAM)
#define RK_TEAM_PARTS(self) RK_LOCAL rk_f32* const rk_parts = (self)->team->parts
#define RK_TEAM_FILL(self, INDEX, COUNT, TERM, START, JOIN)                                        \
  for (rk_u32 rk_part = rk_lane(self); rk_part < 64u; rk_part += RK_TEAM) {                        \
    rk_f32 rk_value = (START);                                                                     \
    for (rk_u32 INDEX = rk_part; INDEX < (COUNT); INDEX += 64u) rk_value = JOIN(rk_value, (TERM)); \
    rk_parts[rk_part] = rk_value;                                                                  \
  }
#else
#define RK_TEAM_PARTS(self) rk_f32 rk_parts[64]
#define RK_TEAM_FILL(self, INDEX, COUNT, TERM, START, JOIN)                       \
  for (rk_u32 rk_part = 0; rk_part < 64u; ++rk_part) rk_parts[rk_part] = (START); \
  for (rk_u32 INDEX = 0; INDEX < (COUNT); ++INDEX)                                \
    rk_parts[INDEX & 63u] = JOIN(rk_parts[INDEX & 63u], (TERM));
#endif
#define RK_TEAM_FOLD(self, INDEX, COUNT, RESULT, TERM, START, JOIN)             \
  do {                                                                          \
    RK_TEAM_PARTS(self);                                                        \
    RK_TEAM_FILL(self, INDEX, COUNT, TERM, START, JOIN)                         \
    for (rk_u32 rk_half = 32u; rk_half != 0; rk_half >>= 1) {                   \
      rk_barrier(self);                                                         \
      for (rk_u32 rk_i = rk_lane(self); rk_i < rk_half; rk_i += rk_lanes(self)) \
        rk_parts[rk_i] = JOIN(rk_parts[rk_i], rk_parts[rk_i + rk_half]);        \
    }                                                                           \
    rk_barrier(self);                                                           \
    (RESULT) = rk_parts[0];                                                     \
    rk_barrier(self);                                                           \
  } while (0)

/// Sums TERM, an expression of INDEX, over 0 <= INDEX < COUNT, into the rk_f32 SUM, in every lane:
/// over 64 virtual lanes, then in a fixed tree, so that the bits are those of any number of lanes.
#define RK_TEAM_SUM(self, INDEX, COUNT, SUM, TERM) \
  RK_TEAM_FOLD(self, INDEX, COUNT, SUM, TERM, 0.0f, RK_TEAM_PLUS)
/// Likewise the greatest and the smallest; terms that are NaN do not count. -infinity and infinity
/// where there is none.
#define RK_TEAM_MAX(self, INDEX, COUNT, MAX, TERM) \
  RK_TEAM_FOLD(self, INDEX, COUNT, MAX, TERM, -RK_INFINITY, rk_greater)
#define RK_TEAM_MIN(self, INDEX, COUNT, MIN, TERM) \
  RK_TEAM_FOLD(self, INDEX, COUNT, MIN, TERM, RK_INFINITY, rk_smaller)

#endif
