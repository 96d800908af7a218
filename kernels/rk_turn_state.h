/// What a turn (rk_turn.h) is made of: data only, for the handler's message and the executor.
#ifndef RINGKERNEL_RK_TURN_STATE_H
#define RINGKERNEL_RK_TURN_STATE_H

#include "ringkernel/protocol/abi.h"

/// The turn of the ring kernel that is visited, and how far its message has come.
typedef struct rk_turn {
  rk_u64 work;        /* in this visit, about: multiply-adds */
  rk_u64 look;        /* how much of it there is at the next look at the clock */
  rk_u64 began_ns;    /* at the first look; 0: there was none */
  rk_u64 deadline_ns; /* of the message; 0: none */
  rk_u64 timeout_ns;  /* likewise, from the first look on; 0: none, or it has become a deadline */
  rk_u64 step;        /* of the command: done in earlier turns */
  rk_u32 command;     /* of a graph: the one that is due */
  rk_u32 length_ns;   /* of a turn; 0: for ever, 1: one step */
  rk_u32 kernel;      /* whose turn it is */
  rk_u32 packed;      /* kernel + 1 of the unfinished op whose operands the workspace holds; or 0 */
} rk_turn;

#endif
