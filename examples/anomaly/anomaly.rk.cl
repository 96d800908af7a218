// The handlers of a detector. State begins as zeros: a sensor without readings.
#include "anomaly.rk.h"

#define SENSORS 1000u
#define WEIGHT 0.02f        /* of a new reading in the averages */
#define WARM_UP 50u         /* readings before a sensor can raise an alarm */
#define SQUARED_LIMIT 36.0f /* six standard deviations */

RK_ON(Detector, Watch) {
  if (!rk_leads(self)) return RK_OK;
  const rk_u32 first = Readings_first(request);
  RK_LET values = Readings_values(request);
  if (first > SENSORS || values.count > SENSORS - first)
    return rk_fault(self, 1, (rk_u64)first + values.count);
  RK_LET alarms = Alarms_put_alarms(reply, 32);
  rk_u32 count = 0;
  for (rk_u32 i = 0; i < values.count; ++i) {
    RK_GLOBAL Sensor* sensor = &state->sensors[first + i];
    const rk_f32 off = values.at[i] - sensor->mean, squared = off * off;
    if (sensor->readings >= WARM_UP && squared > SQUARED_LIMIT * sensor->variance) {
      if (count < 32) {
        alarms[count].sensor = first + i;
        alarms[count].value = values.at[i];
        alarms[count].squared_score = squared / sensor->variance;
      }
      count += 1;
      continue; /* what is not usual does not become usual */
    }
    if (sensor->readings == 0) {
      sensor->mean = values.at[i];
    } else {
      sensor->mean += WEIGHT * off;
      sensor->variance = (1.0f - WEIGHT) * (sensor->variance + WEIGHT * squared);
    }
    sensor->readings += 1;
  }
  (void)Alarms_put_alarms(reply, count < 32 ? count : 32);
  reply->count = count;
  state->alarms += count;
  return RK_OK;
}
