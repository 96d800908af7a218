#include "shop.rk.h"

RK_FAULT_TEXT(1, "a purchase without lines")

RK_ON(Till, Buy) {
  if (!rk_leads(self)) return RK_OK;
  const LineSpan lines = Purchase_lines(request);
  rk_f32 total = 0;
  if (lines.count == 0) return rk_fault(self, 1, Purchase_id(request));
  for (rk_u32 i = 0; i < lines.count; ++i)
    total += lines.at[i].price * (rk_f32)lines.at[i].quantity;
  state->purchases += 1;
  state->total += total;
  if (Purchase_coupon(request).count != 0) state->coupons += 1;
  reply->id = Purchase_id(request);
  reply->purchases = state->purchases;
  reply->total = total;
  const rk_u32 kept = lines.count < 4 ? lines.count : 4;
  RK_LET copies = Receipt_put_lines(reply, kept);
  for (rk_u32 i = 0; i < kept; ++i) copies[i] = lines.at[i];
  return RK_OK;
}

RK_ON(Till, Total) {
  if (!rk_leads(self)) return RK_OK;
  reply->purchases = state->purchases;
  reply->total = state->total;
  reply->coupons = state->coupons;
  return RK_OK;
}

RK_ON(Shelf, Put) {
  if (!rk_leads(self)) return RK_OK;
  state->count += Item_count(request);
  reply->count = state->count;
  return RK_OK;
}
