// What the device reads of a request, intact or not, is what flatc's accessors read of it.
#include <gtest/gtest.h>

#include "readings.h"
#include "sensor.rk.h"
#include "support/stress.hpp"
#include "trading.rk.h"
#include "unit/program/device_message.hpp"
#include "unit/program/samples.hpp"

namespace ringkernel::program::test {
namespace {

const int mutants = static_cast<int>(ringkernel::test::scaled(60'000, 5'000));  // of each schema

void see(Seen& seen, const OrderView* order) {
  seen.add(Order_id(order));
  seen.add(Order_price(order));
  seen.add(Order_qty(order));
  seen.add(Order_side(order));
  const LegSpan legs = Order_legs(order);
  for (rk_u32 i = 0; i < legs.count; ++i) {
    seen.add(legs.at[i].price);
    seen.add(legs.at[i].qty);
  }
  seen.add(Order_has_limit(order) != 0);
  seen.add(Order_limit(order));
}

void see(Seen& seen, const trading::Order* order) {
  seen.add(order->id());
  seen.add(order->price());
  seen.add(order->qty());
  seen.add(order->side());
  if (order->legs() != nullptr)
    for (const trading::Leg* leg : *order->legs()) {
      seen.add(leg->price());
      seen.add(leg->qty());
    }
  seen.add(order->limit().has_value());
  seen.add(order->limit().value_or(0));
}

void see(Seen& seen, const ReadingView* reading) { fold_reading(&seen.sum, reading); }

using test::is_odd;
bool is_odd(const trading::Order*) { return false; }

struct Counts {
  int accepted = 0;
  int odd = 0;
};

/// Reads the buffer on both sides.
template <class Table, class View>
void compare(const Bytes& bytes, Counts& counts) {
  DeviceMessage message(bytes, 0, 0, 0, 0);
  View view;
  Seen device;
  if (rk_flat_open(&message.message, &view.flat)) see(device, &view);
  flatbuffers::Verifier verifier(message.request.data(), bytes.size());
  if (!verifier.VerifyBuffer<Table>(nullptr)) return;
  const auto* const table = flatbuffers::GetRoot<Table>(message.request.data());
  ++counts.accepted;
  if (message.message.malformed != 0) {
    EXPECT_TRUE(is_odd(table));
    ++counts.odd;
    return;
  }
  Seen host;
  see(host, table);
  EXPECT_TRUE(device == host);
}

TEST(FlatReader, ReadsOrdersAsFlatcDoes) {
  Mutator random(2);
  Counts counts;
  for (int i = 0; i < mutants && !HasFailure(); ++i) {
    const Bytes order = make_order(random);
    if (i % 8 == 0) compare<trading::Order, OrderView>(order, counts);
    compare<trading::Order, OrderView>(random.mutate(order), counts);
  }
  EXPECT_GT(counts.accepted, mutants / 4);
  EXPECT_EQ(counts.odd, 0);
}

TEST(FlatReader, ReadsReadingsAsFlatcDoes) {
  Mutator random(3);
  Counts counts;
  for (int i = 0; i < mutants && !HasFailure(); ++i) {
    const Bytes reading = make_reading(random);
    if (i % 8 == 0) compare<plant::Reading, ReadingView>(reading, counts);
    compare<plant::Reading, ReadingView>(random.mutate(reading), counts);
  }
  EXPECT_GT(counts.accepted, mutants / 4);
  EXPECT_LT(counts.odd, mutants / 100);
}

TEST(FlatReader, ReadsNothingOfWhatDidNotOpen) {
  for (std::size_t bytes = 0; bytes < 12; ++bytes) {
    DeviceMessage message(Bytes(bytes), 0, 0, 0, 0);
    ReadingView view;
    EXPECT_EQ(rk_flat_open(&message.message, &view.flat), 0u);
    EXPECT_EQ(message.message.malformed, 1u);
    EXPECT_EQ(Reading_value(&view), 0.5);
    EXPECT_EQ(Reading_quality(&view), Quality_Bad);
    EXPECT_EQ(Reading_frames(&view).count, 0u);
    EXPECT_EQ(Reading_frame(&view), nullptr);
  }
}

// A device may trap on what this processor reads.
TEST(FlatReader, RefusesATableThatIsMisaligned) {
  Mutator random(7);
  Bytes bytes = make_order(random);
  const auto root = flatbuffers::ReadScalar<std::uint32_t>(bytes.data());
  bytes.insert(bytes.begin() + 4, 2, 0);
  flatbuffers::WriteScalar(bytes.data(), root + 2);
  DeviceMessage message(bytes, 0, 0, 0, 0);
  OrderView view;
  EXPECT_EQ(rk_flat_open(&message.message, &view.flat), 0u);
  EXPECT_EQ(message.message.malformed, 1u);
}

TEST(FlatReader, FindsNoElementBehindTheLast) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(plant::CreateReadingDirect(builder, "name"));
  DeviceMessage message(bytes_of(builder), 0, 0, 0, 0);
  ReadingView view;
  PartView part;
  ASSERT_EQ(rk_flat_open(&message.message, &view.flat), 1u);
  const rk_flat_list parts = Reading_parts(&view);
  const rk_flat_list tags = Reading_tags(&view);
  EXPECT_EQ(Reading_parts_at(&parts, 0, &part), 0u);
  EXPECT_EQ(Part_label(&part).count, 0u);
  EXPECT_EQ(Reading_tags_at(&tags, 0).count, 0u);
  EXPECT_EQ(Reading_tags_at(&tags, 0).at, message.request.data());
  EXPECT_EQ(message.message.malformed, 0u);
}

TEST(FlatReader, MissesARequiredField) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(plant::CreateNothing(builder));
  DeviceMessage message(bytes_of(builder), 0, 0, 0, 0);
  ReadingView view;
  ASSERT_EQ(rk_flat_open(&message.message, &view.flat), 1u);
  EXPECT_EQ(Reading_open(&view), -1);
  EXPECT_EQ(message.message.malformed, 0u);
  EXPECT_EQ(Reading_name(&view).count, 0u);
  EXPECT_EQ(message.message.malformed, 1u);
}

}  // namespace
}  // namespace ringkernel::program::test
