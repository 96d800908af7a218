#include "readings.h"
#include "sensor.rk.h"

/// Answers with all that it has read: of this message, and of all so far. The second tells of
/// messages that turned out to be malformed, too, which get no reply.
RK_ON(Log, Take) {
  if (!rk_leads(self)) return RK_OK;
  rk_u64 sum = 0;
  rk_u64 all = state->taken;
  fold_reading(&sum, request);
  fold(&all, sum);
  state->taken = all;
  RK_LET marks = Report_put_marks(reply, 2);
  marks[0] = sum;
  marks[1] = all;
  return RK_OK;
}

RK_ON(Sensor, Take) { return RK_OK; }
RK_ON(Sensor, Ping) { return RK_OK; }
