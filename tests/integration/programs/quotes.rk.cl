// What literals do not like: )rk_source" and \" and '"' and \x41 é $x ${x} @x@ [;[;] and lines that
// end in a backslash \
   #error this is still the comment
#if defined(__cplusplus)
#include <limits.h>
rk_u32 most_of(const char* text);  // each build has its own
rk_u32 most_of(const char* text) { return text[0] == ')' ? UINT_MAX : 0; }
#endif
#include "quotes.h"
RK_ON_BYTES {
  const char text[] = QUOTES;
  const rk_u32 length = sizeof text - 1;
  (void)state;
  for (rk_u32 i = 0; i < length; ++i) rk_reply_bytes(self)[i] = (rk_u8)text[i];
  rk_reply_length(self, length);
  return RK_OK;
}
