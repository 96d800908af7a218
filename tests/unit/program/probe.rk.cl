#include "sensor.rk.h"

/// Writes all that a report can hold, as far as the request gives it.
static void write_report(const ReadingView* request, RK_GLOBAL ReportOut* reply) {
  const rk_text name = Reading_name(request);
  const rk_f64_span samples = Reading_samples(request);
  const FrameSpan frames = Reading_frames(request);
  RK_GLOBAL const Place* const at = Reading_at(request);
  RK_LET text = Report_put_text(reply, name.count);
  for (rk_u32 i = 0; i < reply->rk_count_text; ++i) text[i] = name.at[i];
  if (at) *Report_put_last(reply) = *at;
  if (at) reply->first.x = at->y;
  if (Reading_has_alarm(request)) Report_set_ok(reply, !Reading_alarm(request));
  reply->worst = Reading_quality(request);
  if (samples.count) {
    RK_LET peaks = Report_put_peaks(reply, samples.count);
    for (rk_u32 i = 0; i < samples.count && i < 3; ++i) peaks[i] = samples.at[i];
    reply->mean = samples.at[0];
  }
  if (frames.count) Report_put_frames(reply, 1)[0].half_ = frames.at[0].half_;
  if (Reading_open(request) > 0) Report_put_marks(reply, 2)[1] = Reading_flags(request);
}

RK_ON(Sensor, Take) {
  if (!rk_leads(self)) return RK_OK;
  write_report(request, reply);
  return RK_OK;
}

RK_ON(Sensor, Ping) { return RK_OK; }

RK_ON(Log, Take) {
  if (!rk_leads(self)) return RK_OK;
  ReadingView previous;
  if (!Reading_previous(request, &previous)) return rk_fault(self, 7, state->taken);
  state->taken += 1;
  write_report(&previous, reply);
  return RK_OK;
}
