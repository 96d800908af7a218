/* Back-pressure of one ring kernel (docs/PROTOCOL.md, "Back-pressure"): where the output ring is
 * full, input stays and the device goes to sleep; the host that releases output space rings it.
 *
 * Device: rk_claim_or_wait and rk_drain (kernels/ring_kernel.cl). Host: a sender, and a receiver
 * that releases, fences, reads `backpressured` and rings; both ring under the send lock. The slice
 * never parks here: parking.pml covers a ring that meets a parked executor.
 *
 * Claims: when nothing can happen any more, every message was answered and every answer consumed
 * (monitor), and that happens some time (ltl answered_some_time).
 */
#ifndef MUTANT
#define MUTANT 0
#endif
#define NO_FENCE_ON_HOST (MUTANT == 1)
#define NO_FENCE_ON_DEVICE (MUTANT == 2)
#define NO_SECOND_LOOK (MUTANT == 3)
#define NOTE_AFTER_SECOND_LOOK (MUTANT == 4)
#define NOTE_READ_BEFORE_RELEASE (MUTANT == 5)
#define RING_WITHOUT_SEND_LOCK (MUTANT == 6)
#define NOTE_CLEARED_WHEN_VISIT_ENDS (MUTANT == 7)
#define SEEN_AFTER_DRAIN (MUTANT == 8)

#ifndef MESSAGES
#define MESSAGES 4
#endif
#ifndef OUTPUT_CAPACITY
#define OUTPUT_CAPACITY 1
#endif

#define SENDER 0
#define RECEIVER 1
#define DEVICE 2
#define THREADS 3

#define INPUT_POSITION 0
#define INPUT_DOORBELL 1
#define OUTPUT_PRODUCER 2
#define OUTPUT_CONSUMER 3
#define OUTPUT_DOORBELL 4
#define BACKPRESSURED 5
#define LOCATIONS 6

#include "tso.pml"

bool send_lock;
byte consumed;

/* Locking and unlocking are locked instructions, hence fences. */
inline lock(me) {
#if RING_WITHOUT_SEND_LOCK
  skip
#else
  atomic { !send_lock && fence(me) -> send_lock = true }
#endif
}

inline unlock(me) {
#if RING_WITHOUT_SEND_LOCK
  skip
#else
  atomic { fence(me) -> send_lock = false }
#endif
}

/* Executor::ring; the send lock is held. Without it, the fence stands for a thread's view of its
 * own last store. */
inline ring(me) {
#if RING_WITHOUT_SEND_LOCK
  fence(me);
#endif
  epoch = memory[INPUT_DOORBELL];
  store(me, INPUT_DOORBELL, epoch + 1);
  epoch = 0
}

active proctype sender() {
  byte sent, epoch;
  do
  :: sent < MESSAGES ->
     lock(SENDER);
     sent++;
     store(SENDER, INPUT_POSITION, sent);
     ring(SENDER);
     unlock(SENDER)
  :: else -> break
  od
}

/* Consumes one record or more of what it sees, then gives their space back. */
active proctype receiver() {
  byte seen, released, epoch;
  bool waits;
end:
  do
  :: memory[OUTPUT_DOORBELL] != seen ->
     seen = memory[OUTPUT_DOORBELL];
     do
     :: consumed < memory[OUTPUT_PRODUCER] -> consumed++
     :: consumed != released ->
#if NOTE_READ_BEFORE_RELEASE
        waits = memory[BACKPRESSURED];
#endif
        released = consumed;
        store(RECEIVER, OUTPUT_CONSUMER, released);
#if !NO_FENCE_ON_HOST
        fence(RECEIVER);
#endif
#if !NOTE_READ_BEFORE_RELEASE
        waits = memory[BACKPRESSURED];
#endif
        if
        :: waits -> lock(RECEIVER); ring(RECEIVER); unlock(RECEIVER)
        :: else
        fi;
        waits = false
     :: consumed == released && consumed >= memory[OUTPUT_PRODUCER] -> break
     od
  od
}

/* rk_output_claim: `has_space`, from the cached position of the consumer or a fresh one. */
inline claim() {
  has_space = (produced - consumer < OUTPUT_CAPACITY);
  if
  :: !has_space ->
     atomic {
       consumer = memory[OUTPUT_CONSUMER];
       has_space = (produced - consumer < OUTPUT_CAPACITY)
     }
  :: else
  fi
}

/* rk_claim_or_wait. */
inline claim_or_wait() {
  claim();
  if
  :: !has_space ->
#if NO_SECOND_LOOK
     store(DEVICE, BACKPRESSURED, 1);
     noted = true
#elif NOTE_AFTER_SECOND_LOOK
     claim();
     store(DEVICE, BACKPRESSURED, 1);
     fence(DEVICE);
     noted = true
#else
     store(DEVICE, BACKPRESSURED, 1);
     noted = true;
#if !NO_FENCE_ON_DEVICE
     fence(DEVICE);
#endif
     claim()
#endif
  :: else
  fi;
  if
  :: has_space && noted -> store(DEVICE, BACKPRESSURED, 0); noted = false
  :: else
  fi
}

active proctype device() {
  byte seen, taken, produced, consumer;
  bool has_space, noted;
end:
  do
  :: memory[INPUT_DOORBELL] != seen ->
#if !SEEN_AFTER_DRAIN
     seen = memory[INPUT_DOORBELL];
#endif
     do
     :: taken < memory[INPUT_POSITION] ->
        claim_or_wait();
        if
        :: !has_space -> break
        :: else
        fi;
        has_space = false;
        produced++;
        store(DEVICE, OUTPUT_PRODUCER, produced);
        store(DEVICE, OUTPUT_DOORBELL, produced);
        taken++
     :: taken >= memory[INPUT_POSITION] -> break
     od;
#if SEEN_AFTER_DRAIN
     seen = memory[INPUT_DOORBELL];
#endif
#if NOTE_CLEARED_WHEN_VISIT_ENDS
     store(DEVICE, BACKPRESSURED, 0);
     noted = false;
#endif
     has_space = false
  od
}

/* Nothing can happen any more. */
active proctype monitor() {
end:
  timeout -> assert(consumed == MESSAGES)
}

ltl answered_some_time { <> (consumed == MESSAGES) }
