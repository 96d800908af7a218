/* A mover and a device with memory of its own whose executor has two work-groups
 * (docs/PROTOCOL.md, "Two memories"). Only copies pass between the two, one after the other, and
 * slices, which the driver says have returned.
 *
 * Mover: Mover::collect, start_batch and absorb (bridge/dma/mover.cpp), KernelMirror::send and ask.
 * Device: rk_slice_park and the loop of rk_run_group (kernels/ring_kernel.cl). Kernel k is
 * work-group k's. The mover's sessions park as slices do (parking.pml): here one goes on while a
 * reply is owed.
 *
 * A work-group that found nothing to do may park, or be kept busy by other kernels until
 * everything is answered: then it leaves only when it is asked to, and does not look again.
 * Its stores are seen at once: the order of parking and looking again is pool.pml's claim.
 * The mover repeats a batch that would see nothing else only so often: more would see the same.
 *
 * Claims: when nothing can happen any more, every reply has come (monitor); every one comes some
 * time (ltl answered_some_time); slices run one at a time, and a bounded number of them does
 * (launch_if_needed).
 */
#ifndef MUTANT
#define MUTANT 0
#endif
#define NOBODY_IS_ASKED (MUTANT == 1)
#define LAUNCHED_FOR_NEW_WORK_ONLY (MUTANT == 2)
#define BELL_BEFORE_POSITION (MUTANT == 3)
#define NO_SWEEP_AT_START (MUTANT == 4)
#define PARKED_IS_RETURNED (MUTANT == 5)

#define GROUPS 2
#ifndef MESSAGES
#define MESSAGES 1
#endif
#define SENT(kernel) MESSAGES
#define LAUNCHES_MAX 8

/* The device's memory. */
#define POSITION(kernel) (kernel)
#define DOORBELL(kernel) (GROUPS + (kernel))
#define ANSWERED(kernel) (2 * GROUPS + (kernel))
#define PARKED_SLICE(group) (3 * GROUPS + (group))
#define YIELD_SLICE (4 * GROUPS)
#define LOCATIONS (4 * GROUPS + 1)
byte memory[LOCATIONS];

#define RK_SLICE_IDLE 1
#define RK_SLICE_YIELD 3
#define RK_SLICE_BUDGET 4
#define BUSY 5 /* with other kernels */
#define REPEATS_MAX 2

byte launched;                               /* number of the slice launched last */
byte returned;                               /* the same, of those that have returned */
chan slice_begins[GROUPS] = [1] of { byte }; /* to each work-group */
chan slice_ends = [GROUPS] of { bit };
byte produced[GROUPS]; /* requests on the host */
byte known[GROUPS];    /* replies on the host */
#define all_known (known[0] == SENT(0) && known[1] == SENT(1))
#define all_answered \
  (memory[ANSWERED(0)] == SENT(0) && memory[ANSWERED(1)] == SENT(1))

active proctype senders() {
  produced[0] = SENT(0);
  produced[1] = SENT(1)
}

/* A batch as the mover made it, and what it brings. */
byte position[GROUPS], bell[GROUPS], leaving; /* to the device */
bool rung[GROUPS], asked[GROUPS], asks_parked[GROUPS];
byte fetched[GROUPS], parked[GROUPS]; /* from it */

/* The copies of one kernel to the device. */
inline copy_requests(kernel) {
#if BELL_BEFORE_POSITION
  memory[DOORBELL(kernel)] = bell[kernel];
  memory[POSITION(kernel)] = position[kernel];
#else
  memory[POSITION(kernel)] = position[kernel];
  memory[DOORBELL(kernel)] = bell[kernel];
#endif
}

/* One after the other. */
inline copy_batch() {
  memory[YIELD_SLICE] = leaving;
  if
  :: rung[0] -> copy_requests(0)
  :: else
  fi;
  if
  :: rung[1] -> copy_requests(1)
  :: else
  fi;
  atomic {
    parked[0] = (asks_parked[0] -> memory[PARKED_SLICE(0)] : 0);
    parked[1] = (asks_parked[1] -> memory[PARKED_SLICE(1)] : 0)
  };
  atomic {
    fetched[0] = (asked[0] -> memory[ANSWERED(0)] : 0);
    fetched[1] = (asked[1] -> memory[ANSWERED(1)] : 0)
  }
}

#if PARKED_IS_RETURNED
#define may_launch (memory[PARKED_SLICE(0)] == launched || memory[PARKED_SLICE(1)] == launched)
#else
#define may_launch (returned == launched)
#endif
#if LAUNCHED_FOR_NEW_WORK_ONLY
#define has_work work_sent
#else
#define has_work (work_sent || known[0] < position[0] || known[1] < position[1])
#endif

inline launch_if_needed() {
  atomic {
    if
    :: has_work && may_launch ->
       assert(returned == launched);
       launched++;
       assert(launched <= LAUNCHES_MAX);
       slice_begins[0]!launched;
       slice_begins[1]!launched;
       work_sent = false
    :: else
    fi
  }
}

