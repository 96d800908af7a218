/// Control blocks of executors and ring kernels. One struct = one writer.
///
///     executor:     host line | device lines [work-groups] | input doorbells | output doorbells
///     ring kernels: host lines [capacity] | device lines [capacity] | telemetry blocks [capacity]
///
/// All of it lies in the arena; `executor_offset` is the host line of the executor, which names the
/// offsets of everything else. Zeroed memory is inert: state 0 is "not there", no kernel is
/// drained.
///
/// An executor of several work-groups is a pool: ring kernel i belongs to work-group i modulo
/// their number, which alone visits it, writes its structs, and says in a line of its own how it
/// ended.
///
/// Run states of a ring kernel as the device sees them (host-written):
///
///     absent --> running <--> paused --> absent
///
/// Each change is `state`, `state_epoch` + 1, then a ring of the input doorbell. The executor
/// answers by copying `state_epoch` into its own line: from then on it does not touch the kernel's
/// rings until the state is running again. That answer is what deactivate and terminate wait for.
#ifndef RINGKERNEL_PROTOCOL_CONTROL_BLOCK_H
#define RINGKERNEL_PROTOCOL_CONTROL_BLOCK_H

#include "ringkernel/protocol/abi.h"

/// Ring kernels that one executor can serve.
#define RK_KERNELS_MAX 1024u

/// Work-groups that one executor can have.
#define RK_WORK_GROUPS_MAX 64u

#define RK_KERNEL_ABSENT 0u
#define RK_KERNEL_RUNNING 1u
#define RK_KERNEL_PAUSED 2u

/// Bytes on either side of a state that are the device's to write, in executors that look for
/// handlers which write beyond it.
#define RK_GUARD_BYTES 64u

/// The core in `handover` of rk_executor_host_line.
#define RK_HANDOVER_CORE 0xffffu

/// Why a work-group of a slice returned (rk_executor_device_line.end_reason).
#define RK_SLICE_IDLE 1u   /* nothing was rung for `idle_polls_max` polls or `idle_ns_max` */
#define RK_SLICE_STOP 2u   /* the host asked it to stop for good */
#define RK_SLICE_YIELD 3u  /* the host asked it to leave, and nothing was left to do */
#define RK_SLICE_BUDGET 4u /* its records are used up, or it left at the host's request */

/// Records that an eager slice handles before it leaves the rest to the next slice. A thread that
/// runs a slice for its own call does not serve everybody else for ever.
#define RK_EAGER_RECORDS_MAX 64u

/// Written by: host.  Read by: device, every poll (it stays in the device's cache until written).
typedef struct rk_executor_host_line {
  rk_u32 magic;           /* RK_PROTOCOL_MAGIC */
  rk_u32 version;         /* RK_PROTOCOL_VERSION */
  rk_u32 stop;            /* 1: end every slice at once; release */
  rk_u32 yield_slice;     /* end the slice with this number when it has drained what it saw; with
                             several work-groups: after the pass it is in, whatever is left */
  rk_u32 kernel_count;    /* kernels [0, kernel_count) may be non-absent; release, never shrinks */
  rk_u32 kernel_capacity; /* length of the kernel arrays; multiple of 16, <= RK_KERNELS_MAX */
  rk_u32 idle_polls_max;  /* polls without work after which a slice parks; >= 1 */
  rk_u32
      drain_records_max; /* records taken from one ring before the next ring has its turn; >= 1 */
  rk_u32 slice_records_max; /* records after which a slice ends; 0 = no such limit */
  rk_u32 eager_slice;       /* the slice with this number parks when it has done what it found, and
                               handles at most RK_EAGER_RECORDS_MAX records; 0 = none */
  rk_u64 device_line;       /* arena offset of rk_executor_device_line[work_groups] */
  rk_u64 input_doorbells; /* arena offset of rk_doorbell_line[kernel_capacity / 16], host-written */
  rk_u64 output_doorbells;    /* arena offset of rk_doorbell_line[...], device-written */
  rk_u64 kernel_host_lines;   /* arena offset of rk_kernel_host_line[kernel_capacity] */
  rk_u64 kernel_device_lines; /* arena offset of rk_kernel_device_line[kernel_capacity] */
  rk_u64 telemetry_blocks;    /* arena offset of rk_telemetry_block[kernel_capacity] */
  rk_u32 leave_slice; /* end the slice with this number after the pass it is in, whatever is left:
                         another program waits for its compute unit, or another build of this one.
                         The backend's word */
  rk_u32 work_groups; /* >= 1, <= RK_WORK_GROUPS_MAX */
  rk_u64 idle_ns_max; /* nanoseconds without work after which a slice parks that has a clock; 0 = no
                         such limit */
  rk_u64 idle_spin_ns; /* nanoseconds without work after which such a slice begins to yield */
  rk_u32 handover;     /* the core that a waiting thread gave to the slice there last, as `core`
                          says it, below 16 bits of how often that was */
  rk_u32 turn_ns; /* nanoseconds after which an op is left, if others may be waiting; 0 = never;
                     1 = after each of its steps */
  rk_u32 eager_kernel; /* whose message the eager slice was started for: when it is answered, ops of
                          other kernels that are not finished are left to the next slice */
  rk_u32 reserved0;    /* zero */
} rk_executor_host_line;

