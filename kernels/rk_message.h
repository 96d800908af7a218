/// The contract between the executor and a program: one message, and the function that handles it.
///
/// A program (kernels/programs/<name>.cl) defines
///
///     static rk_u32 rk_handle(rk_message* message);
///
/// which returns RK_FAULT_NONE or an RK_FAULT_* code. One that can make a state out of that of an
/// earlier version defines RK_MIGRATES, and likewise
///
///     static rk_u32 rk_migrate(rk_message* message);
///
/// which gets the old state as the payload, and no room for a reply.
///
/// One that defines RK_RESUMES may return RK_AGAIN instead: it is called again for the same
/// message, later (rk_turn.h).
///
/// With RK_TEAM all lanes call `rk_handle` together, each with an rk_message of its own; what
/// counts is what the lane that leads returns and leaves in its own. One lane calls `rk_migrate`.
///
/// The executor owns both rings: it has checked that payload and reply lie inside them and has
/// copied the reply's prefix. It trusts nothing else, and neither may the program: all of the
/// payload may come from a hostile sender.
#ifndef RINGKERNEL_RK_MESSAGE_H
#define RINGKERNEL_RK_MESSAGE_H

#include "ringkernel/protocol/fault.h"
#include "rk_turn_state.h"
#include "rk_workspace.h"

#if defined(RK_TEAM)
/// What the lanes of a work-group have in common while they handle a message: local memory, which
/// whoever calls `rk_handle` provides. RK_TEAM is their number, where there are several.
typedef struct rk_team {
  rk_u64 word;      /* written by the lane that leads (rk_broadcast) */
  rk_u32 bit;       /* of any lane (rk_any) */
  rk_f32 parts[64]; /* of a fold (RK_TEAM_SUM) */
} rk_team;
#endif

typedef struct rk_message {
  rk_const_bytes payload; /* 64-byte aligned */
  rk_u32 payload_bytes;
  rk_u32 selector;    /* from the record header, unchecked: what is asked for */
  rk_bytes reply;     /* 64-byte aligned */
  rk_u32 reply_bytes; /* in: room; out: how many of them are the reply */
  rk_u32 malformed;   /* out: not 0 where something of the payload could not be read */
  rk_bytes arena;     /* 64-byte aligned */
  rk_u64 arena_bytes;
  rk_u64 own;         /* where RK_PLACE_OWN begins in the arena */
  rk_u32 bindings;    /* 0: no graph; else 1 more than its table has entries (rk_attrs_graph) */
  rk_bytes workspace; /* RK_WORKSPACE_BYTES for each lane, 64-byte aligned */
#if !defined(RK_STATELESS)
  rk_bytes state;     /* of the ring kernel, 64-byte aligned */
  rk_u32 state_bytes; /* 0: it has none */
  rk_u32 behaviour;   /* which kind of actor the ring kernel is */
#endif
#if defined(RK_RESUMES)
  RK_LOCAL rk_turn* turn; /* the handler may return RK_AGAIN (rk_turn.h); null: it may not */
#endif
  rk_u64 fault_detail; /* out: meaning depends on the fault, see rk_bind.h */
#if defined(RK_TEAM)
  RK_LOCAL rk_team* team;
#endif
} rk_message;

#endif