/* Mover::collect, for one kernel. */
inline collect(kernel) {
  rung[kernel] = (produced[kernel] > position[kernel]);
  position[kernel] = produced[kernel];
  bell[kernel] = bell[kernel] + rung[kernel];
  work_sent = work_sent || rung[kernel];
  asked[kernel] = (known[kernel] < position[kernel]);
  asks_parked[kernel] = (asked[kernel] && silent[kernel])
}

/* Mover::absorb, for one kernel. */
inline absorb(kernel) {
  news = news || (asked[kernel] && fetched[kernel] != known[kernel]);
  silent[kernel] = (asked[kernel] && fetched[kernel] == known[kernel]);
  known[kernel] = (asked[kernel] -> fetched[kernel] : known[kernel]);
#if !NOBODY_IS_ASKED
  leaving = (asks_parked[kernel] && parked[kernel] == launched &&
             known[kernel] < position[kernel] -> launched : leaving);
#endif
  fetched[kernel] = 0;
  parked[kernel] = 0;
  rung[kernel] = false;
  asked[kernel] = false;
  asks_parked[kernel] = false
}

#define owed (produced[0] > known[0] || produced[1] > known[1])
/* What a batch could see that the one before did not. */
#define differs                                                                          \
  (produced[0] != position[0] || produced[1] != position[1] ||                           \
   memory[ANSWERED(0)] != known[0] || memory[ANSWERED(1)] != known[1] ||                 \
   memory[PARKED_SLICE(0)] != looked[0] || memory[PARKED_SLICE(1)] != looked[1] ||       \
   returned != looked[2])

active proctype mover() {
  bool work_sent, news, silent[GROUPS];
  byte repeats, looked[3];
end:
  do
  :: owed && (repeats < REPEATS_MAX || differs) ->
     atomic {
       repeats = (differs -> 0 : repeats + 1);
       looked[0] = memory[PARKED_SLICE(0)];
       looked[1] = memory[PARKED_SLICE(1)];
       looked[2] = returned;
       collect(0);
       collect(1)
     };
     /* Beside the copies: before the first, or behind the last. */
     if
     :: launch_if_needed(); copy_batch()
     :: copy_batch(); launch_if_needed()
     fi;
     atomic {
       absorb(0);
       absorb(1);
       repeats = (news -> 0 : repeats);
       news = false
     }
  od
}

/* Says that a slice has returned when both work-groups have. */
active proctype driver() {
end:
  do
  :: slice_ends?_ ->
     slice_ends?_;
     returned = launched
  od
}

/* rk_slice_poll. */
inline poll() {
  atomic {
    bell_rung = false;
    if
    :: memory[DOORBELL(me)] != seen ->
       seen = memory[DOORBELL(me)];
       work = true;
       bell_rung = true
    :: else
    fi
  }
}

/* rk_slice_work, one message of the kernel if it is marked; it stays marked if there are more. */
inline visit_marked() {
  worked = work;
  if
  :: work && count < memory[POSITION(me)] ->
     count++;
     memory[ANSWERED(me)] = count
  :: else -> work = false
  fi
}

active [GROUPS] proctype group() {
  byte seen, number, reason, count;
  bool work, bell_rung, worked;
  byte me = _pid - 3;
end:
  do
  :: slice_begins[me]?number ->
     atomic {
       work = false;
#if NO_SWEEP_AT_START
       seen = memory[DOORBELL(me)];
#else
       seen = 0
#endif
     };
     poll();
     do
     :: atomic {
          visit_marked();
          if
          :: memory[YIELD_SLICE] == number && worked -> reason = RK_SLICE_BUDGET
          :: memory[YIELD_SLICE] == number && !worked -> reason = RK_SLICE_YIELD
          :: memory[YIELD_SLICE] != number && worked -> reason = 0
          :: memory[YIELD_SLICE] != number && !worked -> reason = RK_SLICE_IDLE
          :: memory[YIELD_SLICE] != number && !worked -> reason = BUSY
          fi;
          worked = false
        };
        if
        :: reason == 0 -> poll()
        :: reason == BUSY ->
           atomic {
             if
             :: memory[YIELD_SLICE] == number -> reason = RK_SLICE_BUDGET
             :: memory[DOORBELL(me)] != seen -> reason = 0; poll()
             :: all_answered -> reason = RK_SLICE_IDLE
             fi
           }
        :: else
        fi;
        if
        :: reason == 0
        :: else ->
           memory[PARKED_SLICE(me)] = number;
           if
           :: reason == RK_SLICE_BUDGET -> break
           :: else ->
              atomic {
                poll();
                if
                :: bell_rung -> memory[PARKED_SLICE(me)] = number - 1; bell_rung = false; reason = 0
                :: else -> break
                fi
              }
           fi
        fi
     od;
     atomic {
       slice_ends!0;
       number = 0;
       reason = 0;
       seen = 0;
       bell_rung = false;
       work = false
     }
  od
}

/* Nothing can happen any more. */
active proctype monitor() {
end:
  timeout ->
  assert(all_known)
}

ltl answered_some_time { <> all_known }
