// Writes a byte where its message says, into its reply, of 20 bytes, or its state, of 12, or
// beyond: two indices, at which nothing is written if they are out of all bounds.
RK_ON_BYTES {
  RK_GLOBAL const rk_i32* at = (RK_GLOBAL const rk_i32*)rk_request_bytes(self);
  if (rk_request_length(self) != 8) return rk_fault(self, 1, 0);
  if (at[0] > -300 && at[0] < 200) rk_reply_bytes(self)[at[0]] = 0x77;
  if (at[1] > -100 && at[1] < 200) state[at[1]] = 0x77;
  return RK_OK;
}
