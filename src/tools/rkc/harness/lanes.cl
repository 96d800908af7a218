// Ends the text that `rkc check` builds for a device: one message, handled by all lanes of one
// work-group; or a migration, with one lane. `out` has the outcome, the fault's detail, and the
// bytes of the reply.
__kernel void rk_check(rk_const_bytes payload, uint payload_bytes, uint selector, rk_bytes reply,
                       uint reply_bytes, rk_bytes state, uint state_bytes, uint behaviour,
                       uint is_migration, __global ulong* out) {
#if defined(RK_TEAM)
  __local rk_team team;
#endif
  rk_message message;
  message.payload = payload;
  message.payload_bytes = payload_bytes;
  message.selector = selector;
  message.reply = reply;
  message.reply_bytes = reply_bytes;
  message.malformed = 0;
  message.arena = state;
  message.arena_bytes = 0;
  message.workspace = state;
  message.state = state;
  message.state_bytes = state_bytes;
  message.behaviour = behaviour;
  message.fault_detail = 0;
#if defined(RK_TEAM)
  message.team = &team;
#endif
#if defined(RK_MIGRATES)
  const uint outcome = is_migration != 0 ? rk_migrate(&message) : rk_handle(&message);
#else
  (void)is_migration;
  const uint outcome = rk_handle(&message);
#endif
  if (get_local_id(0) != 0) return;
  out[0] = outcome;
  out[1] = message.fault_detail;
  out[2] = message.reply_bytes;
}
