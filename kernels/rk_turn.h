/// Turns: a long op does not keep the executor's other ring kernels waiting.
///
/// An op works in steps. Before each of them it asks whether its turn is over; if so it notes how
/// far it has come and returns RK_AGAIN. The executor leaves the message where it is, serves its
/// other kernels, and calls the handler again for the same message. What is computed so far lies
/// where the result will be. What an op packed in the workspace is packed again if another op has
/// been there meanwhile.
///
/// A program whose handler may return RK_AGAIN defines RK_RESUMES. Others run each message to its
/// end.
#ifndef RINGKERNEL_RK_TURN_H
#define RINGKERNEL_RK_TURN_H

#include "ringkernel/protocol/fault.h"
#include "rk_device.h"
#include "rk_turn_state.h"

/// No fault: the message is not answered yet.
#define RK_AGAIN 0xffffffffu

#if defined(RK_RESUMES)
#define RK_HAS_TURNS 1
#else
#define RK_HAS_TURNS 0
#endif

/// Multiply-adds between two looks at the clock: 10 to 100 us of a CPU.
#define RK_TURN_LOOK ((rk_u64)1 << 20)
/// Those of a whole turn where there is no clock.
#define RK_TURN_WORK ((rk_u64)1 << 20)
/// What an element costs that an op moves or computes alone, in multiply-adds of a product.
#define RK_TURN_ELEMENT ((rk_u64)16)

RK_INLINE void rk_turn_begin(RK_LOCAL rk_turn* turn, rk_u32 kernel, rk_u32 length_ns) {
  turn->work = 0;
  turn->look = RK_TURN_LOOK;
  turn->began_ns = 0;
  turn->length_ns = length_ns;
  turn->kernel = kernel;
}

/// Takes a look at the clock, if the work since the last one is worth it. RK_FAULT_NONE: the op
/// goes on; RK_AGAIN; RK_FAULT_deadline_passed.
RK_NOINLINE rk_u32 rk_turn_look(RK_LOCAL rk_turn* turn) {
  if (turn->length_ns == 0) return RK_FAULT_NONE;
  const rk_u32 is_over = turn->length_ns == 1;
  if (!is_over && turn->work < turn->look) return RK_FAULT_NONE;
  turn->look = turn->work + RK_TURN_LOOK;
  const rk_u64 now_ns = rk_clock_ns();
  if (now_ns == 0) {
    if (is_over || turn->work >= RK_TURN_WORK) return RK_AGAIN;
    return RK_FAULT_NONE;
  }
  if (turn->began_ns == 0) turn->began_ns = now_ns;
  if (turn->timeout_ns != 0) {
    const rk_u64 deadline_ns = now_ns + turn->timeout_ns;
    if (turn->deadline_ns == 0 || deadline_ns < turn->deadline_ns) turn->deadline_ns = deadline_ns;
    turn->timeout_ns = 0;
  }
  if (turn->deadline_ns != 0 && now_ns >= turn->deadline_ns) return RK_FAULT_deadline_passed;
  if (is_over || now_ns - turn->began_ns >= turn->length_ns) return RK_AGAIN;
  return RK_FAULT_NONE;
}

/// Whether step `step` of the command in hand is to be done in this turn. Everything before it is
/// done. There is no turn (null) where several lanes share an op.
RK_INLINE rk_u32 rk_turn_next(RK_LOCAL rk_turn* turn, rk_u64 step) {
  // Nothing was done in this visit: each visit does at least one step.
  if (!RK_HAS_TURNS || turn == 0 || turn->work == 0) return RK_FAULT_NONE;
  if (turn->length_ns != 1 && turn->work < turn->look) return RK_FAULT_NONE;
  const rk_u32 verdict = rk_turn_look(turn);
  if (verdict == RK_AGAIN) turn->step = step;
  return verdict;
}

/// The step with which the command in hand goes on; 0: it begins.
RK_INLINE rk_u64 rk_turn_first(RK_LOCAL const rk_turn* turn) {
  return RK_HAS_TURNS && turn != 0 ? turn->step : 0;
}

RK_INLINE void rk_turn_work(RK_LOCAL rk_turn* turn, rk_u64 work) {
  if (RK_HAS_TURNS && turn != 0) turn->work += work;
}

/// Whether the workspace still has what the op in hand packed in its last turn. Whoever packs says
/// so first, with 0; an op that is left says so last, with 1.
RK_INLINE rk_u32 rk_turn_has_packed(RK_LOCAL const rk_turn* turn) {
  return RK_HAS_TURNS && turn != 0 && turn->packed == turn->kernel + 1u;
}
RK_INLINE void rk_turn_set_packed(RK_LOCAL rk_turn* turn, rk_u32 packed) {
  if (RK_HAS_TURNS && turn != 0) turn->packed = packed != 0 ? turn->kernel + 1u : 0;
}

#endif
