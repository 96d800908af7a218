/// The record: what lies in a ring, header first, payload behind it, padded to 64 bytes.
///
///     0        8        16       24       32       40       48       56      64
///     +--------+--------+--------+--------+--------+--------+--------+-------+----------
///     |len|k|f | corr.  |pay|sel |pfx|pfxB|rep|flt | detail | taken  | done  | payload ...
///     +--------+--------+--------+--------+--------+--------+--------+-------+----------
///
/// A record never wraps: where it does not fit before the end of the ring, a padding record
/// (kind RK_RECORD_PADDING, header only, `length` up to the end) fills the rest.
#ifndef RINGKERNEL_PROTOCOL_RECORD_H
#define RINGKERNEL_PROTOCOL_RECORD_H

#include "ringkernel/protocol/abi.h"

#define RK_RECORD_NONE 0u    /* zeroed memory: nothing committed */
#define RK_RECORD_PADDING 1u /* skip `length` bytes */
#define RK_RECORD_REQUEST 2u /* host to device */
#define RK_RECORD_REPLY 3u   /* device to host; answers the request with the same correlation id */

#define RK_RECORD_TIMED 1u /* flag of a request: its reply says when */

/// Written by: the producer of the ring, before its position is published.  Read by: the consumer.
typedef struct rk_record_header {
  rk_u32 length;         /* bytes of the record, header and padding included; a multiple of 64 */
  rk_u16 kind;           /* RK_RECORD_* */
  rk_u16 flags;          /* request: RK_RECORD_TIMED or 0; reply: the version of the program
                            that answered, its last 16 bits */
  rk_u64 correlation_id; /* the host's; the device copies it into the reply unread */
  rk_u32 payload_bytes;  /* bytes of the payload that follows the header */
  rk_u32 selector;       /* request: what is asked for, as the program understands it. core: where
                            its rk_command begins, from payload start; a multiple of 8; 0 = none.
                            With a schema: the id of a method. reply: the request's */
  rk_u32 prefix_offset;  /* request: first bytes of the reply, from payload start */
  rk_u32 prefix_bytes;   /* request: how many of them the device copies */
  rk_u32 reply_bytes;    /* request: payload bytes of the reply, prefix included */
  rk_u32 fault;          /* reply: RK_FAULT_*; 0 = the payload is the answer */
  rk_u64 fault_detail;   /* reply: the offending value or index, meaning depends on the fault.
                            request: when its time is over, CLOCK_MONOTONIC of the host in
                            nanoseconds; 0: never */
  rk_u64 taken_ticks;    /* reply to a timed request: as the executor took it, by its clock */
  rk_u64 done_ticks;     /* and as the reply was ready; both 0: not timed, or it has no clock.
                            request: likewise how much time it has from the executor's first look at
                            a clock on; 0: for ever */
} rk_record_header;

#endif
