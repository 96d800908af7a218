/// What host and device share of the resident copier (copier.cl): one mailbox in memory of the host
/// that a running kernel shares. One struct = one writer.
#ifndef RINGKERNEL_COPIER_H
#define RINGKERNEL_COPIER_H

#include "ringkernel/protocol/abi.h"

#define RK_COPIER_LANES 64u
/// Entries and data of a batch travel in units of 16 bytes; each copy's data begin a unit.
#define RK_COPIER_UNIT 16u
#define RK_COPIER_UNITS_IN 1024u /* of entries and of what goes to the device */
#define RK_COPIER_UNITS_OUT 4096u
#define RK_COPIER_ENTRIES_MAX 255u
#define RK_COPIER_RUN_MASK 0xfffu
/// Of local memory: a batch, and words of the kernel's own.
#define RK_COPIER_LOCAL_BYTES ((RK_COPIER_UNITS_IN + 2u) * RK_COPIER_UNIT)

/// Written by: host.  Read by: device.
typedef struct rk_copier_host_line {
  /* The batch's number << 32 | the run that is to serve it, of which 12 bits << 20 | its entries <<
     12 | its units; release, behind these. No other run serves it. */
  rk_u64 batch;
  rk_u32 leave;        /* this run of the kernel and those before are to return */
  rk_u32 polls_max;    /* idle polls after which it returns by itself */
  rk_u64 reserved[14]; /* zero */
} rk_copier_host_line;
RK_LAYOUT(rk_copier_host_line, RK_LINE_BYTES);

/// A copy. Written by: host.  Read by: device.
typedef struct rk_copier_entry {
  rk_u64 offset;    /* in the arena of the device */
  rk_u32 bytes;     /* not 0 */
  rk_u32 direction; /* RK_COPIER_TO_* */
} rk_copier_entry;
RK_LAYOUT(rk_copier_entry, RK_COPIER_UNIT);
#define RK_COPIER_TO_DEVICE 0u
#define RK_COPIER_TO_HOST 1u

/// Written by: device.  Read by: host.
typedef struct rk_copier_device_line {
  rk_u32 done;         /* the number of the batch that was done last; release, behind its data */
  rk_u32 left;         /* the run that returned last; release, behind `done` */
  rk_u32 reserved[30]; /* zero */
} rk_copier_device_line;
RK_LAYOUT(rk_copier_device_line, RK_LINE_BYTES);

/// Where they are in the mailbox: the host's line, entries and data; the device's line, data.
#define RK_COPIER_IN RK_LINE_BYTES
#define RK_COPIER_DEVICE_LINE (RK_COPIER_IN + RK_COPIER_UNITS_IN * RK_COPIER_UNIT)
#define RK_COPIER_OUT (RK_COPIER_DEVICE_LINE + RK_LINE_BYTES)
#define RK_COPIER_BYTES (RK_COPIER_OUT + RK_COPIER_UNITS_OUT * RK_COPIER_UNIT)

#endif
