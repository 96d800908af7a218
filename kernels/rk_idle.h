/// What a slice does while nobody wants anything of it: spin, then give its core away again and
/// again, until it has been idle for long enough to park. While a thread waits for it on its own
/// core, neither spins: each gives the core to the other.
///
/// Pause, yield and clock exist natively and where slices are threads of the host's process
/// (rk_device.h, RK_ON_HOST_THREADS). Elsewhere the slice spins, and counts its polls.
#ifndef RINGKERNEL_RK_IDLE_H
#define RINGKERNEL_RK_IDLE_H

#include "ringkernel/protocol/control_block.h"
#include "rk_device.h"

/// Polls between two looks at the clock, which takes longer than some of them.
#define RK_IDLE_POLLS_PER_LOOK 256u
/// Paused polls between two yields: half a microsecond. On a core of its own a yield returns at
/// once; on a shared one the others have theirs.
#define RK_IDLE_POLLS_PER_YIELD 16u

typedef struct rk_idle {
  rk_u32 polls;    /* since there was work */
  rk_u32 yields;   /* 1: has spun for long enough */
  rk_u32 handover; /* of the host line, as it was at the last look */
  rk_u64 since_ns; /* the clock at its first look */
  rk_u64 ns;       /* from then to the last look; 0 without a clock */
} rk_idle;

RK_INLINE void rk_idle_reset(RK_LOCAL rk_idle* idle) {
  idle->polls = 0;
  idle->yields = 0;
  idle->ns = 0;
}

/// Lets waiting threads know where the slice runs.
RK_INLINE void rk_idle_tell_core(RK_GLOBAL rk_executor_device_line* device) {
  const rk_u32 core = rk_core();
  // relaxed: a hint; pairs with Executor::needs_core
  if (device->core != core) rk_store_relaxed_u32(&device->core, core);
}

RK_INLINE void rk_idle_open(RK_LOCAL rk_idle* idle, RK_GLOBAL rk_executor_device_line* device) {
  // Whoever had this slice started may have handed its core over before it began.
  idle->handover = 0;
  rk_idle_reset(idle);
  rk_idle_tell_core(device);
}

/// Spends the turn behind a poll that found nothing.
RK_INLINE void rk_idle_turn(RK_LOCAL rk_idle* idle, RK_GLOBAL const rk_executor_host_line* host,
                            RK_GLOBAL rk_executor_device_line* device) {
  if (idle->polls == 1) rk_idle_tell_core(device);
  // relaxed: a hint; pairs with Executor::note_handover
  const rk_u32 handover = rk_load_relaxed_u32(&host->handover);
  if (idle->handover != handover) {
    idle->handover = handover;
    // Who gave this core away waits for it.
    if (((handover ^ device->core) & RK_HANDOVER_CORE) == 0) rk_yield();
  }
  if (idle->yields) {
    rk_pause();
    if (idle->polls % RK_IDLE_POLLS_PER_YIELD != 0) return;
    rk_yield();
  } else if (idle->polls % RK_IDLE_POLLS_PER_LOOK != 0) {
    return;
  }
  const rk_u64 now_ns = rk_clock_ns();
  if (idle->polls == RK_IDLE_POLLS_PER_LOOK) idle->since_ns = now_ns;
  idle->ns = now_ns - idle->since_ns;
  // relaxed: the word stands alone
  idle->yields = idle->ns >= rk_load_relaxed_u64(&host->idle_spin_ns);
}

/// Whether the slice has been idle for as long as the host allows.
RK_INLINE rk_u32 rk_idle_enough(RK_LOCAL const rk_idle* idle,
                                RK_GLOBAL const rk_executor_host_line* host) {
  // relaxed: the words stand alone
  const rk_u64 ns_max = rk_load_relaxed_u64(&host->idle_ns_max);
  return idle->polls >= rk_load_relaxed_u32(&host->idle_polls_max) ||
         (ns_max != 0 && idle->ns >= ns_max);
}

#endif