/// Of one work-group.  Written by: device.  Read by: host.
typedef struct rk_executor_device_line {
  /* number of the last slice that this work-group parked; full fence before the re-check of the
     doorbells, pairs with the host's fence between ringing and reading it */
  rk_u32 parked_slice;
  rk_u32 running_slice; /* number of the slice that it started last; release */
  rk_u32 end_reason;    /* RK_SLICE_*, of the slice that it parked last */
  rk_u32 core;          /* of the host, on which it runs, plus 1; 0: nobody knows. Stored as a
                           slice starts, as it becomes idle, and with `polls` */
  rk_u64 polls;     /* doorbell polls so far, all slices; the heartbeat, stored every 1024 polls */
  rk_u64 records;   /* records handled so far, all slices; stored with `polls` and at the end */
  rk_u64 slices;    /* slices started so far */
  rk_u64 last_turn; /* the ring kernel that went on with an unfinished op last */
  rk_u64 reserved[10]; /* zero */
} rk_executor_device_line;

/// Written by: host.  Read by: device, when the kernel's doorbell changed.
typedef struct rk_kernel_host_line {
  rk_u32 state;           /* RK_KERNEL_*; release, after the rings */
  rk_u32 state_epoch;     /* counts state changes; release, after everything else in this line */
  rk_u32 input_capacity;  /* bytes of data of the input ring; power of two */
  rk_u32 output_capacity; /* bytes of data of the output ring; power of two */
  rk_u64 input_ring;      /* arena offset of rk_ring; host produces, device consumes */
  rk_u64 output_ring;     /* arena offset of rk_ring; device produces, host consumes */
  rk_u64 state_offset;    /* of its program's own state in the arena; a multiple of 64, with
                             RK_GUARD_BYTES of nobody else's on either side */
  rk_u32 state_bytes;     /* 0: it has none */
  rk_u32 behaviour;       /* which kind of actor of its program it is; 0: there is one kind */
  rk_u64 old_state;       /* arena offset of the state that is to be migrated; a multiple of 64 */
  rk_u32 old_state_bytes; /* 0: the state is new, and the device has nothing to do for it */
  rk_u32 migration_epoch; /* the state_epoch with which the device makes the state out of the old
                             one, before it obeys; 0: none */
  rk_u64 reserved[8];     /* zero */
} rk_kernel_host_line;

/// Written by: device.  Read by: host.
typedef struct rk_kernel_device_line {
  rk_u32 state_epoch; /* the host's state_epoch that the executor obeys; release */
  rk_u32 fault;       /* RK_FAULT_* that made the whole kernel unusable; sticky, first one wins */
  /* 1: input waits because the output ring is full; full fence before the last look at the output
     ring, pairs with the host's fence after release */
  rk_u32 backpressured;
  rk_u32 last_record_bytes; /* of the input record taken last; the executor's own note */
  /* The executor's own note, too: how far the op of the oldest record has come. */
  rk_u32 unfinished;     /* 1: it was begun, and goes on with the next visit; the rest is its own */
  rk_u32 resume_command; /* of a graph: the one that is due */
  rk_u64 resume_step;    /* of the op: done so far */
  rk_u64 resume_deadline; /* by the device's clock, nanoseconds; 0: none */
  rk_u64 resume_taken;    /* `taken_ticks` of its reply */
  rk_u64 reserved[10];    /* zero */
} rk_kernel_device_line;

#endif
