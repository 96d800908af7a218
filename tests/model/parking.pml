/* Parking and waking of an executor (docs/PROTOCOL.md, "Parking"): a sender rings, and either the
 * slice that is about to park sees it, or the sender sees `parked_slice` and launches the next one.
 *
 * Host: Executor::ring and Executor::wake (bridge/executor/executor.cpp). Device: rk_slice_park and
 * the loop of rk_run_group (kernels/ring_kernel.cl). Sender s owns ring kernel s, as the
 * send lock has it.
 *
 * A slice that ends because its budget is used up does not look at the doorbells again: whoever ran
 * it on his own thread launches the next one, and for launched slices the bridge does it, which is
 * awake while answers are awaited (Executor::left_work).
 *
 * Claims: when nothing can happen any more, every message was handled and the next sender would
 * launch (monitor); every message is handled some time (ltl handled_some_time); at most one slice
 * waits behind the running one, so that the in-order queue never holds two (start_slice).
 */
#ifndef MUTANT
#define MUTANT 0
#endif
#define NO_FENCE_ON_HOST (MUTANT == 1)
#define NO_FENCE_ON_DEVICE (MUTANT == 2)
#define NO_LOOK_AFTER_PARKING (MUTANT == 3)
#define LAUNCH_WITHOUT_CAS (MUTANT == 4)
#define NO_SWEEP_AT_START (MUTANT == 5)
#define RING_BEFORE_PUBLISH (MUTANT == 6)
#define PARKED_READ_BEFORE_RING (MUTANT == 7)
#define CALLER_IGNORES_BUDGET (MUTANT == 8)
#define SEEN_AFTER_DRAIN (MUTANT == 9)
#define EAGER_LEAVES_WORK (MUTANT == 12)
#ifndef YIELD_WITHOUT_LOOK
#define YIELD_WITHOUT_LOOK 0
#endif

/* 0: `slice_records_max` is 0 and the bridge sleeps. 1: it is not, and the bridge is awake; see
 * parking_bounded.pml. */
#ifndef BOUNDED_SLICES
#define BOUNDED_SLICES 0
#endif
/* 1: a sender that would rather run slices itself asks the resident slice to yield; see
 * parking_yield.pml. */
#ifndef CALLERS_ASK_TO_YIELD
#define CALLERS_ASK_TO_YIELD 0
#endif
/* 1: a slice remembers what the one before it saw and left; see parking_remembers.pml. */
#ifndef REMEMBERS
#define REMEMBERS 0
#define FORGETS_WORK 0
#endif
/* 1: an op may be left unfinished, once, and goes on in a later visit; see parking_turns.pml. */
#ifndef TURNS
#define TURNS 0
#define UNFINISHED_IS_NO_MARK 0
#endif
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef MESSAGES
#define MESSAGES 2
#endif

#define DEVICE SENDERS
#define BRIDGE (SENDERS + 1)
#define THREADS (SENDERS + 1 + BOUNDED_SLICES)

#define INPUT_POSITION(kernel) (kernel)
#define INPUT_DOORBELL(kernel) (SENDERS + (kernel))
#define PARKED_SLICE (2 * SENDERS)
#define END_REASON (2 * SENDERS + 1)
#define YIELD_SLICE (2 * SENDERS + 2)
#define LOCATIONS (2 * SENDERS + 3)

#include "tso.pml"

#define NOBODY 255
#define RK_SLICE_IDLE 1
#define RK_SLICE_YIELD 3
#define RK_SLICE_BUDGET 4

byte launched;                                 /* number of the slice launched last */
chan slice_queue = [2] of { byte, byte };      /* number; the caller that runs it, or NOBODY */
chan slice_returned[THREADS] = [1] of { bit }; /* to the caller */
bool slice_running;
byte handled[SENDERS]; /* records that the device has taken */
byte handled_in_all;
bool unfinished[SENDERS]; /* the kernel's device line, which stays from slice to slice */

/* Executor::start_slice. Where no slice runs, the caller may run it on its own thread, which is to
 * wait for its end here. `ran` = it did. */
inline start_slice(me, number, may_run) {
  atomic {
    assert(len(slice_queue) == 0);
    if
    :: slice_queue!number,NOBODY; ran = false
    :: may_run && !slice_running -> slice_queue!number,me; ran = true
    fi
  }
  if
  :: ran -> slice_returned[me]?_
  :: else
  fi
}

/* Executor::wake. */
inline wake(me, may_run) {
#if !NO_FENCE_ON_HOST
  fence(me);
#endif
#if !PARKED_READ_BEFORE_RING
  parked = memory[PARKED_SLICE];
#endif
  expected = launched;
  if
  :: parked == expected ->
#if LAUNCH_WITHOUT_CAS
     won = true;
     launched = expected + 1;
#else
     atomic {
       fence(me) ->
       won = (launched == expected);
       launched = launched + won
     };
#endif
     if
     :: won -> start_slice(me, expected + 1, may_run)
     :: else
     fi;
     won = false
#if CALLERS_ASK_TO_YIELD
  :: parked != expected && may_run -> store(me, YIELD_SLICE, expected)
#endif
  :: else
  fi;
  parked = 0;
  expected = 0
}

active [SENDERS] proctype sender() {
  byte message, parked, expected;
  bool won, ran;
  byte me = _pid - THREADS;
  do
  :: message < MESSAGES ->
     message++;
#if PARKED_READ_BEFORE_RING
     parked = memory[PARKED_SLICE];
#endif
#if RING_BEFORE_PUBLISH
     store(me, INPUT_DOORBELL(me), message);
     store(me, INPUT_POSITION(me), message);
#else
     store(me, INPUT_POSITION(me), message);
     store(me, INPUT_DOORBELL(me), message);
#endif
     wake(me, true);
#if !CALLER_IGNORES_BUDGET
     if
     :: ran && memory[END_REASON] == RK_SLICE_BUDGET -> wake(me, false)
     :: else
     fi;
#endif
     ran = false
  :: else -> break
  od
}

