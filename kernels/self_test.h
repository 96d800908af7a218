/// What host and device share in the self-test of a device (self_test.cl). One struct = one writer.
#ifndef RINGKERNEL_SELF_TEST_H
#define RINGKERNEL_SELF_TEST_H

#include "ringkernel/protocol/abi.h"

/// Written by: host.  Read by: device.
typedef struct rk_self_test_host_line {
  rk_u32 ping[16];     /* word 0 counts pings, release; the others stay zero, like idle doorbells */
  rk_u32 stop;         /* 1: return at once */
  rk_u32 polls_max;    /* polls after which the kernel returns whatever happens */
  rk_u32 reserved[14]; /* zero */
  /* Plain store before the ping; the device must see it behind the ping. On a line that no poll
     looks at, as a record in a ring: a cache may remember what it held before. */
  rk_u32 payload;
  rk_u32 behind[31]; /* zero */
} rk_self_test_host_line;
RK_LAYOUT(rk_self_test_host_line, 2 * RK_LINE_BYTES);

/// Of one work-group.  Written by: device.  Read by: host.
typedef struct rk_self_test_device_line {
  rk_u32 started;      /* 1: the work-group runs; release */
  rk_u32 pong;         /* the ping answered last; release, behind `payload` */
  rk_u32 payload;      /* the complement of the payload that came with the ping */
  rk_u32 stopped;      /* 1: returned because of `stop`; 2: because of `polls_max` */
  rk_u64 polls;        /* polls so far, stored every 1024 polls */
  rk_u64 reserved[13]; /* zero */
} rk_self_test_device_line;
RK_LAYOUT(rk_self_test_device_line, RK_LINE_BYTES);

#define RK_SELF_TEST_STOPPED 1u
#define RK_SELF_TEST_EXHAUSTED 2u

#endif
