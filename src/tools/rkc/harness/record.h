/// What `rkc check` and the processes that it starts tell each other, in files: a message with its
/// payload and, where given, the state that it finds; and what became of it, with all of the room
/// for a reply, and the state that it leaves. Each part is padded to 8 bytes.
///
/// Plain C: it is compiled into rkc, and into the text that the system's compiler gets.
#ifndef RINGKERNEL_RKC_RECORD_H
#define RINGKERNEL_RKC_RECORD_H

#include <stdint.h>

struct rk_check_message {
  uint32_t actor; /* messages of one share a state, all zero before the first */
  uint32_t behaviour;
  uint32_t selector; /* 0 of a migration */
  uint32_t payload_bytes;
  uint32_t reply_bytes;
  uint32_t state_bytes;
  uint32_t has_state;    /* 1: the state follows the payload */
  uint32_t is_migration; /* 1: the payload is an old state, of which `state` is to be made */
};

struct rk_check_result {
  uint64_t fault_detail;
  uint32_t outcome;     /* RK_OK or RK_FAULT_* */
  uint32_t reply_bytes; /* as the handler leaves it */
};

/* Before a message, a line of this and its number goes to the log. */
#define RK_CHECK_MARK "@rkc message "

#endif
