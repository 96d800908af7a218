/// The record: what lies in a ring, header first, payload behind it, padded to 64 bytes.
///
///     0        8        16       24       32       40       48       56      64
///     +--------+--------+--------+--------+--------+--------+--------+-------+----------
///     |len|k|f | corr.  |pay|cmd |pfx|pfxB|rep|flt | detail | stamp  | rsvd  | payload ...
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

/// Written by: the producer of the ring, before its position is published.  Read by: the consumer.
typedef struct rk_record_header {
  rk_u32 length;         /* bytes of the record, header and padding included; a multiple of 64 */
  rk_u16 kind;           /* RK_RECORD_* */
  rk_u16 flags;          /* reserved, zero */
  rk_u64 correlation_id; /* the host's; the device copies it into the reply unread */
  rk_u32 payload_bytes;  /* bytes of the payload that follows the header */
  rk_u32 command_offset; /* request: rk_command, from payload start; multiple of 8; 0 = none */
  rk_u32 prefix_offset;  /* request: first bytes of the reply, from payload start */
  rk_u32 prefix_bytes;   /* request: how many of them the device copies */
  rk_u32 reply_bytes;    /* request: payload bytes of the reply, prefix included */
  rk_u32 fault;          /* reply: RK_FAULT_*; 0 = the payload is the answer */
  rk_u64 fault_detail;   /* reply: the offending value or index, meaning depends on the fault */
  rk_u64 timestamp_ns;   /* request: host clock as it enters, 0 = not sampled; the reply has it */
  rk_u64 reserved;       /* zero */
} rk_record_header;
RK_LAYOUT(rk_record_header, 64);
RK_FIELD(rk_record_header, length, 0);
RK_FIELD(rk_record_header, kind, 4);
RK_FIELD(rk_record_header, flags, 6);
RK_FIELD(rk_record_header, correlation_id, 8);
RK_FIELD(rk_record_header, payload_bytes, 16);
RK_FIELD(rk_record_header, command_offset, 20);
RK_FIELD(rk_record_header, prefix_offset, 24);
RK_FIELD(rk_record_header, prefix_bytes, 28);
RK_FIELD(rk_record_header, reply_bytes, 32);
RK_FIELD(rk_record_header, fault, 36);
RK_FIELD(rk_record_header, fault_detail, 40);
RK_FIELD(rk_record_header, timestamp_ns, 48);
RK_FIELD(rk_record_header, reserved, 56);

#endif
