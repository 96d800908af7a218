/// Requests as a host builds them.
#pragma once

#include <vector>

#include "trading_generated.h"
#include "unit/program/readings.hpp"

namespace ringkernel::program::test {

inline Bytes make_order(Mutator& random) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<trading::Leg> legs;
  for (std::uint32_t i = random.below(6); i != 0; --i)
    legs.emplace_back(0.5f * static_cast<float>(i), random.below(100));
  const auto vector = builder.CreateVectorOfStructs(legs);
  trading::OrderBuilder order(builder);
  order.add_id(random.below(1000));
  order.add_price(12.5f);
  order.add_qty(random.below(4));
  order.add_side(trading::Side::Sell);
  if (random.below(3) != 0) order.add_legs(vector);
  if (random.below(2) != 0) order.add_limit(99.5f);
  builder.Finish(order.Finish());
  return bytes_of(builder);
}

}  // namespace ringkernel::program::test
