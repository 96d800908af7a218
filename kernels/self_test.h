/// What host and device share in the self-test of a device (self_test.cl). One struct = one writer.
#ifndef RINGKERNEL_SELF_TEST_H
#define RINGKERNEL_SELF_TEST_H

#include "ringkernel/protocol/abi.h"

/// What comes with a ping, and with its answer: lines of their own, as a record in a ring has them.
/// Were it on the line of the word that announces it, both would become visible at once, and an
/// order that a device does not keep would not show.
#define RK_SELF_TEST_LINES 4u
#define RK_SELF_TEST_LINE_WORDS 32u
#define RK_SELF_TEST_WORDS (RK_SELF_TEST_LINES * RK_SELF_TEST_LINE_WORDS)

/// Written by: host.  Read by: device.
typedef struct rk_self_test_host_line {
  rk_u32 ping[16];     /* word 0 counts pings, release; the others stay zero, like idle doorbells */
  rk_u32 stop;         /* 1: return at once */
  rk_u32 polls_max;    /* polls after which the kernel returns whatever happens */
  rk_u32 reserved[14]; /* zero */
  /* Plain stores before the ping, every word another one each time; the device must see them behind
     the ping. On lines that no poll looks at: a cache may remember what they held before. */
  rk_u32 payload[RK_SELF_TEST_WORDS];
} rk_self_test_host_line;
RK_LAYOUT(rk_self_test_host_line, (1 + RK_SELF_TEST_LINES) * RK_LINE_BYTES);

/// Of one work-group.  Written by: device.  Read by: host.
typedef struct rk_self_test_device_line {
  rk_u32 started;      /* 1: the work-group runs; release */
  rk_u32 pong;         /* the ping answered last; release, behind `payload` */
  rk_u32 stopped;      /* 1: returned because of `stop`; 2: because of `polls_max` */
  rk_u32 reserved0;    /* zero */
  rk_u64 polls;        /* polls so far, stored every 1024 polls */
  rk_u64 reserved[13]; /* zero */
  /* The complement of the payload that came with the ping. */
  rk_u32 payload[RK_SELF_TEST_WORDS];
} rk_self_test_device_line;
RK_LAYOUT(rk_self_test_device_line, (1 + RK_SELF_TEST_LINES) * RK_LINE_BYTES);

#define RK_SELF_TEST_STOPPED 1u
#define RK_SELF_TEST_EXHAUSTED 2u

/// The line of the answer to ping `number` that is stored in step 0, 1, 2 and so on: another one is
/// the last each time. That one is what a release which orders nothing leaves behind.
#define RK_SELF_TEST_LINE(number, step) (((number) + (step)) % RK_SELF_TEST_LINES)

/// Devices whose memory has no order, or that are busy, for the test of this test
/// (visibility_test.cpp): a build with RK_SELF_TEST_FAULT as one of these.
#define RK_SELF_TEST_OVERTAKEN 1  /* the answer's number becomes visible before the answer */
#define RK_SELF_TEST_HELD_BACK 2  /* the line stored last does so when the kernel ends */
#define RK_SELF_TEST_REMEMBERED 3 /* a word of a payload is read as it was at the ping before */
#define RK_SELF_TEST_HELD_UP 4    /* short runs take long: others have the processor */

#endif
