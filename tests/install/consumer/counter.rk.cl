#include "counter.rk.h"

RK_ON(Counter, Add) {
  if (!rk_leads(self)) return RK_OK;
  if (Step_by(request) == 0) return rk_fault(self, 1, state->value);
  state->value += Step_by(request);
  reply->value = state->value;
  return RK_OK;
}
