/// How an executor that is built with RK_GUARD finds a handler that writes beyond its reply or its
/// state: it fills the bytes on either side of both before the handler runs, and looks at them
/// again behind it. What lies further away is not looked at, nor what is inside.
///
///     reply:  record's header | reply | what else was claimed, RK_GUARD_BYTES if there was room
///     state:   RK_GUARD_BYTES | state | RK_GUARD_BYTES
///
/// Nothing of this is in any other executor.
#ifndef RINGKERNEL_RK_GUARD_H
#define RINGKERNEL_RK_GUARD_H

#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/fault.h"
#include "ringkernel/protocol/record.h"
#include "rk_message.h"
#include "rk_slice.h"

/// Where the filled bytes of one message lie. A length of 0: there are none.
typedef struct rk_guard {
  rk_bytes header; /* sizeof(rk_record_header) bytes, which are written behind the handler */
  rk_bytes behind_reply;
  rk_u32 behind_reply_bytes;
  rk_u32 state_guard_bytes;
  rk_bytes before_state;
  rk_bytes behind_state;
} rk_guard;

/// Byte `index` of a guard: no two neighbours are the same.
RK_INLINE rk_u8 rk_guard_byte(rk_u32 index) { return (rk_u8)(0xa5u ^ index); }

RK_INLINE void rk_guard_fill(rk_bytes at, rk_u32 bytes) {
  for (rk_u32 i = 0; i < bytes; ++i) at[i] = rk_guard_byte(i);
}

RK_INLINE rk_u32 rk_guard_differs(rk_const_bytes at, rk_u32 bytes) {
  rk_u32 differs = 0;
  for (rk_u32 i = 0; i < bytes; ++i) differs |= (rk_u32)(at[i] ^ rk_guard_byte(i));
  return differs != 0;
}

/// Fills the guards of a message whose reply is claimed. The header is lost.
RK_INLINE rk_guard rk_guard_set(const rk_message* message, RK_GLOBAL rk_record_header* reply) {
  rk_guard guard;
  guard.header = (rk_bytes)reply;
  guard.behind_reply = message->reply + message->reply_bytes;
  guard.behind_reply_bytes =
      reply->length - (rk_u32)sizeof(rk_record_header) - message->reply_bytes;
  guard.before_state = message->state - RK_GUARD_BYTES;
  guard.behind_state = message->state + message->state_bytes;
  const rk_u64 offset = (rk_u64)(message->state - message->arena) - RK_GUARD_BYTES;
  const rk_u64 bytes = (rk_u64)message->state_bytes + 2 * RK_GUARD_BYTES;
  const rk_u32 is_there =
      message->state_bytes != 0 && rk_region_acceptable(offset, bytes, message->arena_bytes);
  guard.state_guard_bytes = is_there ? RK_GUARD_BYTES : 0;
  rk_guard_fill(guard.header, (rk_u32)sizeof(rk_record_header));
  rk_guard_fill(guard.behind_reply, guard.behind_reply_bytes);
  rk_guard_fill(guard.before_state, guard.state_guard_bytes);
  rk_guard_fill(guard.behind_state, guard.state_guard_bytes);
  return guard;
}

/// RK_OVERRAN_*: what the handler wrote beyond; 0: nothing.
RK_INLINE rk_u32 rk_guard_overrun(const rk_guard* guard) {
  rk_u32 overrun = 0;
  if (rk_guard_differs(guard->header, (rk_u32)sizeof(rk_record_header)) ||
      rk_guard_differs(guard->behind_reply, guard->behind_reply_bytes))
    overrun |= RK_OVERRAN_REPLY;
  if (rk_guard_differs(guard->before_state, guard->state_guard_bytes) ||
      rk_guard_differs(guard->behind_state, guard->state_guard_bytes))
    overrun |= RK_OVERRAN_STATE;
  return overrun;
}

#endif
