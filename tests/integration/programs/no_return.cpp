// Compiled as ringkernel_add_program does it, in a project whose warnings are errors: the warning
// is none, and the missing `return` is one.
#include "rk_actor.h"

RK_ON_BYTES {
  int unused_here = 0;
  if (rk_request_length(self) == 1) return RK_OK;
}

RK_INLINE rk_u32 rk_handle(rk_message* message) { return rk_on_bytes(message, message->state); }

#include "rk_hosted.h"
