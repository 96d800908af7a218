/// The program `echo`: replies with the payload's bytes. It measures the way, and needs no command.
#include "rk_device.h"
#include "rk_message.h"

RK_INLINE rk_u32 rk_handle(rk_message* message) {
  const rk_u32 bytes = message->payload_bytes;
  if (message->reply_bytes != bytes) {
    message->fault_detail = bytes;
    return RK_FAULT_reply_too_small;
  }
  rk_copy_bytes(message->reply, message->payload, bytes);
  return RK_FAULT_NONE;
}

#include "ring_kernel.cl"
