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
/// The executor owns both rings: it has checked that payload and reply lie inside them and has
/// copied the reply's prefix. It trusts nothing else, and neither may the program: all of the
/// payload may come from a hostile sender.
#ifndef RINGKERNEL_RK_MESSAGE_H
#define RINGKERNEL_RK_MESSAGE_H

#include "ringkernel/protocol/fault.h"
#include "rk_workspace.h"

typedef struct rk_message {
  rk_const_bytes payload; /* 64-byte aligned */
  rk_u32 payload_bytes;
  rk_u32 selector;    /* from the record header, unchecked: what is asked for */
  rk_bytes reply;     /* 64-byte aligned */
  rk_u32 reply_bytes; /* in: room; out: how many of them are the reply */
  rk_u32 malformed;   /* out: not 0 where something of the payload could not be read */
  rk_bytes arena;     /* 64-byte aligned */
  rk_u64 arena_bytes;
  rk_bytes workspace; /* RK_WORKSPACE_BYTES for each lane, 64-byte aligned */
#if !defined(RK_STATELESS)
  rk_bytes state;     /* of the ring kernel, 64-byte aligned */
  rk_u32 state_bytes; /* 0: it has none */
  rk_u32 behaviour;   /* which kind of actor the ring kernel is */
#endif
  rk_u64 fault_detail; /* out: meaning depends on the fault, see rk_bind.h */
} rk_message;

#endif
