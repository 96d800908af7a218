// What the device reads of a request, intact or not, is what flatc's accessors read of it.
#include <gtest/gtest.h>

#include "sensor.rk.h"
#include "support/stress.hpp"
#include "trading.rk.h"
#include "unit/program/device_message.hpp"
#include "unit/program/samples.hpp"

namespace ringkernel::program::test {
namespace {

const int mutants = static_cast<int>(ringkernel::test::scaled(60'000, 5'000));  // of each schema
constexpr int depth_max = 4;  // tables inside tables that are looked at

/// All values that were read, one behind the other.
class Seen {
 public:
  template <class T>
  void add(T value) {
    const auto* const bytes = reinterpret_cast<const char*>(&value);
    all_.append(bytes, sizeof value);
  }
  void add(const void* bytes, std::size_t count) {
    add(count);
    all_.append(static_cast<const char*>(bytes), count);
  }
  bool operator==(const Seen&) const = default;

 private:
  std::string all_;
};

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

void see(Seen& seen, rk_text text) { seen.add(text.at, text.count); }
void see(Seen& seen, const flatbuffers::String* text) {
  seen.add(text ? text->c_str() : nullptr, text ? text->size() : 0u);
}

void see(Seen& seen, const Frame& frame) {
  seen.add(frame.id);
  for (const Place& corner : frame.corners) {
    seen.add(corner.x);
    seen.add(corner.y);
  }
  for (const rk_f32 gain : frame.gains) seen.add(gain);
  for (const Quality mark : frame.marks) seen.add(mark);
  seen.add(frame.half_ != 0);
}

void see(Seen& seen, const plant::Frame& frame) {
  seen.add(frame.id());
  for (unsigned i = 0; i < 2; ++i) {
    seen.add(frame.corners()->Get(i)->x());
    seen.add(frame.corners()->Get(i)->y());
  }
  for (const float gain : *frame.gains()) seen.add(gain);
  for (const plant::Quality mark : *frame.marks()) seen.add(mark);
  seen.add(frame.half());
}

void see(Seen& seen, const PartView* part) {
  see(seen, Part_label(part));
  seen.add(Part_weight(part));
  const rk_u8_span raw = Part_raw(part);
  seen.add(raw.at, raw.count);
  const units_Money* const price = Part_price(part);
  seen.add(price ? price->cents : 0);
  seen.add(price ? price->unit : units_Unit{0});
}

void see(Seen& seen, const plant::Part* part) {
  see(seen, part->label());
  seen.add(part->weight());
  seen.add(part->raw() ? part->raw()->data() : nullptr, part->raw() ? part->raw()->size() : 0u);
  seen.add(part->price() ? part->price()->cents() : 0);
  seen.add(part->price() ? part->price()->unit() : units::Unit::None);
}

void see_vectors(Seen& seen, const ReadingView* reading) {
  const rk_f64_span samples = Reading_samples(reading);
  for (rk_u32 i = 0; i < samples.count; ++i) seen.add(samples.at[i]);
  const QualitySpan qualities = Reading_qualities(reading);
  seen.add(qualities.at, qualities.count);
  const FrameSpan frames = Reading_frames(reading);
  for (rk_u32 i = 0; i < frames.count; ++i) see(seen, frames.at[i]);
  const rk_flat_list tags = Reading_tags(reading);
  for (rk_u32 i = 0; i < tags.count; ++i) see(seen, Reading_tags_at(&tags, i));
  const rk_flat_list parts = Reading_parts(reading);
  PartView part;
  for (rk_u32 i = 0; i < parts.count; ++i)
    if (Reading_parts_at(&parts, i, &part)) see(seen, &part);
}

void see_vectors(Seen& seen, const plant::Reading* reading) {
  if (reading->samples() != nullptr)
    for (const double sample : *reading->samples()) seen.add(sample);
  const auto* const qualities = reading->qualities();
  seen.add(qualities ? qualities->data() : nullptr, qualities ? qualities->size() : 0u);
  if (reading->frames() != nullptr)
    for (const plant::Frame* frame : *reading->frames()) see(seen, *frame);
  if (reading->tags() != nullptr)
    for (const flatbuffers::String* tag : *reading->tags()) see(seen, tag);
  if (reading->parts() != nullptr)
    for (const plant::Part* part : *reading->parts()) see(seen, part);
}

void see(Seen& seen, const ReadingView* reading, int depth = 0) {
  see(seen, Reading_name(reading));
  seen.add(Reading_value(reading));
  seen.add(Reading_quality(reading));
  const Place* const at = Reading_at(reading);
  seen.add(at ? at->x : 0);
  seen.add(at ? at->y : 0);
  see_vectors(seen, reading);
  const Frame* const frame = Reading_frame(reading);
  if (frame != nullptr) see(seen, *frame);
  seen.add(Reading_checked(reading));
  seen.add(Reading_has_alarm(reading) ? Reading_alarm(reading) + 1 : 0);
  seen.add(Reading_flags(reading));
  seen.add(Reading_open(reading));
  seen.add(Reading_has_shift(reading) != 0);
  seen.add(Reading_shift(reading));
  seen.add(Reading_unit(reading));
  seen.add(Reading_low(reading));
  seen.add(Reading_tiny(reading));
  ReadingView previous;
  if (Reading_previous(reading, &previous) && depth < depth_max) see(seen, &previous, depth + 1);
}

void see(Seen& seen, const plant::Reading* reading, int depth = 0) {
  see(seen, reading->name());
  seen.add(reading->value());
  seen.add(reading->quality());
  seen.add(reading->at() ? reading->at()->x() : 0);
  seen.add(reading->at() ? reading->at()->y() : 0);
  see_vectors(seen, reading);
  if (reading->frame() != nullptr) see(seen, *reading->frame());
  seen.add(reading->checked());
  seen.add(reading->alarm().has_value() ? *reading->alarm() + 1 : 0);
  seen.add(reading->flags());
  seen.add(reading->open());
  seen.add(reading->shift().has_value());
  seen.add(reading->shift().value_or(0));
  seen.add(reading->unit());
  seen.add(reading->low());
  seen.add(reading->tiny());
  if (reading->previous() != nullptr && depth < depth_max)
    see(seen, reading->previous(), depth + 1);
}

/// What the device refuses, and the verifier of FlatBuffers lets pass: vectors of 8-byte elements
/// that are not aligned, and elements whose offset is zero, which would lie in their vector.
bool is_odd(const trading::Order*) { return false; }
bool is_odd(const plant::Reading* reading) {
  const auto off = [](const auto* vector) {
    return vector != nullptr && vector->size() != 0 &&
           reinterpret_cast<std::uintptr_t>(vector->Data()) % 8 != 0;
  };
  const auto has_zero = [](const auto* vector) {
    for (std::uint32_t i = 0; vector != nullptr && i < vector->size(); ++i)
      if (flatbuffers::ReadScalar<std::uint32_t>(vector->Data() + 4 * i) == 0) return true;
    return false;
  };
  for (; reading != nullptr; reading = reading->previous()) {
    if (off(reading->samples()) || off(reading->frames())) return true;
    if (has_zero(reading->parts()) || has_zero(reading->tags())) return true;
  }
  return false;
}

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
