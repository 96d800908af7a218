// The handlers of a limit order book: the best price first, at one price the oldest order. State
// begins as zeros, so entry 0 of `orders` stands for "none", and price 0 for an empty side.
#include "book.rk.h"

RK_FAULT_TEXT(1, "the price is not 1 to 511, or there is no quantity, or no such side")
RK_FAULT_TEXT(2, "no room for another order")
RK_FAULT_TEXT(3, "no such order rests in the book")

typedef RK_GLOBAL BookState* book_at;

/// The best price of a side, from `price` on, at which orders rest; 0: there is none.
RK_FN rk_u16 best_from(book_at book, rk_u32 side, rk_u32 price) {
  const rk_u32 step = side == Side_Buy ? 511u : 1u; /* downwards, modulo 512 */
  while (price != 0) {
    const rk_u16 head = book->levels[price].head;
    if (head != 0 && book->orders[head].side == (Side)side) break;
    price = (price + step) & 511u;
  }
  return (rk_u16)price;
}

/// Takes the order behind `before`, which 0 makes the first one, out of its price's list.
RK_FN void take_out(book_at book, rk_u32 price, rk_u16 before) {
  RK_GLOBAL Level* level = &book->levels[price];
  const rk_u16 taken = before != 0 ? book->orders[before].next : level->head;
  if (before != 0)
    book->orders[before].next = book->orders[taken].next;
  else
    level->head = book->orders[taken].next;
  if (level->tail == taken) level->tail = before;
  book->orders[taken].next = book->free;
  book->free = taken;
}

/// Rests an order behind those of its price. There is room.
RK_FN void rest(book_at book, rk_u64 id, rk_u32 side, rk_u32 price, rk_u32 quantity) {
  RK_GLOBAL Level* level = &book->levels[price];
  const rk_u16 at = book->free != 0 ? book->free : ++book->fresh;
  if (book->free != 0) book->free = book->orders[at].next;
  book->orders[at].id = id;
  book->orders[at].quantity = quantity;
  book->orders[at].side = (Side)side;
  book->orders[at].next = 0;
  if (level->head == 0)
    level->head = at;
  else
    book->orders[level->tail].next = at;
  level->tail = at;
  if (side == Side_Buy && price > book->bid) book->bid = (rk_u16)price;
  if (side == Side_Sell && (book->ask == 0 || price < book->ask)) book->ask = (rk_u16)price;
}

RK_ON(Book, Submit) {
  if (!rk_leads(self)) return RK_OK;
  const rk_u64 id = Order_id(request);
  const rk_u32 limit = Order_price(request), side = (rk_u32)Order_side(request);
  rk_u32 left = Order_quantity(request), count = 0;
  if (limit == 0 || limit > 511 || left == 0 || side > Side_Sell) return rk_fault(self, 1, id);
  if (state->free == 0 && state->fresh == 1023) return rk_fault(self, 2, id);
  RK_LET trades = Report_put_trades(reply, 8);
  rk_u16 price = side == Side_Buy ? state->ask : state->bid;
  while (left != 0 && price != 0 && (side == Side_Buy ? price <= limit : price >= limit)) {
    RK_GLOBAL Resting* maker = &state->orders[state->levels[price].head];
    const rk_u32 quantity = left < maker->quantity ? left : maker->quantity;
    if (count < 8) {
      trades[count].maker = maker->id;
      trades[count].price = price;
      trades[count].quantity = quantity;
      count += 1;
    }
    left -= quantity;
    maker->quantity -= quantity;
    if (maker->quantity == 0) take_out(state, price, 0);
    price = best_from(state, 1u - side, price);
  }
  if (side == Side_Buy)
    state->ask = price;
  else
    state->bid = price;
  if (left != 0) rest(state, id, side, limit, left);
  (void)Report_put_trades(reply, count);
  reply->filled = Order_quantity(request) - left;
  reply->resting = left;
  state->volume += reply->filled;
  return RK_OK;
}

RK_ON(Book, Cancel) {
  if (!rk_leads(self)) return RK_OK;
  const rk_u32 price = Ticket_price(request) & 511u;
  rk_u16 before = 0, at = state->levels[price].head;
  while (at != 0 && state->orders[at].id != Ticket_id(request)) {
    before = at;
    at = state->orders[at].next;
  }
  if (at == 0) return rk_fault(self, 3, Ticket_id(request));
  reply->quantity = state->orders[at].quantity;
  take_out(state, price, before);
  state->bid = best_from(state, Side_Buy, state->bid);
  state->ask = best_from(state, Side_Sell, state->ask);
  return RK_OK;
}
