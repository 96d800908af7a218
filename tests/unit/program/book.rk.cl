#include "trading.rk.h"

RK_ON(Book, Submit) {
  if (!rk_leads(self)) return RK_OK;
  if (Order_qty(request) == 0) return rk_fault(self, 1, Order_id(request));
  const LegSpan legs = Order_legs(request);
  rk_f32 sum = 0;
  for (rk_u32 i = 0; i < legs.count; ++i) sum += legs.at[i].price;
  state->orders += 1;
  state->exposure += sum * Order_price(request);
  reply->orders = state->orders;
  reply->exposure = state->exposure;
  if (legs.count) Ack_put_best(reply, 1)[0] = legs.at[0];
  return RK_OK;
}
