/// What the device itself counts for one ring kernel. Units are in the names; a device has no
/// portable clock, so there are no times here.
#ifndef RINGKERNEL_PROTOCOL_TELEMETRY_BLOCK_H
#define RINGKERNEL_PROTOCOL_TELEMETRY_BLOCK_H

#include "ringkernel/protocol/abi.h"

/// Written by: device, after each record, relaxed: counters carry no data with them.
/// Read by: host, whenever it likes; each word is whole, the block as such is no snapshot.
typedef struct rk_telemetry_block {
  rk_u64 messages_in;         /* requests taken from the input ring */
  rk_u64 messages_out;        /* replies committed to the output ring, faults included */
  rk_u64 bytes_in;            /* record bytes consumed, headers included, padding not */
  rk_u64 bytes_out;           /* record bytes committed, headers included, padding not */
  rk_u64 faults;              /* replies that carry a fault */
  rk_u64 backpressure_count;  /* times a request had to wait for space in the output ring */
  rk_u32 last_fault;          /* RK_FAULT_* of the latest fault, 0 = none */
  rk_u32 reserved0;           /* zero */
  rk_u64 last_correlation_id; /* of the request handled last */
  rk_u64 reserved[8];         /* zero */
} rk_telemetry_block;

#endif
