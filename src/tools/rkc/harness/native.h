/// Ends the text of a program that `rkc check` compiles with sanitizers: one message, for main.h,
/// which is compiled by itself. A handler may use the names of the standard library. `out` has the
/// fault's detail, and the bytes of the reply.
#ifndef RINGKERNEL_RKC_NATIVE_H
#define RINGKERNEL_RKC_NATIVE_H

extern "C" rk_u32 rk_check_handle(rk_u8* payload, rk_u32 payload_bytes, rk_u32 selector,
                                  rk_u8* reply, rk_u32 reply_bytes, rk_u8* state,
                                  rk_u32 state_bytes, rk_u32 behaviour, rk_u32 is_migration,
                                  rk_u64* out) {
  rk_message message = {};
  message.payload = payload;
  message.payload_bytes = payload_bytes;
  message.selector = selector;
  message.reply = reply;
  message.reply_bytes = reply_bytes;
  message.state = state;
  message.state_bytes = state_bytes;
  message.behaviour = behaviour;
#if defined(RK_MIGRATES)
  const rk_u32 outcome = is_migration != 0 ? rk_migrate(&message) : rk_handle(&message);
#else
  (void)is_migration;
  const rk_u32 outcome = rk_handle(&message);
#endif
  out[0] = message.fault_detail;
  out[1] = message.reply_bytes;
  return outcome;
}

#endif
