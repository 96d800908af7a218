/// Doorbells: compact arrays of epochs, one per ring kernel, by which one side learns that the
/// other published something, without looking at 1024 rings.
///
/// There are two arrays per executor: the input doorbell (host-written: "input or state of kernel i
/// changed") and the output doorbell (device-written: "output of kernel i grew"). A writer stores
/// epoch + 1 (release) after it published; the reader compares whole lines with the epochs it saw
/// last. An epoch that was ever rung is never 0 again (the writer skips 0 when it wraps), because
/// a slice starts with 0 as "seen" for all. Only equality is compared; 2^32 rings between two looks
/// of a polling reader do not happen (a minute at 70 M rings/s).
#ifndef RINGKERNEL_PROTOCOL_DOORBELL_H
#define RINGKERNEL_PROTOCOL_DOORBELL_H

#include "ringkernel/protocol/abi.h"

#define RK_DOORBELLS_PER_LINE 16u

/// Written by: the side that rings (host for input, device for output).  Read by: the other.
typedef struct rk_doorbell_line {
  rk_u32 epoch[16];
} rk_doorbell_line;

#endif
