/* Parking and waking where an executor has two work-groups (docs/PROTOCOL.md, "Several
 * work-groups"). Each parks by itself, as in parking.pml; a sender looks at the line of the
 * work-group that it rang. But a slice is launched for both, and begins when both have returned
 * from the one before: who launches it asks that one to leave.
 *
 * Host: Executor::ring and Executor::wake (bridge/executor/executor.cpp). Device: rk_slice_park and
 * the loop of rk_run_group (kernels/ring_kernel.cl). Sender s owns ring kernel s, which is
 * work-group s's.
 * What rings and positions mean to each other is checked in parking.pml: here a doorbell counts the
 * messages.
 *
 * A work-group that found nothing to do may park, or be kept busy by other kernels for as long as
 * messages are not handled: then it leaves when it is asked to, and does not look again.
 *
 * Claims: when nothing can happen any more, every message was handled and each sender would launch
 * (monitor); every message is handled some time (ltl handled_some_time); at most one slice waits
 * behind the running one (start_slice).
 */
#ifndef MUTANT
#define MUTANT 0
#endif
#define NO_FENCE_ON_HOST (MUTANT == 1)
#define NO_FENCE_ON_DEVICE (MUTANT == 2)
#define NO_LOOK_AFTER_PARKING (MUTANT == 3)
#define LAUNCH_WITHOUT_CAS (MUTANT == 4)
#define NO_SWEEP_AT_START (MUTANT == 5)
#define NOBODY_IS_ASKED (MUTANT == 6)
#define ASKED_BEHIND_THE_LAUNCH (MUTANT == 7)
#define ONE_LINE_FOR_ALL (MUTANT == 8)
#define LEAVES_UNASKED (MUTANT == 9)
#define NEXT_SLICE_IS_ASKED (MUTANT == 10)

#define GROUPS 2
#ifndef MESSAGES
#define MESSAGES 2
#endif
#define SENT(kernel) (MESSAGES - (kernel)) /* by sender 1 one less */

#define GROUP(group) (GROUPS + (group))
#define THREADS (2 * GROUPS)

#define INPUT_DOORBELL(kernel) (kernel)
#define PARKED_SLICE(group) (GROUPS + (group))
#define YIELD_SLICE (2 * GROUPS)
#define LOCATIONS (2 * GROUPS + 1)

#include "tso.pml"

#define RK_SLICE_IDLE 1
#define RK_SLICE_YIELD 3
#define RK_SLICE_BUDGET 4

byte launched;                               /* number of the slice launched last */
chan slice_queue = [2] of { byte };          /* those that have not begun */
chan slice_begins[GROUPS] = [1] of { byte }; /* to each work-group */
chan slice_ends = [GROUPS] of { bit };
byte handled[GROUPS]; /* messages of each kernel */
#define all_handled (handled[0] == SENT(0) && handled[1] == SENT(1))

inline ask_to_leave(me, number) {
#if NEXT_SLICE_IS_ASKED
  store(me, YIELD_SLICE, number + 1)
#elif NOBODY_IS_ASKED
  skip
#else
  store(me, YIELD_SLICE, number)
#endif
}

/* Executor::start_slice. A launch takes a lock. */
inline start_slice(me, number) {
#if !ASKED_BEHIND_THE_LAUNCH
  ask_to_leave(me, number - 1);
#endif
  atomic {
    fence(me) ->
    assert(len(slice_queue) == 0);
    slice_queue!number
  }
#if ASKED_BEHIND_THE_LAUNCH
  ask_to_leave(me, number - 1)
#endif
}

/* Executor::wake. */
inline wake(me) {
#if !NO_FENCE_ON_HOST
  fence(me);
#endif
#if ONE_LINE_FOR_ALL
  parked = memory[PARKED_SLICE(0)];
#else
  parked = memory[PARKED_SLICE(me)];
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
     :: won -> start_slice(me, expected + 1)
     :: else
     fi;
     won = false
  :: else
  fi;
  parked = 0;
  expected = 0
}

active [GROUPS] proctype sender() {
  byte message, parked, expected;
  bool won;
  byte me = _pid - THREADS;
  do
  :: message < SENT(me) ->
     message++;
     store(me, INPUT_DOORBELL(me), message);
     wake(me)
  :: else -> break
  od
}

/* The in-order queue: a slice begins when the one before has returned, which is when all of its
 * work-groups have. */
active proctype driver() {
  byte number;
end:
  do
  :: slice_queue?number ->
     slice_begins[0]!number;
     slice_begins[1]!number;
     slice_ends?_;
     slice_ends?_;
     number = 0
  od
}

/* rk_slice_poll. */
inline poll() {
  atomic {
    rung = false;
    if
    :: memory[INPUT_DOORBELL(me)] != seen ->
       seen = memory[INPUT_DOORBELL(me)];
       work = true;
       rung = true
    :: else
    fi
  }
}

/* rk_slice_work, one message of the kernel if it is marked; it stays marked if there are more. */
inline visit_marked() {
  atomic {
    worked = work;
    if
    :: work && handled[me] < memory[INPUT_DOORBELL(me)] -> handled[me]++
    :: else -> work = false
    fi
  }
}

active [GROUPS] proctype group() {
  byte seen, number, reason;
  bool work, rung, worked;
  byte me = _pid - THREADS - GROUPS - 1;
end:
  do
  :: slice_begins[me]?number ->
     atomic {
       work = false;
#if NO_SWEEP_AT_START
       seen = memory[INPUT_DOORBELL(me)];
#else
       seen = 0
#endif
     };
     poll();
     do
     :: visit_marked();
        /* rk_slice_verdict, and how it may come to be kept busy. */
        if
        :: memory[YIELD_SLICE] == number && worked -> reason = RK_SLICE_BUDGET
        :: memory[YIELD_SLICE] == number && !worked -> reason = RK_SLICE_YIELD
        :: memory[YIELD_SLICE] != number && worked -> reason = LEAVES_UNASKED * RK_SLICE_BUDGET
        :: memory[YIELD_SLICE] != number && !worked -> reason = RK_SLICE_IDLE
        :: memory[YIELD_SLICE] != number && !worked ->
           if
           :: memory[YIELD_SLICE] == number -> reason = RK_SLICE_BUDGET
           :: memory[INPUT_DOORBELL(me)] != seen -> reason = 0
           :: all_handled -> reason = RK_SLICE_IDLE
           fi
        fi;
        worked = false;
        if
        :: reason == 0 -> poll()
        :: else ->
           store(GROUP(me), PARKED_SLICE(me), number);
#if !NO_FENCE_ON_DEVICE
           fence(GROUP(me));
#endif
#if NO_LOOK_AFTER_PARKING
           break
#else
           if
           :: reason == RK_SLICE_BUDGET -> break
           :: else ->
              poll();
              if
              :: rung -> store(GROUP(me), PARKED_SLICE(me), number - 1)
              :: else -> break
              fi
           fi
#endif
        fi
     od;
     /* Returning from a slice takes a lock, in a queue as in a thread pool. */
     fence(GROUP(me));
     slice_ends!0;
     number = 0;
     reason = 0;
     seen = 0;
     rung = false;
     work = false
  od
}

/* Nothing can happen any more. */
active proctype monitor() {
end:
  timeout ->
  assert(all_handled);
  assert(memory[PARKED_SLICE(0)] == launched && memory[PARKED_SLICE(1)] == launched)
}

ltl handled_some_time { <> all_handled }