#if BOUNDED_SLICES && !BRIDGE_IGNORES_BUDGET
/* Bridge::serve_channels, as long as it is awake. */
active proctype bridge() {
  byte parked, expected;
  bool won, ran;
end:
  do
  :: memory[PARKED_SLICE] == launched ->
     if
     :: memory[END_REASON] == RK_SLICE_BUDGET -> wake(BRIDGE, false)
     :: else
     fi
  od
}
#endif

/* rk_slice_poll: `rung` = a doorbell changed. */
inline poll() {
  rung = false;
  do
  :: atomic {
       kernel < SENDERS ->
       epoch = memory[INPUT_DOORBELL(kernel)];
       if
       :: epoch != seen[kernel] ->
#if !SEEN_AFTER_DRAIN
          seen[kernel] = epoch;
#endif
          work[kernel] = true;
          rung = true
       :: else
       fi;
       epoch = 0;
       kernel++
     }
  :: atomic { kernel == SENDERS -> kernel = 0; break }
  od
}

/* Slices with a budget: RK_EAGER_RECORDS_MAX on a caller's thread, `slice_records_max` for all. */
#if BOUNDED_SLICES
#define MAY_END_EARLY true
#else
#define MAY_END_EARLY (caller != NOBODY)
#endif

/* rk_slice_work, one record of each marked kernel: `worked` = a kernel was marked, `left` = one
 * still is. */
inline visit_marked() {
  worked = false;
  left = false;
  do
  :: atomic {
       kernel < SENDERS && work[kernel] ->
       worked = true;
       if
#if TURNS
       /* RK_AGAIN: the kernel comes back, and the slice has worked. */
       :: handled[kernel] < memory[INPUT_POSITION(kernel)] && !unfinished[kernel] ->
          unfinished[kernel] = true;
          left = true;
          took = MAY_END_EARLY;
          work[kernel] = !UNFINISHED_IS_NO_MARK
#endif
       :: handled[kernel] < memory[INPUT_POSITION(kernel)] ->
          unfinished[kernel] = false;
          handled[kernel]++;
          handled_in_all++;
          left = true;
          took = MAY_END_EARLY
       :: else -> work[kernel] = false
       fi
     };
#if SEEN_AFTER_DRAIN
     seen[kernel] = memory[INPUT_DOORBELL(kernel)];
#endif
     kernel++
  :: atomic { kernel < SENDERS && !work[kernel] -> kernel++ }
  :: atomic { kernel == SENDERS -> kernel = 0; break }
  od
}

/* A slice that remembers no other takes every doorbell that was ever rung for rung. */
inline start() {
  atomic {
    do
    :: kernel < SENDERS ->
#if !REMEMBERS || FORGETS_WORK
       work[kernel] = false;
#endif
#if REMEMBERS
       skip;
#elif NO_SWEEP_AT_START
       seen[kernel] = memory[INPUT_DOORBELL(kernel)];
#else
       seen[kernel] = 0;
#endif
       kernel++
    :: else -> kernel = 0; break
    od
  }
}

/* How many polls make "idle" is left open: a slice may park whenever it found nothing to do, and an
 * eager one as soon as it has done what it found. */
active proctype device() {
  byte seen[SENDERS], kernel, epoch, number, caller, reason;
  bool work[SENDERS], rung, worked, left, took;
end:
  do
  :: slice_queue?number,caller ->
     assert(!slice_running);
     slice_running = true;
     start();
     poll();
     do
     :: visit_marked();
        atomic {
          if
          :: worked -> reason = 0
          :: worked && took -> reason = RK_SLICE_BUDGET
          :: !worked -> reason = RK_SLICE_IDLE
          :: worked && caller != NOBODY && (!left || EAGER_LEAVES_WORK) -> reason = RK_SLICE_IDLE
          :: !worked && caller == NOBODY -> reason = 0
#if CALLERS_ASK_TO_YIELD
          :: (!worked || YIELD_WITHOUT_LOOK) && memory[YIELD_SLICE] == number ->
             reason = RK_SLICE_YIELD
#endif
          fi;
          worked = false;
          left = false
        };
        if
        :: reason == 0 -> poll()
        :: else ->
           store(DEVICE, END_REASON, reason);
           store(DEVICE, PARKED_SLICE, number);
#if !NO_FENCE_ON_DEVICE
           fence(DEVICE);
#endif
#if NO_LOOK_AFTER_PARKING
           break
#else
           if
           :: reason == RK_SLICE_BUDGET || (YIELD_WITHOUT_LOOK && reason == RK_SLICE_YIELD) -> break
           :: else ->
              poll();
              if
              :: rung -> store(DEVICE, PARKED_SLICE, number - 1)
              :: else -> break
              fi
           fi
#endif
        fi
     od;
     /* Returning from a slice takes a lock, in a queue as in a thread pool. */
     fence(DEVICE);
     slice_running = false;
     if
     :: caller != NOBODY -> slice_returned[caller]!0
     :: else
     fi;
     reason = 0;
     took = false
  od
}

/* Nothing can happen any more. */
active proctype monitor() {
  byte kernel;
end:
  timeout ->
  do
  :: kernel < SENDERS -> assert(handled[kernel] == MESSAGES); kernel++
  :: else -> break
  od;
  assert(memory[PARKED_SLICE] == launched)
}

ltl handled_some_time { <> (handled_in_all == SENDERS * MESSAGES) }
